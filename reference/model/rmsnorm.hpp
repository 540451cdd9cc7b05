// SPDX-License-Identifier: Apache-2.0
// RMSNorm. Source: Zhang, Sennrich, "Root Mean Square Layer Normalization", arXiv:1910.07467,
// equation 4, with the epsilon of BAM's backbone (1e-5).
#pragma once

#include <type_traits>

#include "reference/core/linear_algebra.hpp"
#include "reference/core/preconditions.hpp"
#include "reference/core/primitives.hpp"
#include "reference/core/square.hpp"
#include "reference/core/sum.hpp"

namespace plumbline::reference {

/// @throws std::invalid_argument unless C >= 1 and epsilon > 0.
template <Real R>
void check_root_mean_square(Eigen::Index width, const R& epsilon) {
  require(width >= 1, "C", width, "at least 1");
  require(representative(epsilon) > 0, "epsilon", representative(epsilon), "above 0");
}

/// r = sqrt(1/C sum_c x_c^2 + epsilon). Shapes: x [C].
/// @throws std::invalid_argument unless C >= 1 and epsilon > 0.
template <Real R>
R root_mean_square(const Vector<R>& x, const std::type_identity_t<R>& epsilon) {
  check_root_mean_square<R>(x.size(), epsilon);
  Vector<R> squares(x.size());
  for (Eigen::Index c = 0; c < x.size(); ++c) squares[c] = square(x[c]);
  return sqrt(sum(squares) / R(static_cast<int>(x.size())) + epsilon);
}

/// y_tc = gamma_c x_tc / r_t. Neither mean nor beta. Source: Zhang, Sennrich, equation 4; epsilon
/// inside of the root as in LLaMA. Shapes: X [T, C], gamma [C], result [T, C]. Domain: any x,
/// epsilon > 0. @throws std::invalid_argument if C differs or is 0, or epsilon is not above 0.
template <Real R>
Matrix<R> rmsnorm(const Matrix<R>& X, const Vector<R>& gamma,
                  const std::type_identity_t<R>& epsilon) {
  require(gamma.size() == X.cols(), "gamma.size()", gamma.size(), "the columns of X");
  check_root_mean_square<R>(X.cols(), epsilon);
  Matrix<R> Y(X.rows(), X.cols());
  for (Eigen::Index t = 0; t < X.rows(); ++t) {
    const R r = root_mean_square<R>(X.row(t), epsilon);
    for (Eigen::Index c = 0; c < X.cols(); ++c) Y(t, c) = gamma[c] * (X(t, c) / r);
  }
  return Y;
}

template <Real R>
struct RmsNormGrad {
  Matrix<R> x;      ///< [T, C]
  Vector<R> gamma;  ///< [C]
};

/// The adjoint, with n_c = x_c / r and g_c = dy_c gamma_c: dx_c = (g_c - n_c 1/C sum g n) / r,
/// d gamma_c = sum_t dy_tc n_tc.
/// @throws std::invalid_argument as rmsnorm does, and if the shape of dy is not that of X.
template <Real R>
RmsNormGrad<R> rmsnorm_grad(const Matrix<R>& X, const Vector<R>& gamma,
                            const std::type_identity_t<R>& epsilon, const Matrix<R>& grad_y) {
  require(gamma.size() == X.cols(), "gamma.size()", gamma.size(), "the columns of X");
  require(grad_y.rows() == X.rows(), "grad_y.rows()", grad_y.rows(), "the rows of X");
  require(grad_y.cols() == X.cols(), "grad_y.cols()", grad_y.cols(), "the columns of X");
  check_root_mean_square<R>(X.cols(), epsilon);
  const int width = static_cast<int>(X.cols());
  RmsNormGrad<R> grad{Matrix<R>(X.rows(), width), zeros<R>(width)};
  for (Eigen::Index t = 0; t < X.rows(); ++t) {
    const R r = root_mean_square<R>(X.row(t), epsilon);
    Vector<R> n(width), g(width);
    for (int c = 0; c < width; ++c) {
      n[c] = X(t, c) / r;
      g[c] = grad_y(t, c) * gamma[c];
      grad.gamma[c] += grad_y(t, c) * n[c];
    }
    const R along = dot(g, n) / R(width);
    for (int c = 0; c < width; ++c) grad.x(t, c) = (g[c] - n[c] * along) / r;
  }
  return grad;
}

}  // namespace plumbline::reference
