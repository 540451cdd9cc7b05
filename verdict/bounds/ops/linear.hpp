// SPDX-License-Identifier: Apache-2.0
// Matrix products and what a linear layer makes of them. Derived in docs/bounds-ops.md, section
// "Linear layers".
#pragma once

#include <span>

#include "verdict/bounds/ops/computed.hpp"

namespace plumbline::op_bounds {

/// How a product is taken.
struct ProductNumerics {
  double operand;       ///< relative error of rounding an operand: 0; tf32 2^-11, truncated 2^-10
  double accumulation;  ///< of an addition: 2^-24, or 2^-23 where tensor cores truncate
};
inline constexpr ProductNumerics fp32_products{0.0, unit_roundoff};
inline constexpr ProductNumerics tf32_products{0x1p-11, unit_roundoff};

/// sum_n a_n b_n of stored numbers, in any order: `stride` apart in memory.
inline Computed dot(const double* a, int a_stride, const double* b, int b_stride, int n,
                    const ProductNumerics& numerics) {
  double value = 0, magnitude = 0;
  for (int k = 0; k < n; ++k) {
    const double product = a[static_cast<long>(k) * a_stride] * b[static_cast<long>(k) * b_stride];
    value += product;
    magnitude += std::fabs(product);
  }
  const double nu = n * numerics.accumulation, sum = nu < 1 ? nu / (1 - nu) : HUGE_VAL;
  const double operands = (1 + numerics.operand) * (1 + numerics.operand);
  const double error = (operands * (1 + sum) - 1) * magnitude + n * underflow;
  const bool held = magnitude + error < overflow;
  return {value, held ? error : HUGE_VAL};
}

/// gelu(x) where x is off by x.error: a function of slope at most 1.13 in absolute value.
inline Computed through_gelu(const Computed& at_value, double x_error) {
  return {at_value.value, at_value.error + 1.13 * x_error};
}

}  // namespace plumbline::op_bounds
