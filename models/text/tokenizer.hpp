// SPDX-License-Identifier: Apache-2.0
// Text to tokens and back.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace plumbline::text {

/// A token's id, as a shard stores it (models/text/shard.hpp). No vocabulary here is larger than
/// 65536.
using Token = std::uint16_t;
inline constexpr int largest_vocabulary = 1 << 16;

/// Tokens that stand for no text.
struct SpecialTokens {
  Token end_of_text = 0;                     ///< stands before every document
  std::optional<Token> pad, mask, cls, sep;  ///< BERT's
};

/// Text to tokens and back; does not change once made, so that threads may share it.
class Tokenizer {
 public:
  virtual ~Tokenizer() = default;

  virtual int vocabulary() const = 0;  ///< tokens are in [0, vocabulary)
  virtual SpecialTokens specials() const = 0;
  /// All tokens that stand for no text, rising: the special ones and those that are of no use.
  virtual std::vector<Token> without_text() const = 0;

  /// The tokens of a text; none of them is special, whatever the text says.
  /// @throws BadInput for a text that is too long for the tokenizer.
  virtual std::vector<Token> encode(std::string_view text) const = 0;
  /// The text of tokens; special ones give none. @throws BadInput for a token out of [0,
  /// vocabulary).
  virtual std::string decode(std::span<const Token> tokens) const = 0;
  /// The token that stands for exactly this text inside a word, if there is one.
  virtual std::optional<Token> token_of(std::string_view text) const = 0;

 protected:
  /// @throws BadInput naming the place of a token out of [0, vocabulary).
  void check(std::span<const Token> tokens) const;
};

/// "byte" for bytes (models/text/byte_tokenizer.hpp), "gpt2" for shards of GPT-2's tokens
/// (models/text/gpt2_tokens.hpp), anything else is the path of a SentencePiece model.
/// @throws BadInput naming the file and the reason if it is no usable model.
std::unique_ptr<Tokenizer> open_tokenizer(const std::string& name);

}  // namespace plumbline::text
