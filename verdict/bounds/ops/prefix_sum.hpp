// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>

#include "verdict/bounds/ops/computed.hpp"

namespace plumbline::op_bounds {

/// Limit of a sum of `terms` numbers in double, in any order; `magnitude` is the sum of their
/// absolute values. Derived in docs/bounds-ops.md, section "Prefix sums".
inline double double_sum_limit(int terms, double magnitude) {
  const double nu = (terms - 1) * 0x1p-53;
  return (1.0 + 0x1p-20) * nu / (1.0 - nu) * magnitude;
}

/// The same, rounded once to fp32. `value` is the exact sum.
inline double rounded_sum_limit(int terms, double magnitude, double value) {
  const double in_double = double_sum_limit(terms, magnitude);
  return in_double + (1.0 + 0x1p-20) * (unit_roundoff * (std::fabs(value) + in_double) + underflow);
}

}  // namespace plumbline::op_bounds
