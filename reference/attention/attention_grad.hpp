// SPDX-License-Identifier: Apache-2.0
// The backward pass of attention, by hand. Read in double it is the oracle; its derivatives are
// those of the dual reading of attention.hpp, which a test shows.
#pragma once

#include <optional>
#include <vector>

#include "reference/attention/attention.hpp"

namespace plumbline::reference {

/// Where the gradients of one (batch, head) add up.
template <Real R, DifferentiableBias<R> B>
struct AttentionHeadGrad {
  Matrix<R>& k;            ///< [keys, head_dim]; shared by the query heads of a group
  Matrix<R>& v;            ///< [keys, value_dim]; likewise
  typename B::Grad& bias;  ///< parameters of the bias
  R& ssmax_scale;          ///< untouched without SSMax
  R& sink;                 ///< untouched without a sink
};

/// Adds one row's gradients to `grad` and returns dq_i, for a loss with dL/do_i = grad_output and
/// dL/dlse_i = grad_lse. With z_j = scale q_i . k_j + b_ij, s_j = c z_j, c = s_h ln n (or 1):
///   dp_j = do . v_j,  D = sum_j p_j dp_j,  ds_j = p_j (dp_j - D + dlse),  dz_j = c ds_j,
///   dq = scale sum_j dz_j k_j,  dk_j += scale dz_j q,  dv_j += p_j do,  db_ij = dz_j,
///   ds_h += ln n sum_j ds_j z_j;
/// with a softcap, dz_j times softcap_derivative(scale q_i . k_j) takes the place of dz_j in dq and
/// dk. A sink with probability p_z has dz = p_z (dlse - D). With dropout dp_j = m_j (do . v_j) and
/// dv_j += m_j p_j do.
/// Source: the derivative of BAM, definition 1 and section 2.4, term by term; of Gemma 2,
/// section 2; of gpt-oss's model card, section 2.2. Arguments as for attention_row. A row that sees
/// no key has no gradients but that of its sink.
/// @throws std::invalid_argument if shapes do not agree or a visible key does not exist.
template <Real R, DifferentiableBias<R> B>
Vector<R> attention_row_grad(const Vector<R>& q_i, const Matrix<R>& K, const Matrix<R>& V,
                             const std::vector<int>& visible, const std::type_identity_t<R>& scale,
                             const B& bias, int i,
                             const std::optional<std::type_identity_t<R>>& ssmax,
                             const Vector<R>& grad_output, const std::type_identity_t<R>& grad_lse,
                             AttentionHeadGrad<R, B> grad,
                             const std::optional<std::type_identity_t<R>>& softcap = std::nullopt,
                             const std::optional<std::type_identity_t<R>>& sink = std::nullopt,
                             const Vector<R>& dropout = {}) {
  require(V.rows() == K.rows(), "V.rows()", V.rows(), "the rows of K");
  require(grad_output.size() == V.cols(), "grad_output.size()", grad_output.size(),
          "the columns of V");
  require(grad.k.rows() == K.rows(), "grad.k.rows()", grad.k.rows(), "the rows of K");
  require(grad.k.cols() == K.cols(), "grad.k.cols()", grad.k.cols(), "the columns of K");
  require(grad.v.rows() == V.rows(), "grad.v.rows()", grad.v.rows(), "the rows of V");
  require(grad.v.cols() == V.cols(), "grad.v.cols()", grad.v.cols(), "the columns of V");
  const int n = static_cast<int>(visible.size());
  const Vector<R> z = biased_scores(q_i, K, visible, scale, bias, i, softcap);
  const AttentionRow<R> attended =
      attention_row(q_i, K, V, visible, scale, bias, i, ssmax, softcap, sink, dropout);
  if (visible.empty()) {
    if (sink) grad.sink += attended.sink * grad_lse;
    return zeros<R>(static_cast<int>(q_i.size()));
  }
  const Vector<R>& p = attended.probability;

  Vector<R> grad_p(n);
  for (int j = 0; j < n; ++j) grad_p[j] = dot(view(grad_output), row(V, visible[j]));
  grad_p = dropped(grad_p, dropout);
  const Vector<R> p_of_v = dropped(p, dropout);
  const R common = dot(p, grad_p);
  Vector<R> grad_s(n);
  for (int j = 0; j < n; ++j) grad_s[j] = p[j] * (grad_p[j] - common + grad_lse);

  if (sink) grad.sink += attended.sink * (grad_lse - common);

  Vector<R> grad_z = grad_s;
  if (ssmax) {
    const R factor = ssmax_factor(*ssmax, n);
    for (R& g : grad_z) g = factor * g;
    grad.ssmax_scale += dot(grad_s, z) * log(R(n));
  }

  Vector<R> grad_x = grad_z;  // of the scaled products
  if (softcap) {
    const Vector<R> x = scaled_scores(q_i, K, visible, scale);
    for (int j = 0; j < n; ++j) grad_x[j] = softcap_derivative(x[j], *softcap) * grad_z[j];
  }

  Vector<R> grad_q = weighted_sum(grad_x, K, visible);
  for (R& g : grad_q) g = scale * g;
  for (int j = 0; j < n; ++j) {
    const R by_score = scale * grad_x[j];
    for (Eigen::Index d = 0; d < K.cols(); ++d) grad.k(visible[j], d) += by_score * q_i[d];
    for (Eigen::Index d = 0; d < V.cols(); ++d) grad.v(visible[j], d) += p_of_v[j] * grad_output[d];
    bias.accumulate_grad(grad.bias, i, visible[j], grad_z[j]);
  }
  return grad_q;
}

/// What comes from the rest of the model: dL/do and dL/dlse of every row.
template <Real R>
struct AttentionUpstream {
  std::vector<Matrix<R>> output;  ///< [batch * heads], each [queries, value_dim]
  std::vector<Vector<R>> lse;     ///< [batch * heads], each [queries]; or empty: 0
};

template <Real R, class BiasGrad>
struct AttentionGrad {
  std::vector<Matrix<R>> q;     ///< [batch * heads], each [queries, head_dim]
  std::vector<Matrix<R>> k, v;  ///< [batch * kv_heads]: summed over the query heads of a group
  std::vector<BiasGrad> bias;   ///< [batch * heads]; a parameter shared by a batch sums over it
  std::vector<R> ssmax_scale;   ///< [heads], summed over the batch; empty without SSMax
  std::vector<R> sinks;         ///< [heads], likewise; empty without sinks
};

/// attention_row_grad for every batch, head and query row. Arguments as for attention.
/// @throws std::invalid_argument if the inputs or the upstream gradients do not fit together.
template <Real R, class BiasOf>
auto attention_grad(const AttentionInputs<R>& x, const BiasOf& bias_of,
                    const AttentionUpstream<R>& upstream) {
  check(x);
  const AttentionShape& s = x.shape;
  const int heads = s.batch * s.heads;
  require(static_cast<int>(upstream.output.size()) == heads, "upstream.output.size()",
          upstream.output.size(), "one matrix a head");
  require(upstream.lse.empty() || static_cast<int>(upstream.lse.size()) == heads,
          "upstream.lse.size()", upstream.lse.size(), "one vector a head, or none");
  using B = decltype(bias_of(0, 0));
  AttentionGrad<R, typename B::Grad> grad;
  grad.q.assign(heads, zeros<R>(s.queries, s.head_dim));
  grad.k.assign(static_cast<std::size_t>(s.batch) * s.kv_heads, zeros<R>(s.keys, s.head_dim));
  grad.v.assign(grad.k.size(), zeros<R>(s.keys, s.value_width()));
  grad.ssmax_scale.assign(x.ssmax_scale.size(), R(0.0));
  grad.sinks.assign(x.sinks.size(), R(0.0));

  R unused(0.0);
  for (int b = 0; b < s.batch; ++b) {
    for (int h = 0; h < s.heads; ++h) {
      const int head = b * s.heads + h, kv = b * s.kv_heads + s.kv_head(h);
      const Matrix<R>& grad_output = upstream.output[head];
      require(grad_output.rows() == s.queries, "upstream.output rows", grad_output.rows(),
              "one a query row");
      require(grad_output.cols() == s.value_width(), "upstream.output columns", grad_output.cols(),
              "value_dim");
      if (!upstream.lse.empty()) {
        require(upstream.lse[head].size() == s.queries, "upstream.lse rows",
                upstream.lse[head].size(), "one a query row");
      }
      const B bias = bias_of(b, h);
      grad.bias.push_back(bias.zero_grad());
      R& ssmax_grad = x.ssmax_scale.empty() ? unused : grad.ssmax_scale[h];
      R& sink_grad = x.sinks.empty() ? unused : grad.sinks[h];
      const AttentionHeadGrad<R, B> sums{grad.k[kv], grad.v[kv], grad.bias.back(), ssmax_grad,
                                         sink_grad};
      for (int r = 0; r < s.queries; ++r) {
        const int i = r + s.first_position(b);
        const Vector<R> q_i = x.q[head].row(r), grad_o = grad_output.row(r);
        const R grad_lse = upstream.lse.empty() ? R(0.0) : upstream.lse[head][r];
        const auto visible = visible_keys(x.mask, b, i, s.keys, h);
        const Vector<R> grad_q = attention_row_grad(
            q_i, x.k[kv], x.v[kv], visible, x.scale, bias, i, ssmax_of(x, h), grad_o, grad_lse,
            sums, x.softcap, sink_of(x, h), dropout_of(x, head, r, visible));
        grad.q[head].row(r) = grad_q.transpose();
      }
    }
  }
  return grad;
}

}  // namespace plumbline::reference
