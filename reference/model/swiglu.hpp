// SPDX-License-Identifier: Apache-2.0
// SwiGLU, the gate of the LLaMA-style feed-forward layer. Source: Shazeer, "GLU Variants Improve
// Transformer", arXiv:2002.05202, equation 5, with beta = 1.
#pragma once

#include "reference/core/primitives.hpp"

namespace plumbline::reference {

/// silu(a) b, silu(a) = a logistic(a), for one component: a = x W and b = x V, the two linear maps
/// of the layer, whose result goes to the third. Domain: any a, b.
template <Real R>
R swiglu(const R& a, const R& b) {
  return a * logistic(a) * b;
}

template <Real R>
struct SwigluGrad {
  R a, b;
};

/// The adjoint: da = dy b logistic(a) (1 + a logistic(-a)), db = dy a logistic(a).
template <Real R>
SwigluGrad<R> swiglu_grad(const R& a, const R& b, const R& grad_y) {
  const R open = logistic(a);
  return {grad_y * b * open * (R(1.0) + a * logistic(-a)), grad_y * a * open};
}

}  // namespace plumbline::reference
