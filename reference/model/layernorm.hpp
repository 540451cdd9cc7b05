// SPDX-License-Identifier: Apache-2.0
// LayerNorm. Source: Ba, Kiros, Hinton, "Layer Normalization", arXiv:1607.06450, equations 3 and
// 4, with the epsilon of GPT-2 (1e-5) and BERT (1e-12).
#pragma once

#include <type_traits>

#include "reference/core/linear_algebra.hpp"
#include "reference/core/preconditions.hpp"
#include "reference/core/primitives.hpp"
#include "reference/core/square.hpp"
#include "reference/core/sum.hpp"

namespace plumbline::reference {

/// A token's vector with mean 0 and variance 1 (less what epsilon takes), before gamma and beta.
template <Real R>
struct Standardised {
  Vector<R> x;  ///< n_c = (x_c - mu) / sigma
  R deviation;  ///< sigma
};

/// @throws std::invalid_argument unless C >= 1 and epsilon > 0.
template <Real R>
void check_standardised(Eigen::Index width, const R& epsilon) {
  require(width >= 1, "C", width, "at least 1");
  require(representative(epsilon) > 0, "epsilon", representative(epsilon), "above 0");
}

/// mu = 1/C sum_c x_c, sigma = sqrt(1/C sum_c (x_c - mu)^2 + epsilon); the variance is that of all
/// C, not of C - 1. Shapes: x [C]. @throws std::invalid_argument unless C >= 1 and epsilon > 0.
template <Real R>
Standardised<R> standardised(const Vector<R>& x, const std::type_identity_t<R>& epsilon) {
  check_standardised<R>(x.size(), epsilon);
  const R count(static_cast<int>(x.size()));
  const R mean = sum(x) / count;
  Vector<R> centred = x, squares(x.size());
  for (Eigen::Index c = 0; c < x.size(); ++c) {
    centred[c] -= mean;
    squares[c] = square(centred[c]);
  }
  const R deviation = sqrt(sum(squares) / count + epsilon);
  for (R& element : centred) element = element / deviation;
  return {centred, deviation};
}

/// y_tc = gamma_c n_tc + beta_c, every token standardised for itself.
/// Source: Ba et al., equation 4. Shapes: X [T, C], gamma [C], beta [C], result [T, C]. Domain:
/// any x, epsilon > 0. @throws std::invalid_argument if C differs or is 0, or epsilon is not above
/// 0.
template <Real R>
Matrix<R> layernorm(const Matrix<R>& X, const Vector<R>& gamma, const Vector<R>& beta,
                    const std::type_identity_t<R>& epsilon) {
  require(gamma.size() == X.cols(), "gamma.size()", gamma.size(), "the columns of X");
  require(beta.size() == X.cols(), "beta.size()", beta.size(), "the columns of X");
  check_standardised<R>(X.cols(), epsilon);
  Matrix<R> Y(X.rows(), X.cols());
  for (Eigen::Index t = 0; t < X.rows(); ++t) {
    const Standardised<R> n = standardised<R>(X.row(t), epsilon);
    for (Eigen::Index c = 0; c < X.cols(); ++c) Y(t, c) = gamma[c] * n.x[c] + beta[c];
  }
  return Y;
}

template <Real R>
struct LayerNormGrad {
  Matrix<R> x;      ///< [T, C]
  Vector<R> gamma;  ///< [C]
  Vector<R> beta;   ///< [C]
};

/// The adjoint, with g_c = dy_c gamma_c: dx_c = (g_c - 1/C sum g - n_c 1/C sum g n) / sigma,
/// d gamma_c = sum_t dy_tc n_tc, d beta_c = sum_t dy_tc.
/// @throws std::invalid_argument as layernorm does, and if the shape of dy is not that of X.
template <Real R>
LayerNormGrad<R> layernorm_grad(const Matrix<R>& X, const Vector<R>& gamma,
                                const std::type_identity_t<R>& epsilon, const Matrix<R>& grad_y) {
  require(gamma.size() == X.cols(), "gamma.size()", gamma.size(), "the columns of X");
  require(grad_y.rows() == X.rows(), "grad_y.rows()", grad_y.rows(), "the rows of X");
  require(grad_y.cols() == X.cols(), "grad_y.cols()", grad_y.cols(), "the columns of X");
  check_standardised<R>(X.cols(), epsilon);
  const int width = static_cast<int>(X.cols());
  LayerNormGrad<R> grad{Matrix<R>(X.rows(), width), zeros<R>(width), zeros<R>(width)};
  const R count(width);
  for (Eigen::Index t = 0; t < X.rows(); ++t) {
    const Standardised<R> n = standardised<R>(X.row(t), epsilon);
    Vector<R> g(width);
    for (int c = 0; c < width; ++c) {
      g[c] = grad_y(t, c) * gamma[c];
      grad.gamma[c] += grad_y(t, c) * n.x[c];
      grad.beta[c] += grad_y(t, c);
    }
    const R mean = sum(g) / count, along = dot(g, n.x) / count;
    for (int c = 0; c < width; ++c) {
      grad.x(t, c) = (g[c] - mean - n.x[c] * along) / n.deviation;
    }
  }
  return grad;
}

}  // namespace plumbline::reference
