// SPDX-License-Identifier: Apache-2.0
// Learnable positions: a table of one vector a position, added to the embeddings. Source: Gehring
// et al., arXiv:1705.03122, section 3.1; GPT-2's wpe and BERT's position_embeddings.
#pragma once

#include <numeric>
#include <vector>

#include "reference/core/preconditions.hpp"
#include "reference/model/embedding.hpp"

namespace plumbline::reference {

/// offset, .., offset + length - 1. @throws std::invalid_argument unless all are rows of the table.
inline std::vector<int> learnable_ids(int rows, int offset, int length) {
  require(offset >= 0, "offset", offset, "at least 0");
  require(length >= 0, "length", length, "at least 0");
  require(length <= rows - offset, "length", length, "at most the table's positions from offset");
  std::vector<int> ids(length);
  std::iota(ids.begin(), ids.end(), offset);
  return ids;
}

/// p_t = W_(t + offset), t = 0..length-1. There is nothing beyond the table: no extrapolation.
/// Exact. Shapes: W [rows, C], result [length, C]. Initialised from N(0, 0.02^2).
/// @throws std::invalid_argument unless 0 <= offset, 0 <= length and offset + length <= rows.
template <Real R>
Matrix<R> learnable_positions(const Matrix<R>& table, int offset, int length) {
  return embedding(table, learnable_ids(static_cast<int>(table.rows()), offset, length));
}

/// The adjoint: dW_(t + offset) = dp_t, other rows 0. Shapes: dp [length, C], result [rows, C].
/// @throws std::invalid_argument as learnable_positions does, length being the rows of dp.
template <Real R>
Matrix<R> learnable_positions_grad(int rows, int offset, const Matrix<R>& grad_positions) {
  const int length = static_cast<int>(grad_positions.rows());
  return embedding_grad(rows, learnable_ids(rows, offset, length), grad_positions);
}

}  // namespace plumbline::reference
