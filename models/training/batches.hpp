// SPDX-License-Identifier: Apache-2.0
// From a stream of tokens to what the model is given.
#pragma once

#include <cstdint>
#include <optional>

#include "model/sequence_batch.hpp"
#include "models/text/masking.hpp"
#include "models/text/sampler.hpp"
#include "models/training/settings.hpp"

namespace plumbline::training {

/// Tokens with a target.
std::int64_t target_count(const text::Batch&);

/// The batch as the model reads it; it points into `batch`. @param draw of dropout.
gpu::SequenceBatch sequences(const text::Batch& batch, bool document_mask, std::uint64_t draw);

/// The rows of every update: windows of the stream and, for BERT, hidden tokens.
class Batches {
 public:
  /// @throws BadInput as text::Sampler and text::Masking.
  Batches(text::TokenStream stream, const text::Tokenizer& tokenizer, const Settings& settings,
          int batch, text::Order order);

  text::Batch batch(std::int64_t update) const;
  std::int64_t windows() const { return sampler_.windows(); }

 private:
  text::Sampler sampler_;
  std::optional<text::Masking> masking_;
};

/// Rows first, ..., first + count - 1.
text::Batch rows_of(const text::Batch& batch, int first, int count);

}  // namespace plumbline::training
