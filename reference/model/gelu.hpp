// SPDX-License-Identifier: Apache-2.0
// GELU, as GPT-2 (tanh) and BERT (erf) have it. Source: Hendrycks, Gimpel, "Gaussian Error Linear
// Units", arXiv:1606.08415, section 2.
#pragma once

#include "reference/core/primitives.hpp"
#include "reference/core/square.hpp"

namespace plumbline::reference {

/// x Phi(x) = x/2 (1 + erf(x / sqrt(2))), Phi the normal distribution. Domain: any x. Error:
/// absolute, a few u |x|; for x << 0 the 1 + erf cancels, so it is not relative to the value.
template <Real R>
R gelu_erf(const R& x) {
  return x / R(2.0) * (R(1.0) + erf(x / sqrt(R(2.0))));
}

/// Phi(x) + x phi(x), phi(x) = e^(-x^2/2) / sqrt(2 pi).
template <Real R>
R gelu_erf_derivative(const R& x) {
  const R density = exp(-(square(x) / R(2.0))) / sqrt(R(2.0) * pi<R>());
  return (R(1.0) + erf(x / sqrt(R(2.0)))) / R(2.0) + x * density;
}

/// 2 sqrt(2/pi) (x + 0.044715 x^3), of which gelu_tanh is the logistic gate.
template <Real R>
R gelu_tanh_gate(const R& x) {
  const R cubic = R(44715.0) / R(1000000.0);
  return R(2.0) * sqrt(R(2.0) / pi<R>()) * (x + cubic * square(x) * x);
}

/// x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))), computed as x logistic(2 sqrt(2/pi) (...)): it is
/// the same, (1 + tanh y)/2 = logistic(2y), and nothing cancels for x << 0. Domain: any x.
template <Real R>
R gelu_tanh(const R& x) {
  return x * logistic(gelu_tanh_gate(x));
}

/// With the gate z: logistic(z) + x logistic(z) logistic(-z) dz/dx,
/// dz/dx = 2 sqrt(2/pi) (1 + 3 * 0.044715 x^2).
template <Real R>
R gelu_tanh_derivative(const R& x) {
  const R z = gelu_tanh_gate(x), open = logistic(z);
  const R cubic = R(44715.0) / R(1000000.0);
  const R slope = R(2.0) * sqrt(R(2.0) / pi<R>()) * (R(1.0) + R(3.0) * cubic * square(x));
  return open + x * open * logistic(-z) * slope;
}

}  // namespace plumbline::reference
