// SPDX-License-Identifier: Apache-2.0
// From queries and what answers them to what an encoder is given.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "model/sequence_batch.hpp"
#include "models/text/pairs.hpp"
#include "models/training/settings.hpp"

namespace plumbline::training {

/// Texts as rows of tokens: cls, the text's, sep, padding.
struct TextRows {
  int length = 0;                         ///< of a row
  std::vector<std::int32_t> tokens = {};  ///< [rows, length]
  std::vector<std::int32_t> used = {};    ///< [rows]: tokens before the padding

  int rows() const { return static_cast<int>(used.size()); }
  /// Rows first, ..., first + count - 1, no longer than the longest of them.
  TextRows part(int first, int count) const;
  /// It points into this. @param draw of dropout.
  gpu::SequenceBatch view(std::uint64_t draw = 0) const;
};

/// @throws BadInput as text::frame.
TextRows framed(const text::Tokenizer& tokenizer, std::span<const std::string> texts, int length);

/// The texts of an update: the queries, their positives in the same order, their hard negatives.
struct PairTexts {
  int queries = 0;
  TextRows texts;  ///< 2 queries + hard negatives
};

/// Which pairs an update has: those of an epoch in an order that is drawn for it; what is left at
/// its end, fewer than `batch`, is left out. The last floor(validation x pairs), at least one, are
/// kept for validation.
class PairBatches {
 public:
  /// Reads every line once. @throws BadInput as text::Pairs and its `at`, and for fewer pairs than
  /// a batch and one for validation.
  PairBatches(const Settings& settings, const text::Tokenizer& tokenizer);

  /// Of update `n`.
  PairTexts batch(std::int64_t n) const;
  /// At most `count` pairs that are kept for validation.
  PairTexts validation(int count) const;

 private:
  PairTexts texts_of(const std::vector<std::int64_t>& numbers) const;

  const Settings settings_;
  const text::Tokenizer& tokenizer_;
  const text::Pairs pairs_;
  std::int64_t training_, validation_;  ///< pairs of each
};

}  // namespace plumbline::training
