// SPDX-License-Identifier: Apache-2.0
// A linear layer with many outputs. For one output alone see bias/linear.hpp.
#pragma once

#include "reference/core/linear_algebra.hpp"
#include "reference/core/preconditions.hpp"
#include "reference/core/sum.hpp"

namespace plumbline::reference {

/// y_to = x_t . W_o + b_o. W is laid out as PyTorch's Linear and BERT's files have it, [out, in];
/// GPT-2's Conv1D is its transpose. Shapes: X [T, in], W [out, in], b [out], or empty for a layer
/// without bias, result [T, out]. @throws std::invalid_argument if shapes do not agree.
template <Real R>
Matrix<R> linear_layer(const Matrix<R>& X, const Matrix<R>& W, const Vector<R>& b) {
  require(W.cols() == X.cols(), "W.cols()", W.cols(), "the columns of X");
  require(b.size() == 0 || b.size() == W.rows(), "b.size()", b.size(), "the rows of W, or 0");
  Matrix<R> Y(X.rows(), W.rows());
  for (int t = 0; t < X.rows(); ++t) {
    for (int o = 0; o < W.rows(); ++o) {
      Y(t, o) = dot(row(X, t), row(W, o));
      if (b.size() > 0) Y(t, o) += b[o];
    }
  }
  return Y;
}

template <Real R>
struct LinearLayerGrad {
  Matrix<R> x;  ///< [T, in]
  Matrix<R> w;  ///< [out, in]
  Vector<R> b;  ///< [out]; a layer without bias ignores it
};

/// The adjoint: dX_tc = sum_o dy_to W_oc, dW_oc = sum_t dy_to x_tc, db_o = sum_t dy_to.
/// @throws std::invalid_argument if shapes do not agree.
template <Real R>
LinearLayerGrad<R> linear_layer_grad(const Matrix<R>& X, const Matrix<R>& W,
                                     const Matrix<R>& grad_y) {
  require(W.cols() == X.cols(), "W.cols()", W.cols(), "the columns of X");
  require(grad_y.rows() == X.rows(), "grad_y.rows()", grad_y.rows(), "the rows of X");
  require(grad_y.cols() == W.rows(), "grad_y.cols()", grad_y.cols(), "the rows of W");
  const int in = static_cast<int>(W.cols()), out = static_cast<int>(W.rows());
  LinearLayerGrad<R> grad{zeros<R>(static_cast<int>(X.rows()), in), zeros<R>(out, in),
                          zeros<R>(out)};
  for (Eigen::Index t = 0; t < X.rows(); ++t) {
    for (int o = 0; o < out; ++o) {
      grad.b[o] += grad_y(t, o);
      for (int c = 0; c < in; ++c) {
        grad.x(t, c) += grad_y(t, o) * W(o, c);
        grad.w(o, c) += grad_y(t, o) * X(t, c);
      }
    }
  }
  return grad;
}

}  // namespace plumbline::reference
