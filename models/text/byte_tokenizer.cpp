// SPDX-License-Identifier: Apache-2.0
#include "models/text/byte_tokenizer.hpp"

namespace plumbline::text {

std::vector<Token> ByteTokenizer::encode(std::string_view text) const {
  std::vector<Token> tokens;
  tokens.reserve(text.size());
  for (const char byte : text) tokens.push_back(static_cast<unsigned char>(byte));
  return tokens;
}

std::string ByteTokenizer::decode(std::span<const Token> tokens) const {
  check(tokens);
  std::string text;
  for (const Token token : tokens) {
    if (token < 256) text += static_cast<char>(token);
  }
  return text;
}

std::optional<Token> ByteTokenizer::token_of(std::string_view text) const {
  if (text.size() != 1) return std::nullopt;
  return static_cast<unsigned char>(text.front());
}

}  // namespace plumbline::text
