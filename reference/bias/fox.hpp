// SPDX-License-Identifier: Apache-2.0
// FoX, the forgetting transformer: each token's forget gate discounts all keys before it. Source:
// Lin, Nikishin, He, Courville, "Forgetting Transformer", arXiv:2503.02130, section 3; code
// zhixuan-lin/forgetting-transformer.
#pragma once

#include "reference/bias/cable_nw.hpp"
#include "reference/bias/linear.hpp"
#include "reference/core/primitives.hpp"

namespace plumbline::reference {

/// log f_t = ln logistic(z_t) = -softplus(-z_t) < 0, z_t = x_t . w_f + b_f. That softplus forms
/// min(z, 0) - ln(1 + e^-|z|), as the code's logsigmoid. Per head, from the layer's full-width
/// input. Shapes: X [T, C], w_f [C], result [T]. @throws std::invalid_argument if C differs.
template <Real R>
Vector<R> log_forget_gates(const Matrix<R>& X, const Vector<R>& w_f,
                           const std::type_identity_t<R>& b_f) {
  Vector<R> log_f = linear(X, w_f, b_f);
  for (R& value : log_f) value = -softplus(-value);
  return log_f;
}

/// The adjoint: dz_t = d log f_t logistic(-z_t), then linear_grad.
/// @throws std::invalid_argument if T or C differs.
template <Real R>
LinearGrad<R> log_forget_gates_grad(const Matrix<R>& X, const Vector<R>& w_f,
                                    const std::type_identity_t<R>& b_f,
                                    const Vector<R>& grad_log_f) {
  require(grad_log_f.size() == X.rows(), "grad_log_f.size()", grad_log_f.size(), "the rows of X");
  Vector<R> grad_z = linear(X, w_f, b_f);
  for (Eigen::Index t = 0; t < grad_z.size(); ++t) {
    grad_z[t] = grad_log_f[t] * logistic(-grad_z[t]);
  }
  return linear_grad(X, w_f, grad_z);
}

/// b_ij = c_i - c_j with c = prefix_sum(log f), that is, sum_{k=j+1..i} log f_k <= 0 for j <= i:
/// the query's own gate counts, the key's does not. For causal attention; keys after the query
/// would be rewarded. It is CABLE's equation 5 as printed, of increments that are negative, so it
/// is that type: Fox<R>{prefix_sum(log_forget_gates(X, w_f, b_f))}.
template <Real R>
using Fox = CableNwPaper<R>;

}  // namespace plumbline::reference
