// SPDX-License-Identifier: Apache-2.0
// The functions that equations are made of, each with its domain and its derivative. How exact a
// reading is stands in the header of its scalar.
//
// They are function objects, so that a call finds them and nothing else: functions would compete
// with those of the scalar's own namespace (boost::multiprecision::sign of an interval throws).
#pragma once

#include "reference/core/real.hpp"

namespace plumbline::reference {

/// e^x. Derivative: exp(x).
struct Exp {
  template <Real R>
  R operator()(const R& x) const {
    return Primitives<R>::exp(x);
  }
};
inline constexpr Exp exp;

/// Natural logarithm, x > 0. Derivative: 1/x.
struct Log {
  template <Real R>
  R operator()(const R& x) const {
    return Primitives<R>::log(x);
  }
};
inline constexpr Log log;

/// ln(1 + x), x > -1. Derivative: 1/(1 + x).
struct Log1p {
  template <Real R>
  R operator()(const R& x) const {
    return Primitives<R>::log1p(x);
  }
};
inline constexpr Log1p log1p;

/// Square root, x >= 0; x > 0 for the derivative 1/(2 sqrt(x)).
struct Sqrt {
  template <Real R>
  R operator()(const R& x) const {
    return Primitives<R>::sqrt(x);
  }
};
inline constexpr Sqrt sqrt;

/// base^exponent for base > 0, any exponent. Derivatives: exponent base^(exponent-1) in the base,
/// base^exponent ln(base) in the exponent.
struct Power {
  template <Real R>
  R operator()(const R& base, const R& exponent) const {
    return Primitives<R>::power(base, exponent);
  }
};
inline constexpr Power power;

/// |x|. Derivative: sign(x); so 0 at the kink, the middle of its subgradients.
struct Absolute {
  template <Real R>
  R operator()(const R& x) const {
    return Primitives<R>::absolute(x);
  }
};
inline constexpr Absolute absolute;

/// -1, 0 or 1. Constant: its derivative is taken as 0 everywhere.
struct Sign {
  template <Real R>
  R operator()(const R& x) const {
    return Primitives<R>::sign(x);
  }
};
inline constexpr Sign sign;

/// max(x, 0). Derivative: step(x); so 0 at the kink, as training frameworks take it.
struct Relu {
  template <Real R>
  R operator()(const R& x) const {
    return Primitives<R>::relu(x);
  }
};
inline constexpr Relu relu;

/// 1 for x > 0, else 0. Constant: its derivative is taken as 0 everywhere.
struct Step {
  template <Real R>
  R operator()(const R& x) const {
    return Primitives<R>::step(x);
  }
};
inline constexpr Step step;

/// ln(1 + e^x), without overflow for large x. Derivative: logistic(x).
struct Softplus {
  template <Real R>
  R operator()(const R& x) const {
    return Primitives<R>::softplus(x);
  }
};
inline constexpr Softplus softplus;

/// 1/(1 + e^-x). Derivative: logistic(x) logistic(-x).
struct Logistic {
  template <Real R>
  R operator()(const R& x) const {
    return Primitives<R>::logistic(x);
  }
};
inline constexpr Logistic logistic;

/// The larger of the two. Derivative: that of the larger, of `y` in a tie.
struct Maximum {
  template <Real R>
  R operator()(const R& x, const R& y) const {
    return Primitives<R>::maximum(x, y);
  }
};
inline constexpr Maximum maximum;

/// The sine of x, in radians. Derivative: cos(x).
struct Sin {
  template <Real R>
  R operator()(const R& x) const {
    return Primitives<R>::sin(x);
  }
};
inline constexpr Sin sin;

/// The cosine of x, in radians. Derivative: -sin(x).
struct Cos {
  template <Real R>
  R operator()(const R& x) const {
    return Primitives<R>::cos(x);
  }
};
inline constexpr Cos cos;

/// The error function, 2/sqrt(pi) times the integral of e^(-t^2) from 0 to x. Derivative:
/// 2/sqrt(pi) e^(-x^2).
struct Erf {
  template <Real R>
  R operator()(const R& x) const {
    return Primitives<R>::erf(x);
  }
};
inline constexpr Erf erf;

/// The hyperbolic tangent. Derivative: 1 - tanh(x)^2.
struct Tanh {
  template <Real R>
  R operator()(const R& x) const {
    return Primitives<R>::tanh(x);
  }
};
inline constexpr Tanh tanh;

/// The number pi, as `pi<R>()`. A constant: its derivative is 0.
template <Real R>
R pi() {
  return Primitives<R>::pi();
}

/// A double near x, for choices that do not change the result (the shift of a softmax): the value,
/// the midpoint of an interval. A constant: it carries no derivative and no error.
struct Representative {
  template <Real R>
  double operator()(const R& x) const {
    return Primitives<R>::representative(x);
  }
};
inline constexpr Representative representative;

}  // namespace plumbline::reference
