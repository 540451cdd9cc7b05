// SPDX-License-Identifier: Apache-2.0
// The adaptor of CoPE, whose positions come from the queries and keys.
#pragma once

#include "reference/attention/cope.hpp"
#include "reference/methods/evaluate.hpp"

namespace plumbline::reference::methods {

/// position_embedding [heads, positions, head_dim].
struct CopeMethod {
  static constexpr const char* name = "cope";
  static constexpr Kind kind = Kind::logits;
  static std::vector<const char*> options() { return {"positions"}; }
  static std::vector<NamedShape> parameters(const Problem& p) {
    return {
        {"position_embedding", {p.shape.heads, whole_option(p, "positions"), p.shape.head_dim}}};
  }

  template <Real R>
  static Matrix<R> embedding(const MethodInputs<R>& in, int h) {
    const int positions = in.whole_option("positions");
    return in.matrix("position_embedding", h * positions, positions, in.shape().head_dim);
  }

  template <Real R>
  static std::vector<Matrix<R>> table(const MethodInputs<R>& in, const AttentionInputs<R>& x) {
    std::vector<Matrix<R>> tables;
    for_each_row(x, [&](int b, int h, int r, const std::vector<int>& visible) {
      const AttentionShape& s = x.shape;
      if (r == 0) tables.push_back(zeros<R>(s.queries, s.keys));
      const Vector<R> q = x.q[b * s.heads + h].row(r);
      const Matrix<R>& K = x.k[b * s.kv_heads + s.kv_head(h)];
      const Vector<R> logits = cope_row(q, K, visible, x.scale, embedding(in, h)).logits;
      for (std::size_t n = 0; n < visible.size(); ++n) tables.back()(r, visible[n]) = logits[n];
    });
    return tables;
  }

  template <Real R>
  static void add_grad(const MethodInputs<R>& in, const AttentionInputs<R>& x,
                       const std::vector<Matrix<R>>& grad_table, AttentionGrad<R, Matrix<R>>& grad,
                       Tensors<R>& out) {
    const AttentionShape& s = x.shape;
    const int positions = in.whole_option("positions");
    for_each_row(x, [&](int b, int h, int r, const std::vector<int>& visible) {
      const int head = b * s.heads + h, kv = b * s.kv_heads + s.kv_head(h);
      Vector<R> grad_logits(static_cast<Eigen::Index>(visible.size()));
      for (std::size_t n = 0; n < visible.size(); ++n) {
        grad_logits[n] = grad_table[head](r, visible[n]);
      }
      const Vector<R> q = x.q[head].row(r);
      const CopeGrad<R> by_row =
          cope_row_grad(q, x.k[kv], visible, x.scale, embedding(in, h), grad_logits);
      for (int d = 0; d < s.head_dim; ++d) grad.q[head](r, d) += by_row.q[d];
      for (Eigen::Index n = 0; n < grad.k[kv].size(); ++n) {
        grad.k[kv].data()[n] += by_row.k.data()[n];
      }
      add(out, "grad_position_embedding", {s.heads, positions, s.head_dim},
          static_cast<std::size_t>(h) * positions * s.head_dim, by_row.table);
    });
  }

 private:
  template <Real R, class Use>
  static void for_each_row(const AttentionInputs<R>& x, const Use& use) {
    const AttentionShape& s = x.shape;
    for (int b = 0; b < s.batch; ++b) {
      for (int h = 0; h < s.heads; ++h) {
        for (int r = 0; r < s.queries; ++r) {
          use(b, h, r, visible_keys(x.mask, b, r + s.query_offset, s.keys));
        }
      }
    }
  }
};

}  // namespace plumbline::reference::methods
