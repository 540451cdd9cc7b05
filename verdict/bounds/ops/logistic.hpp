// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>

#include "verdict/bounds/ops/computed.hpp"

namespace plumbline::op_bounds {

/// Relative error of expf: 2 ulp, as CUDA documents it; glibc's is smaller.
inline constexpr double exp_error = 4 * unit_roundoff;

/// 1/(1 + e^-z) and 1/(1 + e^z) as fp32 computes them from e^-|z|, without cancellation. Derived in
/// docs/bounds-ops.md, section "The logistic function".
struct LogisticGate {
  Computed open, closed;

  explicit LogisticGate(const Computed& z) {
    const double e = std::exp(-std::abs(z.value));
    const double near = 1 / (1 + e), far = e / (1 + e);
    open.value = z.value >= 0 ? near : far;
    closed.value = z.value >= 0 ? far : near;
    open.error = open.value * relative_error(closed.value, z.error) + subnormal_error;
    closed.error = closed.value * relative_error(open.value, z.error) + subnormal_error;
  }

  /// Of the gate whose opposite has the value `other`: d ln open / dz = closed.
  static double relative_error(double other, double z_error) {
    return std::expm1(z_error * std::min(1.0, other * std::exp(z_error))) + exp_error * other +
           2 * unit_roundoff;
  }

  /// 2 ulp of an exponential too small for u to hold, and the rounding of such a quotient.
  static constexpr double subnormal_error = 0x1p-147;
};

}  // namespace plumbline::op_bounds
