// SPDX-License-Identifier: Apache-2.0
// SentencePiece models (Kudo, Richardson, arXiv:1808.06226), by their own library.
#pragma once

#include <filesystem>

#include "models/text/tokenizer.hpp"

namespace sentencepiece {
class SentencePieceProcessor;
}

namespace plumbline::text {

/// The tokens of a model file, as the library gives them: the model says how text is normalised, so
/// that decode(encode(text)) need not be the text; bytes that are no UTF-8 become U+FFFD.
///
/// End-of-text is the model's </s>, or its <s> where it has no </s>; pad its <pad>; mask, cls and
/// sep its pieces [MASK] or <mask>, [CLS] or <cls>, [SEP] or <sep>, where it has them.
class SentencePieceTokenizer final : public Tokenizer {
 public:
  /// @throws BadInput naming the file and the reason: it cannot be read, is no SentencePiece model,
  /// has more than 65536 pieces, or neither <s> nor </s>.
  explicit SentencePieceTokenizer(const std::filesystem::path& path);
  ~SentencePieceTokenizer() override;

  int vocabulary() const override { return vocabulary_; }
  SpecialTokens specials() const override { return specials_; }
  std::vector<Token> without_text() const override { return without_text_; }
  /// @throws BadInput for a text of more than 1 GiB, since the library counts in int.
  std::vector<Token> encode(std::string_view text) const override;
  std::string decode(std::span<const Token> tokens) const override;
  std::optional<Token> token_of(std::string_view text) const override;

 private:
  std::unique_ptr<sentencepiece::SentencePieceProcessor> model_;
  int vocabulary_ = 0;
  SpecialTokens specials_;
  std::vector<Token> without_text_;
};

}  // namespace plumbline::text
