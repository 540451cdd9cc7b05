// SPDX-License-Identifier: Apache-2.0
// The linear layer at real size: reference/model/linear_layer.hpp on Eigen's matrix products.
#pragma once

#include "reference/model/linear_layer.hpp"
#include "reference/scalars/double.hpp"

namespace plumbline::reference::blocked {

/// Shapes, definition and throws of linear_layer. `threads` as in Problem.
Matrix<double> linear(const Matrix<double>& X, const Matrix<double>& W, const Vector<double>& b,
                      int threads = 0);

/// Shapes, definition and throws of linear_layer_grad.
LinearLayerGrad<double> linear_grad(const Matrix<double>& X, const Matrix<double>& W,
                                    const Matrix<double>& grad_y, int threads = 0);

}  // namespace plumbline::reference::blocked
