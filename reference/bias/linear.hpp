// SPDX-License-Identifier: Apache-2.0
// The linear maps that turn the layer's input into CABLE's increments and gains, for one head.
#pragma once

#include <type_traits>

#include "reference/core/linear_algebra.hpp"
#include "reference/core/sum.hpp"

namespace plumbline::reference {

/// z_t = x_t . w + b. Shapes: X [T, C], w [C], z [T]. The published code has the bias b, the
/// paper's equations 2 and 6 do not (b = 0). @throws std::invalid_argument if C differs.
template <Real R>
Vector<R> linear(const Matrix<R>& X, const Vector<R>& w, const std::type_identity_t<R>& b) {
  Vector<R> z(X.rows());
  for (int t = 0; t < X.rows(); ++t) z[t] = dot(row(X, t), view(w)) + b;
  return z;
}

template <Real R>
struct LinearGrad {
  Matrix<R> x;  ///< [T, C]: one head's share of the layer's input gradient
  Vector<R> w;  ///< [C]
  R b;
};

/// dX_tc = dz_t w_c, dw_c = sum_t dz_t x_tc, db = sum_t dz_t.
/// @throws std::invalid_argument if T or C differs.
template <Real R>
LinearGrad<R> linear_grad(const Matrix<R>& X, const Vector<R>& w, const Vector<R>& grad_z) {
  require(w.size() == X.cols(), "w.size()", w.size(), "the columns of X");
  require(grad_z.size() == X.rows(), "grad_z.size()", grad_z.size(), "the rows of X");
  LinearGrad<R> grad{Matrix<R>(X.rows(), X.cols()), zeros<R>(static_cast<int>(w.size())),
                     sum(grad_z)};
  for (Eigen::Index t = 0; t < X.rows(); ++t) {
    for (Eigen::Index c = 0; c < X.cols(); ++c) {
      grad.x(t, c) = grad_z[t] * w[c];
      grad.w[c] += grad_z[t] * X(t, c);
    }
  }
  return grad;
}

}  // namespace plumbline::reference
