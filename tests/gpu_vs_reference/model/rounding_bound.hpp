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

}  // namespace plumbline::gpu_tests
