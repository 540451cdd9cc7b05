// SPDX-License-Identifier: Apache-2.0
// GPT-2's vocabulary, for token shards that were made elsewhere, as llm.c's are.
#pragma once

#include "models/text/tokenizer.hpp"

namespace plumbline::text {

/// 50,257 tokens of which nothing is known but their number and that the last one, 50256, is
/// end-of-text (Radford et al., 2019, section 2.2). Texts go in and out elsewhere.
class Gpt2Tokens final : public Tokenizer {
 public:
  int vocabulary() const override { return 50257; }
  SpecialTokens specials() const override { return {50256, {}, {}, {}, {}}; }
  std::vector<Token> without_text() const override { return {50256}; }
  /// @throws BadInput always, as decode.
  std::vector<Token> encode(std::string_view text) const override;
  std::string decode(std::span<const Token> tokens) const override;
  std::optional<Token> token_of(std::string_view) const override { return std::nullopt; }
};

}  // namespace plumbline::text
