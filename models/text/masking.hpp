// SPDX-License-Identifier: Apache-2.0
// BERT's masked language model: which tokens are hidden, and behind what. Source: Devlin et al.,
// arXiv:1810.04805, section 3.1, task 1; drawn anew for every step as in Liu et al.,
// arXiv:1907.11692, section 4.1.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "models/text/sampler.hpp"

namespace plumbline::text {

struct MaskingOptions {
  double rate = 0.15;     ///< share of the tokens that the model is to predict
  double masked = 0.8;    ///< share of those that mask stands in for
  double replaced = 0.1;  ///< share of those that a random token stands in for; the rest stay
  std::uint64_t seed = 1;
};

/// Hides tokens of a row, as a function of (seed, step, row) and the row's tokens: the same for any
/// number of ranks and after a resumed run.
class Masking {
 public:
  /// @throws BadInput if the tokenizer has no mask, a share is outside [0, 1], or masked + replaced
  /// exceeds 1.
  Masking(const Tokenizer& tokenizer, const MaskingOptions& options);

  /// Each token that stands for text is chosen with probability `rate`, independently. A chosen one
  /// becomes its own label and mask, a random token that stands for text, or itself; all others get
  /// no_label. `row` counts in the whole batch.
  void apply(std::int64_t step, int row, std::span<std::int32_t> inputs,
             std::span<std::int32_t> labels) const;
  /// The same for rows of a batch, the first of which is row `first_row` of the whole batch.
  void apply(std::int64_t step, int first_row, Batch& batch) const;

 private:
  MaskingOptions options_;
  std::int32_t mask_;
  std::vector<std::int32_t> with_text_;         ///< tokens that stand for text, rising
  std::vector<unsigned char> stands_for_text_;  ///< [vocabulary]
};

}  // namespace plumbline::text
