// SPDX-License-Identifier: Apache-2.0
// The linear maps that turn the layer's input into CABLE's increments and gains, for one head.
#pragma once

#include <type_traits>

#include "reference/model/linear_layer.hpp"

namespace plumbline::reference {

/// z_t = x_t . w + b: the linear layer with one output. Shapes: X [T, C], w [C], z [T]. The
/// published code has the bias b, the paper's equations 2 and 6 do not (b = 0).
/// @throws std::invalid_argument if C differs.
template <Real R>
Vector<R> linear(const Matrix<R>& X, const Vector<R>& w, const std::type_identity_t<R>& b) {
  require(w.size() == X.cols(), "w.size()", w.size(), "the columns of X");
  return linear_layer<R>(X, w.transpose(), Vector<R>::Constant(1, b));
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
  const LinearLayerGrad<R> grad = linear_layer_grad<R>(X, w.transpose(), grad_z);
  return {grad.x, grad.w.row(0), grad.b[0]};
}

}  // namespace plumbline::reference
