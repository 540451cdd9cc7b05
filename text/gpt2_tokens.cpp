// SPDX-License-Identifier: Apache-2.0
#include "text/gpt2_tokens.hpp"

#include "support/error.hpp"

namespace plumbline::text {

std::vector<Token> Gpt2Tokens::encode(std::string_view) const {
  throw BadInput("a text, for the tokenizer gpt2", "there",
                 "token shards alone: GPT-2's byte-pair encoding is not built in");
}

std::string Gpt2Tokens::decode(std::span<const Token>) const {
  throw BadInput("tokens' text, of the tokenizer gpt2", "asked for",
                 "nothing that needs it: GPT-2's byte-pair encoding is not built in");
}

}  // namespace plumbline::text
