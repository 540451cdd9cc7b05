// SPDX-License-Identifier: Apache-2.0
// What an equation may ask of its scalar.
#pragma once

#include <concepts>

namespace plumbline::reference {

/// The functions of a scalar, as static members; every scalar specialises this once, in its header.
/// What each must compute stands in core/primitives.hpp, through which equations call them.
template <class R>
struct Primitives;

/// A scalar that every equation can be read with: value (double), derivative (Dual), enclosure
/// (Interval), golden value (MpReal), rounding error bound (RunningError).
///
/// There are no comparisons: an equation never branches on a scalar. A decision that depends on a
/// value is a named primitive, for which each scalar defines what it means (an interval that
/// contains 0 has relu, but not an answer to "is it positive").
template <class R>
concept Real = std::default_initializable<R> && std::copyable<R> &&
    std::constructible_from<R, double> && std::constructible_from<R, int> &&
    requires(R r, const R& x, const R& y) {
  { x + y } -> std::same_as<R>;
  { x - y } -> std::same_as<R>;
  { x* y } -> std::same_as<R>;
  { x / y } -> std::same_as<R>;
  { -x } -> std::same_as<R>;
  { r += x } -> std::same_as<R&>;
  { r -= x } -> std::same_as<R&>;
  { Primitives<R>::exp(x) } -> std::same_as<R>;
  { Primitives<R>::log(x) } -> std::same_as<R>;
  { Primitives<R>::log1p(x) } -> std::same_as<R>;
  { Primitives<R>::sqrt(x) } -> std::same_as<R>;
  { Primitives<R>::power(x, y) } -> std::same_as<R>;
  { Primitives<R>::absolute(x) } -> std::same_as<R>;
  { Primitives<R>::sign(x) } -> std::same_as<R>;
  { Primitives<R>::relu(x) } -> std::same_as<R>;
  { Primitives<R>::step(x) } -> std::same_as<R>;
  { Primitives<R>::softplus(x) } -> std::same_as<R>;
  { Primitives<R>::logistic(x) } -> std::same_as<R>;
  { Primitives<R>::maximum(x, y) } -> std::same_as<R>;
  { Primitives<R>::sin(x) } -> std::same_as<R>;
  { Primitives<R>::cos(x) } -> std::same_as<R>;
  { Primitives<R>::erf(x) } -> std::same_as<R>;
  { Primitives<R>::tanh(x) } -> std::same_as<R>;
  { Primitives<R>::pi() } -> std::same_as<R>;
  { Primitives<R>::representative(x) } -> std::same_as<double>;
};

}  // namespace plumbline::reference
