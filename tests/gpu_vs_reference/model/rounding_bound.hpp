// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>

#include "tests/gpu_vs_reference/model/traced.hpp"

namespace plumbline::gpu_tests {

/// The kernels evaluate the oracle's formulas in fp32, with sums in another order, which the bound
/// of a sum covers, and by other means: LayerNorm from x - x_0, P from a rounded LSE, D from a
/// rounded o, gates' derivatives from their values. Each adds roundings of the size of those that
/// the formula has, fewer than three for each of them.
constexpr double kRoundings = 4;
/// If the roundings are independent with mean 0, their sum exceeds 7 times the root of the sum of
/// the squares of their bounds with a probability below 2 e^(-49/2) = 5e-11 (Hoeffding).
constexpr double kDeviations = 7;

/// What all roundings together may do to a result: docs/bounds-model.md.
inline double bound_of(const reference::Tape::Reach& reach) {
  return std::min(kRoundings * reach.all, kDeviations * std::sqrt(kRoundings) * reach.independent);
}

/// The same for every element of every gradient at once, from `square`, what sampled_squares says:
/// 64 draws, with which the root is below 1/sqrt(8) of the true one with a probability of (x e^(1 -
/// x))^32 = 2e-17, x = 1/8 (Chernoff, chi squared). As there are so many elements, 8 deviations:
/// 3e-14.
inline double bound_from_samples(double square) {
  return 8 * std::sqrt(kRoundings) * std::sqrt(8 * square);
}

}  // namespace plumbline::gpu_tests
