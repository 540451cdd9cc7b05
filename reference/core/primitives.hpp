// SPDX-License-Identifier: Apache-2.0
// The functions that equations are made of, each with its domain and its derivative. How exact a
// reading is stands in the header of its scalar.
#pragma once

#include "reference/core/real.hpp"

namespace plumbline::reference {

/// e^x. Derivative: exp(x).
template <Real R>
R exp(const R& x) {
  return Primitives<R>::exp(x);
}

/// Natural logarithm, x > 0. Derivative: 1/x.
template <Real R>
R log(const R& x) {
  return Primitives<R>::log(x);
}

/// ln(1 + x), x > -1. Derivative: 1/(1 + x).
template <Real R>
R log1p(const R& x) {
  return Primitives<R>::log1p(x);
}

/// Square root, x >= 0; x > 0 for the derivative 1/(2 sqrt(x)).
template <Real R>
R sqrt(const R& x) {
  return Primitives<R>::sqrt(x);
}

/// base^exponent for base > 0, any exponent. Derivatives: exponent base^(exponent-1) in the base,
/// base^exponent ln(base) in the exponent.
template <Real R>
R power(const R& base, const R& exponent) {
  return Primitives<R>::power(base, exponent);
}

/// |x|. Derivative: sign(x); so 0 at the kink, the middle of its subgradients.
template <Real R>
R absolute(const R& x) {
  return Primitives<R>::absolute(x);
}

/// -1, 0 or 1. Constant: its derivative is taken as 0 everywhere.
template <Real R>
R sign(const R& x) {
  return Primitives<R>::sign(x);
}

/// max(x, 0). Derivative: step(x); so 0 at the kink, as training frameworks take it.
template <Real R>
R relu(const R& x) {
  return Primitives<R>::relu(x);
}

/// 1 for x > 0, else 0. Constant: its derivative is taken as 0 everywhere.
template <Real R>
R step(const R& x) {
  return Primitives<R>::step(x);
}

/// ln(1 + e^x), without overflow for large x. Derivative: logistic(x).
template <Real R>
R softplus(const R& x) {
  return Primitives<R>::softplus(x);
}

/// 1/(1 + e^-x). Derivative: logistic(x) logistic(-x).
template <Real R>
R logistic(const R& x) {
  return Primitives<R>::logistic(x);
}

/// The larger of the two. Derivative: that of the larger, of `y` in a tie.
template <Real R>
R maximum(const R& x, const R& y) {
  return Primitives<R>::maximum(x, y);
}

/// A double near x, for choices that do not change the result (the shift of a softmax): the value,
/// the midpoint of an interval. A constant: it carries no derivative and no error.
template <Real R>
double representative(const R& x) {
  return Primitives<R>::representative(x);
}

}  // namespace plumbline::reference
