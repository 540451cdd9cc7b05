// SPDX-License-Identifier: Apache-2.0
// CoPE's logits of a whole problem: attention/cope.hpp for every batch, head and query row.
#pragma once

#include <vector>

#include "reference/attention/attention.hpp"
#include "reference/attention/cope.hpp"

namespace plumbline::reference {

/// use(b, h, r, visible keys) for every query row.
template <Real R, class Use>
void for_each_query_row(const AttentionInputs<R>& x, const Use& use) {
  const AttentionShape& s = x.shape;
  for (int b = 0; b < s.batch; ++b) {
    for (int h = 0; h < s.heads; ++h) {
      for (int r = 0; r < s.queries; ++r) {
        use(b, h, r, visible_keys(x.mask, b, r + s.first_position(b), s.keys, h));
      }
    }
  }
}

/// The logits [batch * heads], each [queries, keys], 0 for keys that are not visible.
/// `embedding_of(h)` is the table of head h, [N, head_dim]. @throws as cope_row does.
template <Real R, class EmbeddingOf>
std::vector<Matrix<R>> cope_tables(const AttentionInputs<R>& x, const EmbeddingOf& embedding_of) {
  std::vector<Matrix<R>> tables;
  for_each_query_row(x, [&](int b, int h, int r, const std::vector<int>& visible) {
    const AttentionShape& s = x.shape;
    if (r == 0) tables.push_back(zeros<R>(s.queries, s.keys));
    const Vector<R> q = x.q[b * s.heads + h].row(r);
    const Matrix<R>& K = x.k[b * s.kv_heads + s.kv_head(h)];
    const Vector<R> logits = cope_row(q, K, visible, x.scale, embedding_of(h)).logits;
    for (std::size_t n = 0; n < visible.size(); ++n) tables.back()(r, visible[n]) = logits[n];
  });
  return tables;
}

/// The adjoint: adds to grad_q and grad_k, shaped as x.q and x.k, and calls
/// add_embedding_grad(h, gradient [N, head_dim]) for every query row of head h.
template <Real R, class EmbeddingOf, class AddEmbeddingGrad>
void cope_tables_grad(const AttentionInputs<R>& x, const EmbeddingOf& embedding_of,
                      const std::vector<Matrix<R>>& grad_tables, std::vector<Matrix<R>>& grad_q,
                      std::vector<Matrix<R>>& grad_k, const AddEmbeddingGrad& add_embedding_grad) {
  const AttentionShape& s = x.shape;
  for_each_query_row(x, [&](int b, int h, int r, const std::vector<int>& visible) {
    const int head = b * s.heads + h, kv = b * s.kv_heads + s.kv_head(h);
    Vector<R> grad_logits(static_cast<Eigen::Index>(visible.size()));
    for (std::size_t n = 0; n < visible.size(); ++n) {
      grad_logits[n] = grad_tables[head](r, visible[n]);
    }
    const Vector<R> q = x.q[head].row(r);
    const CopeGrad<R> by_row =
        cope_row_grad(q, x.k[kv], visible, x.scale, embedding_of(h), grad_logits);
    for (int d = 0; d < s.head_dim; ++d) grad_q[head](r, d) += by_row.q[d];
    for (Eigen::Index n = 0; n < grad_k[kv].size(); ++n) {
      grad_k[kv].data()[n] += by_row.k.data()[n];
    }
    add_embedding_grad(h, by_row.table);
  });
}

}  // namespace plumbline::reference
