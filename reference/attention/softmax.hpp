// SPDX-License-Identifier: Apache-2.0
// Softmax and its logarithmic normaliser.
#pragma once

#include <algorithm>

#include "reference/core/linear_algebra.hpp"
#include "reference/core/primitives.hpp"
#include "reference/core/sum.hpp"

namespace plumbline::reference {

template <Real R>
struct Softmax {
  Vector<R> probability;  ///< like the logits
  R lse;                  ///< natural logarithm
};

/// max_j representative(x_j), for at least one x.
template <Real R>
double largest_representative(const Vector<R>& x) {
  double largest = representative(x[0]);
  for (const R& element : x) largest = std::max(largest, representative(element));
  return largest;
}

/// p_j = e^(s_j) / sum_k e^(s_k), lse = ln sum_k e^(s_k).
/// Source: BAM, definition 1. Computed as e^(s_j - c) and c + ln sum_k e^(s_k - c), where c is near
/// the largest logit: any constant gives the same function, so a derivative or an enclosure stays
/// right, and none of the exponentials overflows. c is the sum of two doubles: one alone misses a
/// logit near 10^31, known to 50 digits, by 10^15.
/// Shapes: [n] -> [n], n >= 1. @throws std::invalid_argument if there are no logits.
template <Real R>
Softmax<R> softmax(const Vector<R>& logits) {
  require(logits.size() >= 1, "logits.size()", logits.size(), "at least 1");
  const R coarse(largest_representative(logits));
  Vector<R> centred(logits.size());
  for (Eigen::Index j = 0; j < logits.size(); ++j) centred[j] = logits[j] - coarse;
  const R fine(largest_representative(centred));

  Vector<R> weight(logits.size());
  for (Eigen::Index j = 0; j < logits.size(); ++j) weight[j] = exp(centred[j] - fine);
  const R total = sum(weight);
  Softmax<R> result{weight, coarse + (fine + log(total))};
  for (R& p : result.probability) p = p / total;
  return result;
}

}  // namespace plumbline::reference
