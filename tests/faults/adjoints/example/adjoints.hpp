// SPDX-License-Identifier: Apache-2.0
// What the mechanism must find. No test looks at these results, so that each sign is reported
// (expected.txt), but for the last function's.
#pragma once

#include <vector>

#include "reference/core/linear_algebra.hpp"
#include "reference/core/primitives.hpp"

namespace plumbline::reference {

template <Real R>
struct ExampleGrad {
  R a, b;
};

/// Not an adjoint by its name.
template <Real R>
R forward(const R& x) {
  return -x + R(1.0);
}

template <Real R>
R curve_derivative(const R& x) {
  return x * logistic(-x) - R(-2.0) * exp(x - R(1e-5)) / (x * x + R(1.0));
}

template <Real R>
struct ExampleBias {
  R slope;

  using Grad = ExampleGrad<R>;
  Grad zero_grad() const { return {R(0.0), R(0.0)}; }

  void accumulate_grad(Grad& grad, int i, int j, const R& grad_bias) const {
    if (i - j < 0) return;
    const R distance = R(i - j), twice = distance + distance;
    grad.a -= grad_bias * distance;
    grad.b += grad_bias * twice * slope;
  }
};

template <Real R>
const Matrix<R>& same_grad(const Matrix<R>& x) {
  return x;
}

template <Real R>
ExampleGrad<R> pair_grad(const Vector<R>& x, const Matrix<R>& W, const R& grad_y) {
  require(x.size() + 1 == W.rows() + W.cols(), "x.size()", x.size(), "that of this example");
  const Matrix<R> copy = Matrix<R>(same_grad(W));
  Vector<R> along = Vector<R>(copy.cols());
  along = copy.row(0);
  for (R& element : along) element = grad_y * element;
  const ExampleBias<R> bias{curve_derivative<R>(grad_y)};
  ExampleGrad<R> grad = bias.zero_grad();
  bias.accumulate_grad(grad, 2, 1, along[0]);
  const R& alias = x[x.size() - 1];
  std::vector<R> parts;
  parts.push_back(grad.a * alias);
  if constexpr (Real<R>) parts[0] *= grad_y;
  const ExampleGrad<R> named{.a = parts[0], .b = grad.b};
  return {x.size() > 5 ? R(0.0) : named.a, named.b};
}

/// No case calls it.
template <Real R>
auto forgotten_derivative(const R& x) -> R {
  return x;
}

/// Of this one, a test compares the result with the dual reading.
template <Real R>
R cube_derivative(const R& x) {
  const R size = absolute(x);
  return size * size + R(2.0) * x * x;
}

}  // namespace plumbline::reference
