// SPDX-License-Identifier: Apache-2.0
// The adaptor of CoPE, whose positions come from the queries and keys.
#pragma once

#include "reference/attention/cope_tables.hpp"
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
    return cope_tables(x, [&](int h) { return embedding(in, h); });
  }

  template <Real R>
  static void add_grad(const MethodInputs<R>& in, const AttentionInputs<R>& x,
                       const std::vector<Matrix<R>>& grad_table, AttentionGrad<R, Matrix<R>>& grad,
                       Tensors<R>& out) {
    const AttentionShape& s = x.shape;
    const int positions = in.whole_option("positions");
    cope_tables_grad(
        x, [&](int h) { return embedding(in, h); }, grad_table, grad.q, grad.k,
        [&](int h, const Matrix<R>& by_row) {
          add(out, "grad_position_embedding", {s.heads, positions, s.head_dim},
              static_cast<std::size_t>(h) * positions * s.head_dim, by_row);
        });
  }
};

}  // namespace plumbline::reference::methods
