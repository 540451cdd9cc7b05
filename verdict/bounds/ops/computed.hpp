// SPDX-License-Identifier: Apache-2.0
// A number that a kernel computes in fp32: its exact value, and how far the computed one may be
// off. docs/bounds-ops.md tells the rules.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

namespace plumbline::op_bounds {

inline constexpr double unit_roundoff = 0x1p-24;  ///< u: one operation in fp32, to nearest
inline constexpr double underflow = 0x1p-150;     ///< half of fp32's smallest subnormal number
inline constexpr double overflow = 0x1p127;       ///< beyond it fp32 may overflow

/// gamma_n = n u / (1 - n u): a sum in which no term goes through more than n additions.
inline double gamma(double n) {
  const double nu = n * unit_roundoff;
  return nu < 1.0 ? nu / (1.0 - nu) : std::numeric_limits<double>::infinity();
}

/// |computed - value| <= error. `value` is kept in double, whose roundings are 2^-29 of fp32's.
struct Computed {
  double value = 0.0;
  double error = 0.0;

  /// The largest that the computed number can be.
  double magnitude() const { return std::fabs(value) + error; }
};

/// `value` with `carried` from its operands and the rounding of one fp32 operation. 0 from exact
/// operands is exact.
inline Computed rounded(double value, double carried) {
  if (carried == 0.0 && value == 0.0) return {};
  const double error = carried + unit_roundoff * (std::fabs(value) + carried);
  if (!(std::fabs(value) + error < overflow))
    return {value, std::numeric_limits<double>::infinity()};
  return {value, error};
}

inline Computed operator+(const Computed& a, const Computed& b) {
  return rounded(a.value + b.value, a.error + b.error);
}
inline Computed operator-(const Computed& a, const Computed& b) {
  return rounded(a.value - b.value, a.error + b.error);
}
inline Computed operator-(const Computed& a) { return {-a.value, a.error}; }

/// Also where the product goes into a fused multiply-add: that rounds less.
inline Computed operator*(const Computed& a, const Computed& b) {
  const double carried = std::fabs(a.value) * b.error + a.error * b.magnitude();
  Computed product = rounded(a.value * b.value, carried);
  if (a.magnitude() * b.magnitude() > 0.0) product.error += underflow;
  return product;
}

inline Computed operator/(const Computed& a, const Computed& b) {
  const double value = a.value / b.value, least = std::fabs(b.value) - b.error;
  if (!(least > 0.0)) return {value, std::numeric_limits<double>::infinity()};
  Computed quotient = rounded(value, (a.error + std::fabs(value) * b.error) / least);
  if (a.magnitude() > 0.0) quotient.error += underflow;
  return quotient;
}

/// Correctly rounded, as CUDA's default is.
inline Computed square_root(const Computed& a) {
  const double value = std::sqrt(a.value), least = std::sqrt(std::max(a.value - a.error, 0.0));
  // |sqrt(a) - sqrt(b)| <= |a - b| / (sqrt(a) + sqrt(b)), and at most sqrt(|a - b|).
  const double carried =
      a.error > 0.0 ? std::min(a.error / (value + least), std::sqrt(a.error)) : 0.0;
  return rounded(value, carried);
}

/// A sum in which no term goes through more than `chain` additions, in any order:
/// |computed - sum| <= gamma_chain sum (|t| + e) + sum e (Higham, "Accuracy and Stability of
/// Numerical Algorithms", 2nd edition, section 4.2).
inline Computed sum(std::span<const Computed> terms, int chain) {
  double value = 0.0, error = 0.0, magnitude = 0.0;
  for (const Computed& term : terms) {
    value += term.value;
    error += term.error;
    magnitude += term.magnitude();
  }
  error += gamma(chain) * magnitude;
  if (!(magnitude + error < overflow)) error = std::numeric_limits<double>::infinity();
  return {value, error};
}

/// The format that a result is rounded to when it is stored.
struct Storage {
  double unit_roundoff;  ///< 0 for fp32: the last operation has rounded already
  double half_smallest_subnormal;
  double largest;
};
inline constexpr Storage stored_fp32{0.0, 0.0, 0x1.fffffep127};
inline constexpr Storage stored_bf16{0x1p-8, 0x1p-134, 0x1.fep127};
inline constexpr Storage stored_fp16{0x1p-11, 0x1p-25, 65504.0};

/// How far the stored result may be from the exact value: the limit of a comparison. Infinite where
/// the format may overflow. 1 + 2^-20 covers the roundings of this computation.
inline double stored_error(const Computed& x, const Storage& storage) {
  if (!(x.magnitude() <= storage.largest)) return std::numeric_limits<double>::infinity();
  return (1.0 + 0x1p-20) *
         (x.error + storage.unit_roundoff * x.magnitude() + storage.half_smallest_subnormal);
}

}  // namespace plumbline::op_bounds
