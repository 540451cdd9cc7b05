// SPDX-License-Identifier: Apache-2.0
// DAPE's logits of a whole problem: attention/dape.hpp for every batch and query row.
#pragma once

#include <numeric>
#include <vector>

#include "reference/attention/attention.hpp"
#include "reference/attention/dape.hpp"

namespace plumbline::reference {

/// A of one query row: the scaled products of all heads [heads, keys], no key hidden.
template <Real R>
Matrix<R> all_scaled_scores(const AttentionInputs<R>& x, int b, int r) {
  const AttentionShape& s = x.shape;
  std::vector<int> all(s.keys);
  std::iota(all.begin(), all.end(), 0);
  Matrix<R> A(s.heads, s.keys);
  for (int h = 0; h < s.heads; ++h) {
    const Vector<R> q = x.q[b * s.heads + h].row(r);
    A.row(h) = scaled_scores(q, x.k[b * s.kv_heads + s.kv_head(h)], all, x.scale).transpose();
  }
  return A;
}

/// The adjoint: dq = scale sum_j dA_j k_j, dk_j += scale dA_j q.
template <Real R>
void all_scaled_scores_grad(const AttentionInputs<R>& x, int b, int r, const Matrix<R>& grad_A,
                            std::vector<Matrix<R>>& grad_q, std::vector<Matrix<R>>& grad_k) {
  const AttentionShape& s = x.shape;
  for (int h = 0; h < s.heads; ++h) {
    const int head = b * s.heads + h, kv = b * s.kv_heads + s.kv_head(h);
    for (int j = 0; j < s.keys; ++j) {
      const R by_score = x.scale * grad_A(h, j);
      for (int d = 0; d < s.head_dim; ++d) {
        grad_q[head](r, d) += by_score * x.k[kv](j, d);
        grad_k[kv](j, d) += by_score * x.q[head](r, d);
      }
    }
  }
}

/// One query row of the biases of all heads of sequence b: [heads, keys].
template <Real R>
Matrix<R> rows_of_heads(const std::vector<Matrix<R>>& tables, const AttentionShape& s, int b,
                        int r) {
  Matrix<R> rows(s.heads, s.keys);
  for (int h = 0; h < s.heads; ++h) rows.row(h) = tables[b * s.heads + h].row(r);
  return rows;
}

/// How many keys f sees of the query in row r: of version 2, whose layers have width 3, those up to
/// the query's own; else all.
template <Real R>
int seen_by_network(const AttentionShape& s, const DapeLayers<R>& layers, int r) {
  return layers.first.width == 1 ? s.keys : r + s.query_offset + 1;
}

/// The logits [batch * heads], each [queries, keys], of all keys, visible or not. `biases` are the
/// additive method's, of the same shapes.
template <Real R>
std::vector<Matrix<R>> dape_tables(const AttentionInputs<R>& x,
                                   const std::vector<Matrix<R>>& biases,
                                   const DapeLayers<R>& layers) {
  const AttentionShape& s = x.shape;
  require_rows_at_keys(s);
  require(s.query_offsets.empty() && s.query_offset >= 0, "query_offset", s.first_position(0),
          "at least 0 and the same for all sequences, with DAPE");
  std::vector<Matrix<R>> tables = biases;  // every row is overwritten
  for (int b = 0; b < s.batch; ++b) {
    for (int r = 0; r < s.queries; ++r) {
      const Matrix<R> logits = dape_row(all_scaled_scores(x, b, r), rows_of_heads(biases, s, b, r),
                                        layers, seen_by_network(s, layers, r));
      for (int h = 0; h < s.heads; ++h) tables[b * s.heads + h].row(r) = logits.row(h);
    }
  }
  return tables;
}

/// The adjoint: adds to grad_q and grad_k, shaped as x.q and x.k, calls
/// add_network_grad(DapeGrad) for every query row and returns the gradients of the biases.
template <Real R, class AddNetworkGrad>
std::vector<Matrix<R>> dape_tables_grad(
    const AttentionInputs<R>& x, const std::vector<Matrix<R>>& biases, const DapeLayers<R>& layers,
    const std::vector<Matrix<R>>& grad_tables, std::vector<Matrix<R>>& grad_q,
    std::vector<Matrix<R>>& grad_k, const AddNetworkGrad& add_network_grad) {
  const AttentionShape& s = x.shape;
  std::vector<Matrix<R>> grad_biases = biases;  // every row is overwritten
  for (int b = 0; b < s.batch; ++b) {
    for (int r = 0; r < s.queries; ++r) {
      const DapeGrad<R> by_row =
          dape_row_grad(all_scaled_scores(x, b, r), rows_of_heads(biases, s, b, r), layers,
                        seen_by_network(s, layers, r), rows_of_heads(grad_tables, s, b, r));
      all_scaled_scores_grad(x, b, r, by_row.A, grad_q, grad_k);
      for (int h = 0; h < s.heads; ++h) grad_biases[b * s.heads + h].row(r) = by_row.B.row(h);
      add_network_grad(by_row);
    }
  }
  return grad_biases;
}

}  // namespace plumbline::reference
