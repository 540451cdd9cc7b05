// SPDX-License-Identifier: Apache-2.0
#include "models/text/gpt2_tokens.hpp"

#include "support/error.hpp"

namespace plumbline::text {

std::vector<Token> Gpt2Tokens::encode(std::string_view) const {
  throw BadInput("tokenizer", "gpt2, whose byte-pair encoding is not built in",
                 "another one for texts; for gpt2, token shards (*.bin) that were made elsewhere");
}

std::string Gpt2Tokens::decode(std::span<const Token>) const {
  throw BadInput("tokenizer", "gpt2, whose byte-pair encoding is not built in",
                 "another one, as the text of tokens is asked for");
}

}  // namespace plumbline::text
