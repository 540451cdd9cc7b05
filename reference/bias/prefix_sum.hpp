// SPDX-License-Identifier: Apache-2.0
// CABLE's cumulative sum over tokens. Source: CABLE, equations 3 and 4.
#pragma once

#include "reference/core/linear_algebra.hpp"
#include "reference/core/real.hpp"

namespace plumbline::reference {

/// S_i = sum_{k <= i} increments_k, inclusive, left to right: S = L f with L_ij = 1 for j <= i.
/// Source: CABLE, equations 3 and 4. Shapes: [T] -> [T]. Error: at most T-1 roundings per sum.
template <Real R>
Vector<R> prefix_sum(const Vector<R>& increments) {
  Vector<R> sums = increments;
  for (Eigen::Index i = 1; i < sums.size(); ++i) sums[i] = sums[i - 1] + increments[i];
  return sums;
}

/// The adjoint: d increments_k = sum_{i >= k} d S_i, right to left (the transpose of L).
template <Real R>
Vector<R> prefix_sum_grad(const Vector<R>& grad_sums) {
  Vector<R> grad = grad_sums;
  for (Eigen::Index k = grad.size() - 2; k >= 0; --k) grad[k] = grad[k + 1] + grad_sums[k];
  return grad;
}

/// @throws std::invalid_argument if i or j is not in [0, T).
template <Real R>
void check_positions(const Vector<R>& sums, int i, int j) {
  require(0 <= i && i < sums.size(), "i", i, "a position of the prefix sum");
  require(0 <= j && j < sums.size(), "j", j, "a position of the prefix sum");
}

/// S_i - S_j, formed before anything multiplies it: S grows with the length, the difference need
/// not. Exactly 0 for i = j, whatever the scalar knows of S_i.
/// @throws std::invalid_argument if i or j is not in [0, T).
template <Real R>
R prefix_difference(const Vector<R>& sums, int i, int j) {
  check_positions(sums, i, j);
  return i == j ? R(0.0) : sums[i] - sums[j];
}

}  // namespace plumbline::reference
