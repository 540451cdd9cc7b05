// SPDX-License-Identifier: Apache-2.0
// Dual numbers: a value and its derivative in one direction (forward mode). They check every
// hand-written adjoint.
#pragma once

#include <limits>

#include "reference/core/linear_algebra.hpp"
#include "reference/core/primitives.hpp"
#include "reference/scalars/double.hpp"

namespace plumbline::reference {

/// value + tangent e, e^2 = 0, over any scalar: BasicDual<RunningError> is a derivative with a
/// bound on its rounding error, BasicDual<MpReal> one to 50 digits. The value is computed as the
/// base scalar does it, so Dual's value is double's, bit for bit.
template <Real B>
struct BasicDual {
  B value{0.0};
  B tangent{0.0};

  BasicDual() = default;
  /// A constant.
  explicit BasicDual(double constant) : value(constant) {}
  BasicDual(const B& value, const B& tangent) : value(value), tangent(tangent) {}

  friend BasicDual operator+(const BasicDual& a, const BasicDual& b) {
    return {a.value + b.value, a.tangent + b.tangent};
  }
  friend BasicDual operator-(const BasicDual& a, const BasicDual& b) {
    return {a.value - b.value, a.tangent - b.tangent};
  }
  friend BasicDual operator-(const BasicDual& a) { return {-a.value, -a.tangent}; }
  friend BasicDual operator*(const BasicDual& a, const BasicDual& b) {
    return {a.value * b.value, a.tangent * b.value + a.value * b.tangent};
  }
  friend BasicDual operator/(const BasicDual& a, const BasicDual& b) {
    const B quotient = a.value / b.value;
    return {quotient, (a.tangent - quotient * b.tangent) / b.value};
  }
  BasicDual& operator+=(const BasicDual& b) { return *this = *this + b; }
  BasicDual& operator-=(const BasicDual& b) { return *this = *this - b; }
};

using Dual = BasicDual<double>;

/// Each function's derivative, as core/primitives.hpp states it, times the tangent.
template <Real B>
struct Primitives<BasicDual<B>> {
  using D = BasicDual<B>;
  static D exp(const D& x) {
    const B v = reference::exp(x.value);
    return {v, v * x.tangent};
  }
  static D log(const D& x) { return {reference::log(x.value), x.tangent / x.value}; }
  static D log1p(const D& x) { return {reference::log1p(x.value), x.tangent / (B(1.0) + x.value)}; }
  static D sqrt(const D& x) {
    const B v = reference::sqrt(x.value);
    return {v, x.tangent / (v + v)};
  }
  static D power(const D& x, const D& y) {
    const B v = reference::power(x.value, y.value);
    return {v, v * (y.tangent * reference::log(x.value) + y.value * x.tangent / x.value)};
  }
  static D absolute(const D& x) {
    return {reference::absolute(x.value), reference::sign(x.value) * x.tangent};
  }
  static D sign(const D& x) { return {reference::sign(x.value), B(0.0)}; }
  static D relu(const D& x) {
    return {reference::relu(x.value), reference::step(x.value) * x.tangent};
  }
  static D step(const D& x) { return {reference::step(x.value), B(0.0)}; }
  static D softplus(const D& x) {
    return {reference::softplus(x.value), reference::logistic(x.value) * x.tangent};
  }
  static D logistic(const D& x) {
    const B v = reference::logistic(x.value);
    return {v, v * reference::logistic(-x.value) * x.tangent};
  }
  static D maximum(const D& x, const D& y) {
    const B first = reference::step(x.value - y.value);
    return {reference::maximum(x.value, y.value), first * x.tangent + (B(1.0) - first) * y.tangent};
  }
  static D sin(const D& x) {
    return {reference::sin(x.value), reference::cos(x.value) * x.tangent};
  }
  static D cos(const D& x) {
    return {reference::cos(x.value), -(reference::sin(x.value) * x.tangent)};
  }
  static D erf(const D& x) {
    const B slope = B(2.0) / reference::sqrt(reference::pi<B>()) *
                    reference::exp(-(reference::absolute(x.value) * reference::absolute(x.value)));
    return {reference::erf(x.value), slope * x.tangent};
  }
  static D tanh(const D& x) {
    const B v = reference::tanh(x.value);
    return {v, (B(1.0) - v * v) * x.tangent};
  }
  static D pi() { return {reference::pi<B>(), B(0.0)}; }
  static double representative(const D& x) { return reference::representative(x.value); }
};

static_assert(Real<Dual>);

}  // namespace plumbline::reference

namespace Eigen {
template <class B>
struct NumTraits<plumbline::reference::BasicDual<B>>
    : GenericNumTraits<plumbline::reference::BasicDual<B>> {
  using Real = plumbline::reference::BasicDual<B>;
  using NonInteger = Real;
  using Nested = Real;
  enum { IsInteger = 0, IsSigned = 1, RequireInitialization = 1 };
  static Real epsilon() { return Real(NumTraits<B>::epsilon(), B(0.0)); }
  static Real dummy_precision() { return Real(NumTraits<B>::dummy_precision(), B(0.0)); }
};
}  // namespace Eigen
