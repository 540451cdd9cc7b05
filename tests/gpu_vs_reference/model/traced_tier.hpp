// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "reference/model/tier.hpp"
#include "tests/gpu_vs_reference/model/traced.hpp"

namespace plumbline::reference {

/// The oracle's models with every sum of a linear layer's gradient in one node.
struct TracedTier : Equations<Traced> {
  static LinearLayerGrad<Traced> linear_grad(const Matrix<Traced>& X, const Matrix<Traced>& W,
                                             const Matrix<Traced>& grad_y) {
    LinearLayerGrad<Traced> grad{Matrix<Traced>(X.rows(), X.cols()),
                                 Matrix<Traced>(W.rows(), W.cols()), Vector<Traced>(W.rows())};
    for (Eigen::Index c = 0; c < X.cols(); ++c) {
      for (Eigen::Index t = 0; t < X.rows(); ++t) {
        TracedSum x;
        for (Eigen::Index o = 0; o < W.rows(); ++o) x.add(grad_y(t, o), W(o, c));
        grad.x(t, c) = x.total();
      }
      for (Eigen::Index o = 0; o < W.rows(); ++o) {
        TracedSum w;
        for (Eigen::Index t = 0; t < X.rows(); ++t) w.add(grad_y(t, o), X(t, c));
        grad.w(o, c) = w.total();
      }
    }
    for (Eigen::Index o = 0; o < W.rows(); ++o) {
      TracedSum b;
      for (Eigen::Index t = 0; t < X.rows(); ++t) b.add(grad_y(t, o));
      grad.b[o] = b.total();
    }
    return grad;
  }
};

}  // namespace plumbline::reference
