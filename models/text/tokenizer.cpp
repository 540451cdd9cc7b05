// SPDX-License-Identifier: Apache-2.0
#include "models/text/tokenizer.hpp"

#include <fmt/format.h>

#include "models/text/byte_tokenizer.hpp"
#include "models/text/gpt2_tokens.hpp"
#include "models/text/sentencepiece_tokenizer.hpp"
#include "support/error.hpp"

namespace plumbline::text {

void Tokenizer::check(std::span<const Token> tokens) const {
  for (std::size_t n = 0; n < tokens.size(); ++n) {
    if (tokens[n] >= vocabulary()) {
      throw BadInput(fmt::format("token {}", n), std::to_string(tokens[n]),
                     fmt::format("less than the vocabulary's size {}", vocabulary()));
    }
  }
}

std::unique_ptr<Tokenizer> open_tokenizer(const std::string& name) {
  if (name == "byte") return std::make_unique<ByteTokenizer>();
  if (name == "gpt2") return std::make_unique<Gpt2Tokens>();
  return std::make_unique<SentencePieceTokenizer>(name);
}

}  // namespace plumbline::text
