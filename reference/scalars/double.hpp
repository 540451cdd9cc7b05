// SPDX-License-Identifier: Apache-2.0
// double: the value. Its rounding error is what scalars/running_error.hpp bounds, operation for
// operation.
#pragma once

#include <algorithm>
#include <cmath>
#include <numbers>

#include "reference/core/primitives.hpp"

namespace plumbline::reference {

/// + - * / sqrt are rounded to nearest, and so is pi. exp, log, log1p, pow, sin and cos come from
/// the C library and are within 1 ulp, erf within 2, tanh 3 (see scalars/running_error.hpp).
/// softplus and logistic: relative error below 6u, u = 2^-53, derived there.
template <>
struct Primitives<double> {
  static double exp(double x) { return std::exp(x); }
  static double log(double x) { return std::log(x); }
  static double log1p(double x) { return std::log1p(x); }
  static double sqrt(double x) { return std::sqrt(x); }
  static double power(double base, double exponent) { return std::pow(base, exponent); }
  static double absolute(double x) { return std::fabs(x); }
  static double sign(double x) { return x > 0 ? 1.0 : x < 0 ? -1.0 : x; }
  static double relu(double x) { return x < 0 ? 0.0 : x; }
  static double step(double x) { return x > 0 ? 1.0 : x <= 0 ? 0.0 : x; }
  /// max(x, 0) + ln(1 + e^-|x|): the exponential never overflows and nothing cancels.
  static double softplus(double x) { return relu(x) + std::log1p(std::exp(-std::fabs(x))); }
  static double logistic(double x) {
    const double e = std::exp(-std::fabs(x));
    return x >= 0 ? 1.0 / (1.0 + e) : e / (1.0 + e);
  }
  static double maximum(double x, double y) { return x > y ? x : y; }
  static double sin(double x) { return std::sin(x); }
  static double cos(double x) { return std::cos(x); }
  static double erf(double x) { return std::erf(x); }
  static double tanh(double x) { return std::tanh(x); }
  static double pi() { return std::numbers::pi; }
  static double representative(double x) { return x; }
};

static_assert(Real<double>);

}  // namespace plumbline::reference
