// SPDX-License-Identifier: Apache-2.0
// Softmax and its logarithmic normaliser.
#pragma once

#include "reference/core/exponentials.hpp"
#include "reference/core/linear_algebra.hpp"
#include "reference/core/primitives.hpp"
#include "reference/core/sum.hpp"

namespace plumbline::reference {

template <Real R>
struct Softmax {
  Vector<R> probability;  ///< like the logits
  R lse;                  ///< natural logarithm
};

/// p_j = e^(s_j) / sum_k e^(s_k), lse = ln sum_k e^(s_k).
/// Source: BAM, definition 1. Computed as e^(s_j - c) and c + ln sum_k e^(s_k - c), where c is near
/// the largest logit: any constant gives the same function, so a derivative or an enclosure stays
/// right, and none of the exponentials overflows.
/// Shapes: [n] -> [n], n >= 1. @throws std::invalid_argument if there are no logits.
template <Real R>
Softmax<R> softmax(const Vector<R>& logits) {
  require(logits.size() >= 1, "logits.size()", logits.size(), "at least 1");
  const ShiftedExponentials<R> weight = Exponentials<R>::shifted(logits);
  const R total = sum(weight.value);
  Softmax<R> result{weight.value, weight.coarse + (weight.fine + log(total))};
  for (R& p : result.probability) p = p / total;
  return result;
}

}  // namespace plumbline::reference
