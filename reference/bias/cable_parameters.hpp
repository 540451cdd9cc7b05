// SPDX-License-Identifier: Apache-2.0
// CABLE's increments and gains from the layer's input. Source: CABLE, equations 2 and 6.
#pragma once

#include "reference/bias/linear.hpp"
#include "reference/core/primitives.hpp"

namespace plumbline::reference {

/// f_t = ReLU(x_t . w_c + b_c) >= 0. Source: CABLE, equation 2; b_c and the full-width input from
/// the published code. Shapes: X [T, C], w_c [C], result [T]. @throws std::invalid_argument if C
/// differs.
template <Real R>
Vector<R> increments(const Matrix<R>& X, const Vector<R>& w_c, const std::type_identity_t<R>& b_c) {
  Vector<R> f = linear(X, w_c, b_c);
  for (R& value : f) value = relu(value);
  return f;
}

/// The adjoint: dz_t = df_t [z_t > 0], then linear_grad. The derivative at z_t = 0 is taken as 0.
/// @throws std::invalid_argument if T or C differs.
template <Real R>
LinearGrad<R> increments_grad(const Matrix<R>& X, const Vector<R>& w_c,
                              const std::type_identity_t<R>& b_c, const Vector<R>& grad_f) {
  require(grad_f.size() == X.rows(), "grad_f.size()", grad_f.size(), "the rows of X");
  Vector<R> grad_z = linear(X, w_c, b_c);
  for (Eigen::Index t = 0; t < grad_z.size(); ++t) grad_z[t] = grad_f[t] * step(grad_z[t]);
  return linear_grad(X, w_c, grad_z);
}

/// g_t = Softplus(x_t . w_s + b_s) > 0. Source: CABLE, equation 6; b_s as for equation 2. Indexed
/// by the query. Shapes and throws as for increments.
template <Real R>
Vector<R> gain(const Matrix<R>& X, const Vector<R>& w_s, const std::type_identity_t<R>& b_s) {
  Vector<R> g = linear(X, w_s, b_s);
  for (R& value : g) value = softplus(value);
  return g;
}

/// The adjoint: dz_t = dg_t logistic(z_t), then linear_grad.
/// @throws std::invalid_argument if T or C differs.
template <Real R>
LinearGrad<R> gain_grad(const Matrix<R>& X, const Vector<R>& w_s,
                        const std::type_identity_t<R>& b_s, const Vector<R>& grad_g) {
  require(grad_g.size() == X.rows(), "grad_g.size()", grad_g.size(), "the rows of X");
  Vector<R> grad_z = linear(X, w_s, b_s);
  for (Eigen::Index t = 0; t < grad_z.size(); ++t) grad_z[t] = grad_g[t] * logistic(grad_z[t]);
  return linear_grad(X, w_s, grad_z);
}

}  // namespace plumbline::reference
