// SPDX-License-Identifier: Apache-2.0
// Every byte is a token: needs no model, and any bytes survive, valid UTF-8 or not.
#pragma once

#include "models/text/tokenizer.hpp"

namespace plumbline::text {

/// Tokens 0 to 255 are the bytes; 256 is end-of-text, and 257 to 260 are BERT's pad, mask, cls and
/// sep. decode(encode(text)) == text for every text.
class ByteTokenizer final : public Tokenizer {
 public:
  int vocabulary() const override { return 261; }
  SpecialTokens specials() const override { return {256, 257, 258, 259, 260}; }
  std::vector<Token> without_text() const override { return {256, 257, 258, 259, 260}; }
  std::vector<Token> encode(std::string_view text) const override;
  std::string decode(std::span<const Token> tokens) const override;
  std::optional<Token> token_of(std::string_view text) const override;
};

}  // namespace plumbline::text
