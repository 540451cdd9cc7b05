// SPDX-License-Identifier: Apache-2.0
// A number as an fp32 kernel computes it: the exact one, and how far the kernel's may be from it.
//
// Where an operation's operands are off by e_a and e_b, its result is off by what they carry over,
// and by its own rounding of a number at most |exact| + carried large:
//   + - *              u, rounding to nearest; nothing where the exact result of exact operands is
//   a
//                      float, since then every rounding gives it
//   /                  4u, but for exact numbers by a power of two: CUDA's __fdividef and
//   -prec-div=false are within 2 ulp sqrt               2u: -prec-sqrt=false is within 1 ulp exp
//   4u, and 2u |x| for exp2(x log2 e) log, log1p, sin, cos, tanh, erf   4u: 2 ulp, CUDA's largest
//   documented errors of the full
//                      functions, and what a change of base costs
//   power              16u, 8 ulp, and 4u |y ln x|: the product that an exp2(y log2 x) takes
//   max, min, abs, -   nothing
// u = 2^-24, the unit roundoff of one fp32 operation. Source of the CUDA errors: CUDA C++
// Programming Guide, "Mathematical Functions". Where the sign of an operand is not certain, sign
// and step may answer either way. Numbers that fp32 cannot hold have an infinite error.
//
// A derivative that begins with adjoint() stands for the product of it and of a gradient that may
// be subnormal, as autograd carries it from operation to operation. Each product of these may
// underflow, and what it loses is multiplied by the factors after it: lost() counts how often in
// all.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "reference/core/primitives.hpp"
#include "reference/scalars/running_error.hpp"
#include "verdict/bounds/roundoff.hpp"

namespace plumbline::verdict {

class Fp32Number {
 public:
  using Exact = reference::RunningError;

  Fp32Number() = default;
  /// An exact number: what a kernel is given, and constants, which it may round.
  explicit Fp32Number(double value) : Fp32Number(Exact(value), of_constant(value)) {}
  /// @param error how far the kernel's may be from `exact`.
  Fp32Number(const Exact& exact, double error) : exact_(exact), error_(or_infinity(error)) {}

  /// Where a derivative begins, d b / d b.
  static Fp32Number adjoint() {
    Fp32Number one(1.0);
    one.lost_ = 0;
    return one;
  }
  /// Of a derivative: what is lost below fp32's range is at most so many times that of one product.
  double lost() const { return std::max(0.0, lost_); }

  const Exact& exact() const { return exact_; }
  double error() const { return error_; }
  /// The largest that either can be.
  double size() const { return std::fabs(exact_.value()) + exact_.error() + error_; }

  friend Fp32Number operator-(const Fp32Number& a) {
    return Fp32Number(-a.exact_, a.error_).losing(a.lost_);
  }
  friend Fp32Number operator+(const Fp32Number& a, const Fp32Number& b) {
    const bool derivative = a.is_derivative() || b.is_derivative();  // a sum of subnormals is exact
    return rounded(a.exact_ + b.exact_, a.error_ + b.error_, 1, a, b)
        .losing(derivative ? a.lost() + b.lost() : none);
  }
  friend Fp32Number operator-(const Fp32Number& a, const Fp32Number& b) { return a + -b; }
  friend Fp32Number operator*(const Fp32Number& a, const Fp32Number& b) {
    if (a.is_zero() || b.is_zero()) return Fp32Number(0.0);
    // |a b - a' b'| <= |a'| e_b + |b'| e_a + e_a e_b.
    const Fp32Number product =
        rounded(a.exact_ * b.exact_, a.size() * b.error_ + b.size() * a.error_, 1, a, b);
    if (a.is_derivative()) return product.losing(by_factor(a.lost_, b.size()));
    return product.losing(b.is_derivative() ? by_factor(b.lost_, a.size()) : none);
  }
  friend Fp32Number operator/(const Fp32Number& a, const Fp32Number& b) {
    const Exact quotient = a.exact_ / b.exact_;
    const double least = std::fabs(b.exact_.value()) - b.exact_.error() - b.error_;
    if (!(least > 0)) return {quotient, infinity};
    const double lost = a.is_derivative() ? by_factor(a.lost_, 1 / least) : none;
    const double carried =
        (a.error_ + (std::fabs(quotient.value()) + quotient.error()) * b.error_) / least;
    int exponent = 0;
    const bool shifts = b.is_exact() && std::fabs(std::frexp(b.exact_.value(), &exponent)) == 0.5;
    if (shifts && a.is_exact() && is_float(quotient.value())) {
      return Fp32Number(Exact(quotient.value()), 0.0).losing(lost);
    }
    return rounded(quotient, carried, 4).losing(lost);
  }
  /// What a derivative g of a / b makes of b's: -g a / b^2, of which a kernel may multiply g by a,
  /// 1/b and 1/b in any order.
  static Fp32Number by_divisor(const Fp32Number& g, const Fp32Number& a, const Fp32Number& b) {
    const Fp32Number factor = a / b / b, result = -(g * factor);
    const double least = std::fabs(b.exact_.value()) - b.exact_.error() - b.error_;
    if (!g.is_derivative() || !(least > 0)) return result;
    const double most = std::max(1.0, a.size()) * std::max(1.0, 1 / (least * least));
    return result.losing(g.lost_ * factor.size() + 3 * most);
  }
  Fp32Number& operator+=(const Fp32Number& b) { return *this = *this + b; }
  Fp32Number& operator-=(const Fp32Number& b) { return *this = *this - b; }

  /// A result with `carried` from its operands and `roundings` units of its own.
  static Fp32Number rounded(const Exact& exact, double carried, double roundings) {
    const double size = std::fabs(exact.value()) + exact.error() + carried;
    // Below fp32's normal numbers results are off by half of the least subnormal, or flushed.
    const double own = roundings * u * size + (size > 0 ? least_normal : 0.0);
    const double error = (carried + own) * second_order;
    if (!(size + error < largest)) return {exact, infinity};
    return {exact, error};
  }

 private:
  static constexpr double largest = 0x1p127, least_normal = 0x1p-126, none = -1;

  bool is_derivative() const { return lost_ >= 0; }
  Fp32Number losing(double lost) const {
    Fp32Number result = *this;
    result.lost_ = lost;
    return result;
  }
  /// Of a product by a factor, which may itself be several: the first of them may underflow, and
  /// the last.
  static double by_factor(double lost, double factor) { return (lost + 1) * factor + 1; }

  static bool is_float(double x) { return static_cast<double>(static_cast<float>(x)) == x; }
  static double of_constant(double x) { return is_float(x) ? 0.0 : u * std::fabs(x); }
  /// The same, of what is exact where its operands are and a float holds it.
  static Fp32Number rounded(const Exact& exact, double carried, double roundings,
                            const Fp32Number& a, const Fp32Number& b) {
    const bool whole = a.is_whole() && b.is_whole() && std::fabs(exact.value()) <= 0x1p24 &&
                       exact.value() == std::trunc(exact.value());
    if (a.error_ == 0 && b.error_ == 0 && (whole || exact.value() == 0)) {
      return {Exact(exact.value()), 0.0};
    }
    return rounded(exact, carried, roundings);
  }
  bool is_zero() const { return size() == 0; }
  bool is_exact() const { return error_ == 0 && exact_.error() == 0; }
  bool is_whole() const {
    return is_exact() && std::fabs(exact_.value()) <= 0x1p24 &&
           exact_.value() == std::trunc(exact_.value());
  }

  Exact exact_;
  double error_ = 0;
  double lost_ = none;  ///< of what is no derivative
};

}  // namespace plumbline::verdict

namespace plumbline::reference {

template <>
struct Primitives<verdict::Fp32Number> {
  using N = verdict::Fp32Number;
  using Of = Primitives<RunningError>;
  static constexpr double roundings = 4;

  static N exp(const N& a) {
    if (is_exactly(a, 0)) return N(1.0);
    const RunningError e = Of::exp(a.exact());
    // Or exp2(x log2 e), whose product rounds.
    const double carried = a.error() + 2 * verdict::u * a.size();
    return N::rounded(e, magnitude(e) * std::expm1(carried), roundings);
  }
  static N log(const N& a) {
    if (is_exactly(a, 1)) return N(0.0);
    return N::rounded(Of::log(a.exact()), of_logarithm(a, a.exact().value()), roundings);
  }
  static N log1p(const N& a) {
    if (is_exactly(a, 0)) return N(0.0);
    // A kernel may add 1 first, which rounds.
    const double sum = 1 + a.exact().value();
    return N::rounded(Of::log1p(a.exact()),
                      of_logarithm(a, sum) + verdict::u * verdict::second_order, roundings);
  }
  static N sqrt(const N& a) {
    const RunningError root = Of::sqrt(a.exact());
    double carried = std::sqrt(a.error());
    if (a.error() > 0 && !(a.exact().value() > a.exact().error() + a.error())) {
      return {root, verdict::infinity};  // the kernel's may be below 0
    }
    if (root.value() > 0) carried = std::min(carried, a.error() / root.value());
    return N::rounded(root, carried, 2);
  }
  static N power(const N& x, const N& y) {
    const RunningError p = Of::power(x.exact(), y.exact());
    const double least = x.exact().value() - x.exact().error() - x.error();
    if (!(least > 0)) return {p, verdict::infinity};
    const double logarithm = std::fabs(std::log(x.exact().value()));
    const double carried = y.size() * x.error() / least + y.error() * logarithm +
                           4 * verdict::u * y.size() * logarithm;
    return N::rounded(p, magnitude(p) * std::expm1(carried), 16);
  }

  static N absolute(const N& a) { return {Of::absolute(a.exact()), a.error()}; }
  static N relu(const N& a) { return {Of::relu(a.exact()), a.error()}; }
  static N maximum(const N& a, const N& b) {
    return {Of::maximum(a.exact(), b.exact()), std::max(a.error(), b.error())};
  }
  static N sign(const N& a) {
    const RunningError s = Of::sign(a.exact());
    return {s, is_certain(a) ? 0.0 : 1.0 + std::fabs(s.value())};
  }
  static N step(const N& a) { return {Of::step(a.exact()), is_certain(a) ? 0.0 : 1.0}; }

  static N softplus(const N& a) { return N::rounded(Of::softplus(a.exact()), a.error(), 12); }
  static N logistic(const N& a) { return N::rounded(Of::logistic(a.exact()), a.error() / 4, 12); }
  static N sin(const N& a) { return N::rounded(Of::sin(a.exact()), a.error(), roundings); }
  static N cos(const N& a) {
    if (is_exactly(a, 0)) return N(1.0);
    return N::rounded(Of::cos(a.exact()), a.error(), roundings);
  }
  static N erf(const N& a) { return N::rounded(Of::erf(a.exact()), 1.13 * a.error(), roundings); }
  static N tanh(const N& a) { return N::rounded(Of::tanh(a.exact()), a.error(), roundings); }
  static N pi() { return {Of::pi(), 2 * verdict::u}; }

  static double representative(const N& a) { return a.exact().value(); }

 private:
  static bool is_exactly(const N& a, double x) {
    return a.error() == 0 && a.exact().error() == 0 && a.exact().value() == x;
  }
  static bool is_certain(const N& a) {
    return std::fabs(a.exact().value()) > a.error() + a.exact().error();
  }
  static double magnitude(const RunningError& x) { return std::fabs(x.value()) + x.error(); }
  /// e / (a - e) for the logarithm of a.
  static double of_logarithm(const N& a, double argument) {
    const double least = argument * (1 - 0x1p-50) - a.exact().error() - a.error();
    return least > 0 ? a.error() / least : verdict::infinity;
  }
};

}  // namespace plumbline::reference
