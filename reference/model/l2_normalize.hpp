// SPDX-License-Identifier: Apache-2.0
// Rows of length 1, for the cosine similarity of embeddings.
#pragma once

#include <cmath>
#include <type_traits>

#include "reference/core/linear_algebra.hpp"
#include "reference/core/preconditions.hpp"
#include "reference/core/primitives.hpp"
#include "reference/core/sum.hpp"

namespace plumbline::reference {

/// What PyTorch's normalize takes for epsilon, and with it sentence-transformers' cosine.
inline constexpr double pytorch_normalize_epsilon = 1e-12;

/// The length that a row is divided by, and whether it is the row's own (1) or epsilon (0).
template <Real R>
struct RowLength {
  R length;
  R own;
};

/// @throws std::invalid_argument unless epsilon is in [1e-150, 1e150], where its square is a number
/// above 0.
template <Real R>
void check_least_length(const R& epsilon) {
  const double least = representative(epsilon);
  require(1e-150 <= least && least <= 1e150, "epsilon", least, "between 1e-150 and 1e150");
}

/// max(|x|, epsilon), as sqrt(max(|x|^2, epsilon^2)): a row of zeros has a derivative, too.
/// @throws std::invalid_argument as check_least_length does.
template <Real R>
RowLength<R> row_length(std::span<const R> x, const std::type_identity_t<R>& epsilon) {
  check_least_length<R>(epsilon);
  const R squares = dot(x, x), floor = epsilon * epsilon;
  return {sqrt(maximum(squares, floor)), step(squares - floor)};
}

/// y_t = x_t / max(|x_t|, epsilon). Source: PyTorch's torch.nn.functional.normalize, p = 2.
/// Shapes: X [T, C], result [T, C]. Domain: any x, |x|^2 below overflow.
/// @throws std::invalid_argument as check_least_length does.
template <Real R>
Matrix<R> l2_normalize(const Matrix<R>& X, const std::type_identity_t<R>& epsilon) {
  check_least_length<R>(epsilon);
  Matrix<R> Y(X.rows(), X.cols());
  for (int t = 0; t < X.rows(); ++t) {
    const R length = row_length(row(X, t), epsilon).length;
    for (int c = 0; c < X.cols(); ++c) Y(t, c) = X(t, c) / length;
  }
  return Y;
}

/// The adjoint, with n = max(|x|, epsilon) and y = x / n: dx = (dy - y (y . dy)) / n where
/// |x| > epsilon, dy / n elsewhere.
/// @throws std::invalid_argument as l2_normalize does, and if the shape of dy is not that of X.
template <Real R>
Matrix<R> l2_normalize_grad(const Matrix<R>& X, const std::type_identity_t<R>& epsilon,
                            const Matrix<R>& grad_y) {
  require(grad_y.rows() == X.rows(), "grad_y.rows()", grad_y.rows(), "the rows of X");
  require(grad_y.cols() == X.cols(), "grad_y.cols()", grad_y.cols(), "the columns of X");
  const Matrix<R> Y = l2_normalize(X, epsilon);
  Matrix<R> grad(X.rows(), X.cols());
  for (int t = 0; t < X.rows(); ++t) {
    const RowLength<R> n = row_length(row(X, t), epsilon);
    const R along = n.own * dot(row(Y, t), row(grad_y, t));
    for (int c = 0; c < X.cols(); ++c) grad(t, c) = (grad_y(t, c) - Y(t, c) * along) / n.length;
  }
  return grad;
}

}  // namespace plumbline::reference
