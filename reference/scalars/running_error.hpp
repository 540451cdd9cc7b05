// SPDX-License-Identifier: Apache-2.0
// A double with a bound on its own rounding error.
//
// The value is, bit for bit, what scalars/double.hpp computes. Each operation adds to the error
// what the errors of its operands can do (the mean value theorem, without first-order shortcuts)
// and its own rounding. Notation: u = 2^-53; a' = a + d, |d| <= e_a, the exact operand.
//
// The bounds are themselves computed in double. Three devices keep them rigorous:
// - `rounded_up` multiplies by 1 + 2^-50 = 1 + 8u. It makes up for at most six roundings, each of
//   which loses a factor of at most 1 - u: (1 - u)^6 (1 + 8u) (1 - u) > 1.
// - `tiny` = 2^-1022 is added wherever a product may underflow: each such product loses at most
//   2^-1075, and there are fewer than 2^50 of them in a term. Sums never underflow: a sum that is
//   subnormal is exact.
// - A bound that does not exist (division by a number that may be 0) is infinity, and a value that
//   is not a number has the error NaN; both fail `error <= bound`.
//
// The C library: exp, log, pow (0.52 ulp), sin and cos (0.55 ulp), expm1 and log1p (0.92 ulp) and
// erf (1.43 ulp) and tanh (2.22 ulp) of glibc, as the largest errors known; B. Gladman, V.
// Innocente, J. Mather, P. Zimmermann, "Accuracy of Mathematical Functions in Single, Double,
// Double Extended, and Quadruple Precision", and glibc's manual, "Known Maximum Errors in Math
// Functions". Used here: 1 ulp <= 2u |v|, or 2^-1074 in the subnormal range.
// tests/reference/core/primitives_test.cpp samples them against MPFR.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "reference/core/linear_algebra.hpp"
#include "reference/core/primitives.hpp"
#include "reference/scalars/double.hpp"

namespace plumbline::reference {

/// Invariant: |value() - exact| <= error(), where exact is the result of the same expression in
/// real arithmetic on the numbers that the expression started from.
class RunningError {
 public:
  RunningError() = default;
  /// An exact number.
  explicit RunningError(double value) : value_(value) {}
  /// A number known within an error >= 0.
  RunningError(double value, double error) : value_(value), error_(error) {}

  double value() const { return value_; }
  double error() const { return error_; }

  static constexpr double unit_roundoff = 0x1p-53;
  static constexpr double tiny = 0x1p-1022;
  static double rounded_up(double bound) { return bound * (1.0 + 0x1p-50); }

  // |fl(a + b) - (a' + b')| <= e_a + e_b + u |fl(a + b)|.
  friend RunningError operator+(const RunningError& a, const RunningError& b) {
    const double v = a.value_ + b.value_;
    return {v, rounded_up(a.error_ + b.error_ + unit_roundoff * std::fabs(v))};
  }
  friend RunningError operator-(const RunningError& a, const RunningError& b) { return a + -b; }
  friend RunningError operator-(const RunningError& a) { return {-a.value_, a.error_}; }

  // |fl(a b) - a' b'| <= |a| e_b + |b| e_a + e_a e_b + u |fl(a b)|, underflow aside.
  friend RunningError operator*(const RunningError& a, const RunningError& b) {
    const double v = a.value_ * b.value_;
    return {
        v, rounded_up(std::fabs(a.value_) * b.error_ + a.error_ * (std::fabs(b.value_) + b.error_) +
                      unit_roundoff * std::fabs(v) + tiny)};
  }

  // |a/b - a'/b'| <= (|a/b| e_b + e_a) / (|b| - e_b), and the rounding u |fl(a/b)|. With
  // |a/b| <= |fl(a/b)| (1 + 2u) + 2^-1074, which the second rounded_up and `tiny` cover.
  friend RunningError operator/(const RunningError& a, const RunningError& b) {
    const double v = a.value_ / b.value_;
    const double least = std::fabs(b.value_) - b.error_;
    if (std::isnan(v)) return {v, v};
    if (!(least > 0)) return {v, std::numeric_limits<double>::infinity()};
    const double carried = rounded_up((std::fabs(v) + tiny) * b.error_ + a.error_ + tiny) / least;
    return {v, rounded_up(rounded_up(carried) + unit_roundoff * std::fabs(v) + tiny)};
  }

  RunningError& operator+=(const RunningError& b) { return *this = *this + b; }
  RunningError& operator-=(const RunningError& b) { return *this = *this - b; }

 private:
  double value_ = 0.0;
  double error_ = 0.0;
};

template <>
struct Primitives<RunningError> {
  using E = RunningError;
  static constexpr double u = E::unit_roundoff;

  /// An upper bound of e^t - 1, t >= 0: t + t^2 >= e^t - 1 up to t = 1, as e - 2 < 1.
  static double exp_minus_1(double t) { return E::rounded_up(t <= 1 ? t + t * t : std::expm1(t)); }
  /// A value with relative error (e^t - 1) carried over from its operands, and 1 ulp of its own.
  /// The exact function of the stored operand is at most |v| (1 + 4u) + 2^-1073.
  static E with_relative_error(double v, double t) {
    const double magnitude = E::rounded_up(std::fabs(v)) + E::tiny;
    return {v, E::rounded_up(magnitude * exp_minus_1(t) + 2 * u * std::fabs(v) + E::tiny)};
  }

  /// |e^a' - e^a| <= e^a (e^(e_a) - 1) and, as both are between 0 and it, <= e^(a + e_a), which is
  /// the better one where e^(e_a) overflows. exp(0) = 1 is exact (C standard, F.10.3.1).
  static E exp(const E& a) {
    if (a.value() == 0 && a.error() == 0) return E(1.0);
    const double v = std::exp(a.value());
    if (!(a.error() > 1)) return with_relative_error(v, a.error());
    const double most = a.value() + a.error();
    const double either = E::rounded_up(std::exp(most + 2 * u * std::fabs(most))) + E::tiny;
    const E by_ratio = with_relative_error(v, a.error());
    return {v, std::min(by_ratio.error(), E::rounded_up(either + 2 * u * std::fabs(v) + E::tiny))};
  }
  /// |ln a' - ln a| <= e_a / (a - e_a). log(1) = 0 is exact (F.10.3.7).
  static E log(const E& a) { return logarithm(std::log(a.value()), a.value(), a.error()); }
  /// The same with 1 + a for a; 1 + a is at least fl(1 + a)(1 - u). log1p(0) = 0 is exact.
  static E log1p(const E& a) {
    return logarithm(std::log1p(a.value()), (1.0 + a.value()) * (1.0 - 2 * u), a.error());
  }
  /// |sqrt a' - sqrt a| <= min(e_a / sqrt a, sqrt e_a); correctly rounded.
  static E sqrt(const E& a) {
    const double v = std::sqrt(a.value());
    if (std::isnan(v)) return {v, v};
    double carried = std::sqrt(a.error());
    if (v > 0) carried = std::min(carried, E::rounded_up(a.error() / v));
    return {v, E::rounded_up(carried + u * v + E::tiny)};
  }
  /// |y' ln x' - y ln x| <= (|y| + e_y) e_x / (x - e_x) + e_y |ln x|, then as for exp.
  static E power(const E& x, const E& y) {
    const double v = std::pow(x.value(), y.value());
    const double least = x.value() - x.error();
    if (std::isnan(v)) return {v, v};
    if (!(least > 0)) return {v, std::numeric_limits<double>::infinity()};
    const double from_base =
        E::rounded_up(std::fabs(y.value()) + y.error()) * E::rounded_up(x.error() / least);
    const double from_exponent = E::rounded_up(y.error() * std::fabs(std::log(x.value())));
    return with_relative_error(v, E::rounded_up(from_base + from_exponent + E::tiny));
  }

  // Exact, and 1-Lipschitz; relu of what is certainly negative is 0 and nothing else.
  static E absolute(const E& a) { return {std::fabs(a.value()), a.error()}; }
  static E relu(const E& a) {
    if (a.value() < 0 && certain(a)) return E(0.0);
    return {Primitives<double>::relu(a.value()), a.error()};
  }
  static E maximum(const E& a, const E& b) {
    return {Primitives<double>::maximum(a.value(), b.value()), std::max(a.error(), b.error())};
  }

  // Exact where the error cannot change the answer; else the answer may be the farthest one.
  static E sign(const E& a) {
    const double v = Primitives<double>::sign(a.value());
    return {v, certain(a) ? 0.0 : 1.0 + std::fabs(v)};
  }
  static E step(const E& a) {
    return {Primitives<double>::step(a.value()), certain(a) ? 0.0 : 1.0};
  }

  /// 1-Lipschitz. t = e^-|x| has relative error 2u, ln(1 + t) therefore 2u (its condition number
  /// t / ((1 + t) ln(1 + t)) is below 1) and 2u of its own, the sum u; all terms are positive, so
  /// 5u and second-order terms: below 6u of the value.
  static E softplus(const E& a) { return smooth(Primitives<double>::softplus(a.value()), a, 1.0); }
  /// 1/4-Lipschitz. e^-|x| 2u; 1 + e at most 2u + u; the quotient u: below 6u of the value.
  static E logistic(const E& a) { return smooth(Primitives<double>::logistic(a.value()), a, 0.25); }

  /// 1-Lipschitz, and 1 ulp of their own. sin(0) = 0 and cos(0) = 1 are exact (F.10.1.6, F.10.1.5).
  static E sin(const E& a) { return oscillating(std::sin(a.value()), a); }
  static E cos(const E& a) {
    if (a.value() == 0 && a.error() == 0) return E(1.0);
    return oscillating(std::cos(a.value()), a);
  }
  /// 2/sqrt(pi)-Lipschitz, which is below 1.13; 2 ulp of its own, so below 6u. erf(0) = 0 is exact.
  static E erf(const E& a) { return smooth(std::erf(a.value()), a, 1.13); }
  /// 3 ulp of its own, 6u. Its slope is 1 / cosh^2, at most 1 and, with l the least |a'|, at most
  /// 4 e^(-2l); and no two values are further apart than 2, or, beyond l, than 2 e^(-2l).
  static E tanh(const E& a) {
    const double least = std::max(0.0, std::fabs(a.value()) - a.error());
    const double slope = std::min(1.0, E::rounded_up(4 * std::exp(-2 * least)) + E::tiny);
    return smooth(std::tanh(a.value()), {0.0, std::min(a.error(), 2.0)}, slope);
  }
  /// |pi - fl(pi)| < 1.2247e-16.
  static E pi() { return {Primitives<double>::pi(), 1.2247e-16}; }

  static double representative(const E& a) { return a.value(); }

 private:
  static bool certain(const E& a) { return a.error() == 0 || std::fabs(a.value()) > a.error(); }
  static E logarithm(double v, double argument, double error) {
    if (std::isnan(v)) return {v, v};
    if (v == 0 && error == 0) return E(0.0);
    const double least = argument - error;
    if (!(least > 0)) return {v, std::numeric_limits<double>::infinity()};
    return {v, E::rounded_up(E::rounded_up(error / least) + 2 * u * std::fabs(v) + E::tiny)};
  }
  static E oscillating(double v, const E& a) {
    return {v, E::rounded_up(a.error() + 2 * u * std::fabs(v) + E::tiny)};
  }
  static E smooth(double v, const E& a, double lipschitz) {
    return {v, E::rounded_up(lipschitz * a.error() + 6 * u * std::fabs(v) + E::tiny)};
  }
};

static_assert(Real<RunningError>);

}  // namespace plumbline::reference

namespace Eigen {
template <>
struct NumTraits<plumbline::reference::RunningError>
    : GenericNumTraits<plumbline::reference::RunningError> {
  using Real = plumbline::reference::RunningError;
  using NonInteger = Real;
  using Nested = Real;
  enum { IsInteger = 0, IsSigned = 1, RequireInitialization = 1 };
  static Real epsilon() { return Real(0x1p-52); }
  static Real dummy_precision() { return Real(0x1p-40); }
};
}  // namespace Eigen

// Never without these: they must be known before the first one is used.
#include "reference/scalars/running_error_exponentials.hpp"
#include "reference/scalars/running_error_sums.hpp"
