// SPDX-License-Identifier: Apache-2.0
// Rows of a table by their number. Source: the embedding layer, Vaswani et al., arXiv:1706.03762,
// section 3.4, without the factor sqrt(C), which GPT-2 and BERT do not have.
#pragma once

#include <vector>

#include "reference/core/linear_algebra.hpp"
#include "reference/core/preconditions.hpp"

namespace plumbline::reference {

/// x_t = W_(ids[t]). Exact. Shapes: W [rows, C], ids [T], result [T, C].
/// @throws std::invalid_argument for a number that is no row of the table.
template <Real R>
Matrix<R> embedding(const Matrix<R>& table, const std::vector<int>& ids) {
  Matrix<R> x(static_cast<Eigen::Index>(ids.size()), table.cols());
  for (std::size_t t = 0; t < ids.size(); ++t) {
    require(0 <= ids[t] && ids[t] < table.rows(), "ids", ids[t], "a row of the table");
    x.row(static_cast<Eigen::Index>(t)) = table.row(ids[t]);
  }
  return x;
}

/// The adjoint: dW_r = sum of dx_t over the t with ids[t] = r, in the order of t; 0 for a row that
/// no number names. Shapes: dx [T, C], result [rows, C].
/// @throws std::invalid_argument if rows < 0, T differs, or a number is no row of the table.
template <Real R>
Matrix<R> embedding_grad(int rows, const std::vector<int>& ids, const Matrix<R>& grad_x) {
  require(rows >= 0, "rows", rows, "at least 0");
  require(grad_x.rows() == static_cast<Eigen::Index>(ids.size()), "grad_x.rows()", grad_x.rows(),
          "the number of ids");
  Matrix<R> grad = zeros<R>(rows, static_cast<int>(grad_x.cols()));
  for (std::size_t t = 0; t < ids.size(); ++t) {
    require(0 <= ids[t] && ids[t] < rows, "ids", ids[t], "a row of the table");
    for (Eigen::Index c = 0; c < grad.cols(); ++c) {
      grad(ids[t], c) += grad_x(static_cast<Eigen::Index>(t), c);
    }
  }
  return grad;
}

}  // namespace plumbline::reference
