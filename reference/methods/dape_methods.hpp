// SPDX-License-Identifier: Apache-2.0
// Adaptors of DAPE, both versions, over any method of kind bias.
#pragma once

#include <algorithm>
#include <numeric>

#include "reference/attention/dape.hpp"
#include "reference/methods/cable_methods.hpp"
#include "reference/methods/distance_methods.hpp"
#include "reference/methods/method.hpp"

namespace plumbline::reference::methods {

/// The network's tensors: hidden_weight [hidden, 2 heads * taps], hidden_bias [hidden],
/// output_weight [heads, hidden * taps], output_bias [heads]; taps is 1 in version 1, 3 in 2.
struct DapeNetwork {
  int taps;

  std::vector<NamedShape> parameters(const Problem& p) const {
    const int heads = p.shape.heads, hidden = whole_option(p, "hidden");
    return {{"hidden_weight", {hidden, 2 * heads * taps}},
            {"hidden_bias", {hidden}},
            {"output_weight", {heads, hidden * taps}},
            {"output_bias", {heads}}};
  }

  template <Real R>
  DapeLayers<R> layers(const MethodInputs<R>& in) const {
    const int heads = in.shape().heads, hidden = in.whole_option("hidden");
    return {{in.matrix("hidden_weight", 0, hidden, 2 * heads * taps),
             in.vector("hidden_bias", 0, hidden), taps},
            {in.matrix("output_weight", 0, heads, hidden * taps),
             in.vector("output_bias", 0, heads), taps}};
  }

  /// How many keys the network sees of the query at position i.
  int seen(int i, int keys) const { return taps == 1 ? keys : i + 1; }

  template <Real R>
  void add_grad(const MethodInputs<R>& in, const DapeGrad<R>& grad, Tensors<R>& out) const {
    const std::vector<NamedShape> shapes = parameters(in.problem());
    add(out, "grad_hidden_weight", shapes[0].shape, 0, grad.first.weight);
    add(out, "grad_hidden_bias", shapes[1].shape, 0, grad.first.bias);
    add(out, "grad_output_weight", shapes[2].shape, 0, grad.second.weight);
    add(out, "grad_output_bias", shapes[3].shape, 0, grad.second.bias);
  }
};

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
                            AttentionGrad<R, Matrix<R>>& grad) {
  const AttentionShape& s = x.shape;
  for (int h = 0; h < s.heads; ++h) {
    const int head = b * s.heads + h, kv = b * s.kv_heads + s.kv_head(h);
    for (int j = 0; j < s.keys; ++j) {
      const R by_score = x.scale * grad_A(h, j);
      for (int d = 0; d < s.head_dim; ++d) {
        grad.q[head](r, d) += by_score * x.k[kv](j, d);
        grad.k[kv](j, d) += by_score * x.q[head](r, d);
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

template <Real R>
std::vector<Matrix<R>> bias_tables(const AttentionShape& s, const BiasFunctions<R>& bias) {
  std::vector<Matrix<R>> tables;
  for (int head = 0; head < s.batch * s.heads; ++head) {
    tables.push_back(bias.table(head / s.heads, head % s.heads));
  }
  return tables;
}

/// The logits [batch * heads][queries, keys], all of them.
template <Real R>
std::vector<Matrix<R>> dape_tables(const MethodInputs<R>& in, const AttentionInputs<R>& x,
                                   const BiasFunctions<R>& bias, const DapeNetwork& network) {
  const AttentionShape& s = x.shape;
  const DapeLayers<R> layers = network.layers(in);
  const std::vector<Matrix<R>> biases = bias_tables(s, bias);
  std::vector<Matrix<R>> tables = biases;
  for (int b = 0; b < s.batch; ++b) {
    for (int r = 0; r < s.queries; ++r) {
      const Matrix<R> logits = dape_row(all_scaled_scores(x, b, r), rows_of_heads(biases, s, b, r),
                                        layers, network.seen(r + s.query_offset, s.keys));
      for (int h = 0; h < s.heads; ++h) tables[b * s.heads + h].row(r) = logits.row(h);
    }
  }
  return tables;
}

template <Real R>
void dape_tables_grad(const MethodInputs<R>& in, const AttentionInputs<R>& x,
                      const BiasFunctions<R>& bias, const DapeNetwork& network,
                      const std::vector<Matrix<R>>& grad_table, AttentionGrad<R, Matrix<R>>& grad,
                      Tensors<R>& out) {
  const AttentionShape& s = x.shape;
  const DapeLayers<R> layers = network.layers(in);
  const std::vector<Matrix<R>> biases = bias_tables(s, bias);
  std::vector<Matrix<R>> grad_biases = biases;  // every row is overwritten
  for (int b = 0; b < s.batch; ++b) {
    for (int r = 0; r < s.queries; ++r) {
      const DapeGrad<R> by_row = dape_row_grad(
          all_scaled_scores(x, b, r), rows_of_heads(biases, s, b, r), layers,
          network.seen(r + s.query_offset, s.keys), rows_of_heads(grad_table, s, b, r));
      all_scaled_scores_grad(x, b, r, by_row.A, grad);
      for (int h = 0; h < s.heads; ++h) grad_biases[b * s.heads + h].row(r) = by_row.B.row(h);
      network.add_grad(in, by_row, out);
    }
  }
  for (int head = 0; head < s.batch * s.heads; ++head) {
    bias.add_grad(head / s.heads, head % s.heads, grad_biases[head], out);
  }
}

/// The parameters of the base method, then the network's.
template <class Base, int version>
struct Dape {
  static constexpr Kind kind = Kind::logits;
  static constexpr DapeNetwork network{version == 1 ? 1 : 3};

  static std::vector<const char*> options() {
    std::vector<const char*> all = Base::options();
    all.push_back("hidden");
    return all;
  }
  static std::vector<NamedShape> parameters(const Problem& p) {
    std::vector<NamedShape> all = Base::parameters(p);
    for (const NamedShape& shape : network.parameters(p)) all.push_back(shape);
    return all;
  }
  template <Real R>
  static std::vector<Matrix<R>> table(const MethodInputs<R>& in, const AttentionInputs<R>& x) {
    return dape_tables(in, x, bias_functions<Base>(in), network);
  }
  template <Real R>
  static void add_grad(const MethodInputs<R>& in, const AttentionInputs<R>& x,
                       const std::vector<Matrix<R>>& grad_table, AttentionGrad<R, Matrix<R>>& grad,
                       Tensors<R>& out) {
    dape_tables_grad(in, x, bias_functions<Base>(in), network, grad_table, grad, out);
  }
};

struct DapeV1AlibiMethod : Dape<AlibiMethod, 1> {
  static constexpr const char* name = "dape_v1_alibi";
};
struct DapeV1KerpleLogMethod : Dape<KerpleLogMethod, 1> {
  static constexpr const char* name = "dape_v1_kerple_log";
};
struct DapeV1CableMethod : Dape<CableMethod, 1> {
  static constexpr const char* name = "dape_v1_cable";
};
struct DapeV2AlibiMethod : Dape<AlibiMethod, 2> {
  static constexpr const char* name = "dape_v2_alibi";
};
struct DapeV2KerpleLogMethod : Dape<KerpleLogMethod, 2> {
  static constexpr const char* name = "dape_v2_kerple_log";
};
struct DapeV2CableMethod : Dape<CableMethod, 2> {
  static constexpr const char* name = "dape_v2_cable";
};

}  // namespace plumbline::reference::methods
