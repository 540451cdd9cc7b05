// SPDX-License-Identifier: Apache-2.0
// Scaled dot-product attention with a positional bias.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <type_traits>
#include <vector>

#include "reference/attention/softcap.hpp"
#include "reference/attention/softmax.hpp"
#include "reference/attention/ssmax.hpp"
#include "reference/bias/bias.hpp"
#include "reference/core/linear_algebra.hpp"
#include "reference/core/mask.hpp"
#include "reference/core/sum.hpp"

namespace plumbline::reference {

/// scale * q_i . k_j for the visible keys j, in their order.
/// Shapes: q_i [head_dim], K [keys, head_dim], result [visible].
/// @throws std::invalid_argument if head_dim differs or a visible key does not exist.
template <Real R>
Vector<R> scaled_scores(const Vector<R>& q_i, const Matrix<R>& K, const std::vector<int>& visible,
                        const std::type_identity_t<R>& scale) {
  require(K.cols() == q_i.size(), "K.cols()", K.cols(), "the size of q_i");
  for (int j : visible) require(0 <= j && j < K.rows(), "visible", j, "a row of K");
  Vector<R> scores(static_cast<Eigen::Index>(visible.size()));
  for (std::size_t n = 0; n < visible.size(); ++n) {
    scores[n] = scale * dot(view(q_i), row(K, visible[n]));
  }
  return scores;
}

/// scaled_scores, capped where there is a cap, + b_ij: the logits before SSMax. i is the query's
/// position.
/// @throws std::invalid_argument as scaled_scores does, or for what the bias refuses.
template <Real R, Bias<R> B>
Vector<R> biased_scores(const Vector<R>& q_i, const Matrix<R>& K, const std::vector<int>& visible,
                        const std::type_identity_t<R>& scale, const B& bias, int i,
                        const std::optional<std::type_identity_t<R>>& softcap = std::nullopt) {
  Vector<R> scores = scaled_scores(q_i, K, visible, scale);
  for (std::size_t n = 0; n < visible.size(); ++n) {
    if (softcap) scores[n] = softcapped(scores[n], *softcap);
    scores[n] += bias(i, visible[n]);
  }
  return scores;
}

/// The factors m_j of dropout times numbers of the visible keys; those alone without dropout.
template <Real R>
Vector<R> dropped(const Vector<R>& numbers, const Vector<R>& dropout) {
  Vector<R> result = numbers;
  for (Eigen::Index n = 0; n < dropout.size(); ++n) result[n] = dropout[n] * numbers[n];
  return result;
}

/// @throws std::invalid_argument if there is dropout, and not a factor for each visible key.
template <Real R>
void require_one_a_key(const Vector<R>& dropout, const std::vector<int>& visible) {
  require(dropout.size() == 0 || dropout.size() == static_cast<Eigen::Index>(visible.size()),
          "dropout.size()", dropout.size(), "one a visible key, or none");
}

template <Real R>
struct AttentionRow {
  bool sees_no_key = false;
  Vector<R> logits;       ///< [visible], in the order of the visible keys; after bias and SSMax
  Vector<R> probability;  ///< [visible], likewise
  R lse;                  ///< natural logarithm; 0 and without meaning where the row sees no key
  Vector<R> output;       ///< [head_dim]; 0 where the row sees no key
  R sink = R(0.0);        ///< probability of the sink; 0 without one
};

/// s_j = c (scale q_i . k_j + b_ij), p = softmax(s), o = sum_j p_j v_j over the visible keys, with
/// c = s_h ln n (SSMax, n visible keys) or, without SSMax, no factor at all. With a softcap,
/// softcapped(scale q_i . k_j) takes the place of scale q_i . k_j. With a sink z the softmax has
/// one more logit, z, to which no value belongs: p_j = exp(s_j) / (exp(z) + sum_k exp(s_k)); a row
/// that sees no key then has lse = z. Source: BAM, definition 1 and section 2.4; CABLE, section 3
/// (bias on the scaled logits); Gemma 2, section 2 (softcap); OpenAI, "gpt-oss-120b & gpt-oss-20b
/// Model Card", arXiv:2508.10925, section 2.2, and Xiao et al., arXiv:2309.17453, section 3.2
/// (sinks). With dropout o = sum_j m_j p_j v_j: m_j is 0 where p_j is dropped and 1 / (1 - rate)
/// where it is kept (Srivastava et al., JMLR 15, 2014, section 10, scaled in training; on the
/// weights of attention: Vaswani et al., arXiv:1706.03762, as its code has it).
/// Shapes: q_i [head_dim], K [keys, head_dim], V [keys, any], dropout [visible] or empty; i is the
/// query's position.
/// @throws std::invalid_argument if shapes do not agree or a visible key does not exist.
template <Real R, Bias<R> B>
AttentionRow<R> attention_row(const Vector<R>& q_i, const Matrix<R>& K, const Matrix<R>& V,
                              const std::vector<int>& visible, const std::type_identity_t<R>& scale,
                              const B& bias, int i,
                              const std::optional<std::type_identity_t<R>>& ssmax = std::nullopt,
                              const std::optional<std::type_identity_t<R>>& softcap = std::nullopt,
                              const std::optional<std::type_identity_t<R>>& sink = std::nullopt,
                              const Vector<R>& dropout = {}) {
  require(V.rows() == K.rows(), "V.rows()", V.rows(), "the rows of K");
  require_one_a_key(dropout, visible);
  Vector<R> logits = biased_scores(q_i, K, visible, scale, bias, i, softcap);
  if (visible.empty()) {
    const Vector<R> nothing = zeros<R>(static_cast<int>(V.cols()));
    if (sink) return {false, {}, {}, *sink, nothing, R(1.0)};
    return {true, {}, {}, R(0.0), nothing};
  }
  if (ssmax) {
    const R factor = ssmax_factor(*ssmax, static_cast<int>(visible.size()));
    for (R& logit : logits) logit = factor * logit;
  }
  const Eigen::Index n = logits.size();
  Vector<R> all = logits;
  if (sink) {
    all.conservativeResize(n + 1);
    all[n] = *sink;
  }
  const Softmax<R> attended = softmax(all);
  Vector<R> probability = attended.probability.head(n);
  Vector<R> output = weighted_sum(dropped(probability, dropout), V, visible);
  return {false,        std::move(logits), std::move(probability),
          attended.lse, std::move(output), sink ? attended.probability[n] : R(0.0)};
}

/// Sizes of a whole problem, as in kernel_abi/plumbline_kernel.h. Query row r of sequence b stands
/// at position r + first_position(b). Positions below 0 see no key; those from keys on are of
/// queries that are no keys, which methods with a number for each position do not have.
struct AttentionShape {
  int batch = 1, heads = 1, kv_heads = 1, queries = 1, keys = 1, head_dim = 1, query_offset = 0;
  /// [batch], in place of query_offset; or empty.
  std::vector<int> query_offsets = {};
  int value_dim = 0;  ///< columns of V; 0: head_dim

  int value_width() const { return value_dim > 0 ? value_dim : head_dim; }
  int first_position(int b) const {
    return query_offsets.empty() ? query_offset : query_offsets[b];
  }
  /// The key and value head that query head h reads (grouped-query attention).
  int kv_head(int h) const { return h / (heads / kv_heads); }
};

template <Real R>
struct AttentionInputs {
  AttentionShape shape;
  std::vector<Matrix<R>> q;  ///< [batch * heads], each [queries, head_dim]
  /// [batch * kv_heads], each [keys, head_dim] and [keys, value_width()]
  std::vector<Matrix<R>> k, v;
  R scale;  ///< multiplies q . k; 1/sqrt(head_dim) as a rule
  Mask mask;
  std::vector<R> ssmax_scale;     ///< [heads], or empty: no SSMax
  std::optional<R> softcap = {};  ///< cap > 0 of the scaled products, or none
  std::vector<R> sinks = {};      ///< [heads], or empty: no sinks
  /// Factors of P, [batch * heads], each [queries, keys]; or empty: no dropout.
  std::vector<Matrix<R>> dropout = {};
};

/// @throws std::invalid_argument naming the first size that does not fit.
inline void check_shape(const AttentionShape& s) {
  constexpr int max_position = 1 << 30;
  require(s.batch >= 1, "batch", s.batch, "at least 1");
  require(s.kv_heads >= 1, "kv_heads", s.kv_heads, "at least 1");
  require(s.heads >= 1 && s.heads % s.kv_heads == 0, "heads", s.heads, "a multiple of kv_heads");
  const std::int64_t heads = std::int64_t{s.batch} * s.heads;
  require(heads <= std::numeric_limits<int>::max(), "batch * heads", heads, "at most 2^31 - 1");
  require(s.queries >= 1, "queries", s.queries, "at least 1");
  require(s.keys >= 1, "keys", s.keys, "at least 1");
  require(s.query_offsets.empty() || static_cast<int>(s.query_offsets.size()) == s.batch,
          "query_offsets.size()", s.query_offsets.size(), "one a sequence, or none");
  for (int b = 0; b < (s.query_offsets.empty() ? 1 : s.batch); ++b) {
    const int first = s.first_position(b);
    require(-max_position <= first && first <= max_position - s.queries, "query_offset", first,
            "positions within 2^30");
  }
  require(s.head_dim >= 1, "head_dim", s.head_dim, "at least 1");
  require(s.value_dim >= 0, "value_dim", s.value_dim, "at least 0");
}

/// For what has no room for queries that are no keys.
/// @throws std::invalid_argument if a query row stands beyond the keys.
inline void require_rows_at_keys(const AttentionShape& s) {
  for (int b = 0; b < s.batch; ++b) {
    require(s.first_position(b) <= s.keys - s.queries, "query_offset", s.first_position(b),
            "at most keys - queries");
  }
}

/// @throws std::invalid_argument naming the first size that does not fit.
template <Real R>
void check(const AttentionInputs<R>& x) {
  const AttentionShape& s = x.shape;
  check_shape(s);
  const auto check_tensor = [&](const std::vector<Matrix<R>>& tensor, const char* name, int count,
                                int rows, int columns, const char* expected) {
    require(static_cast<int>(tensor.size()) == count, name, tensor.size(), "one matrix a head");
    for (const Matrix<R>& matrix : tensor) {
      require(matrix.rows() == rows, name, matrix.rows(), "the shape's number of rows");
      require(matrix.cols() == columns, name, matrix.cols(), expected);
    }
  };
  check_tensor(x.q, "q", s.batch * s.heads, s.queries, s.head_dim, "head_dim columns");
  check_tensor(x.k, "k", s.batch * s.kv_heads, s.keys, s.head_dim, "head_dim columns");
  check_tensor(x.v, "v", s.batch * s.kv_heads, s.keys, s.value_width(), "value_dim columns");
  require(x.ssmax_scale.empty() || static_cast<int>(x.ssmax_scale.size()) == s.heads,
          "ssmax_scale.size()", x.ssmax_scale.size(), "heads, or none");
  require(x.sinks.empty() || static_cast<int>(x.sinks.size()) == s.heads, "sinks.size()",
          x.sinks.size(), "heads, or none");
  if (!x.dropout.empty()) {
    check_tensor(x.dropout, "dropout", s.batch * s.heads, s.queries, s.keys, "keys columns");
  }
}

/// The SSMax scale of head h, if there is SSMax.
template <Real R>
std::optional<R> ssmax_of(const AttentionInputs<R>& x, int h) {
  if (x.ssmax_scale.empty()) return std::nullopt;
  return x.ssmax_scale[h];
}

/// The sink of head h, if there are any.
template <Real R>
std::optional<R> sink_of(const AttentionInputs<R>& x, int h) {
  if (x.sinks.empty()) return std::nullopt;
  return x.sinks[h];
}

/// The factors of dropout of one row's visible keys; empty without dropout.
/// @param head counted over the batch
template <Real R>
Vector<R> dropout_of(const AttentionInputs<R>& x, int head, int query,
                     const std::vector<int>& visible) {
  if (x.dropout.empty()) return {};
  Vector<R> factors(static_cast<Eigen::Index>(visible.size()));
  for (std::size_t n = 0; n < visible.size(); ++n) {
    factors[n] = x.dropout[head](query, visible[n]);
  }
  return factors;
}

/// attention_row for every batch, head and query row; result [(batch, heads, queries)], row-major.
/// `bias_of(b, h)` returns the bias of head h in sequence b.
/// @throws std::invalid_argument if the inputs do not fit together.
template <Real R, class BiasOf>
std::vector<AttentionRow<R>> attention(const AttentionInputs<R>& x, const BiasOf& bias_of) {
  check(x);
  const AttentionShape& s = x.shape;
  std::vector<AttentionRow<R>> rows;
  rows.reserve(static_cast<std::size_t>(s.batch) * s.heads * s.queries);
  for (int b = 0; b < s.batch; ++b) {
    for (int h = 0; h < s.heads; ++h) {
      const auto bias = bias_of(b, h);
      const Matrix<R>& K = x.k[b * s.kv_heads + s.kv_head(h)];
      const Matrix<R>& V = x.v[b * s.kv_heads + s.kv_head(h)];
      for (int r = 0; r < s.queries; ++r) {
        const int i = r + s.first_position(b);
        const int head = b * s.heads + h;
        const Vector<R> q_i = x.q[head].row(r);
        const auto visible = visible_keys(x.mask, b, i, s.keys, h);
        rows.push_back(attention_row(q_i, K, V, visible, x.scale, bias, i, ssmax_of(x, h),
                                     x.softcap, sink_of(x, h), dropout_of(x, head, r, visible)));
      }
    }
  }
  return rows;
}

}  // namespace plumbline::reference
