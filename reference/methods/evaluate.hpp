// SPDX-License-Identifier: Apache-2.0
// The results of a problem, for a method of any kind and in any scalar: attention.hpp and
// attention_grad.hpp, with the method in its place.
//
// What depends on the method goes through functions of matrices (Bias, Rotation, ...), so that the
// attention itself is compiled once a scalar, not once a scalar and method.
#pragma once

#include <cmath>
#include <functional>
#include <vector>

#include "reference/attention/attention_grad.hpp"
#include "reference/attention/own_logits.hpp"
#include "reference/methods/problem.hpp"

namespace plumbline::reference::methods {

/// The methods' functions, by kind. `add_grad` adds the gradients of the parameters to the tensors
/// grad_<parameter>; the gradient that it is given is 0 for keys that are not visible.
template <Real R>
struct BiasFunctions {
  /// b_ij [queries, keys] of head h in sequence b.
  std::function<Matrix<R>(int b, int h)> table;
  std::function<void(int b, int h, const Matrix<R>& grad_table, Tensors<R>& out)> add_grad;
};

template <Real R>
struct RotationFunctions {
  /// Row t stands at position t + offset.
  std::function<Matrix<R>(const Matrix<R>&rows, int offset)> rotate, rotate_back;
};

template <Real R>
struct EmbeddingFunctions {
  std::function<Matrix<R>()> table;  ///< [queries, width]
  /// The gradient of the table, summed over the batch.
  std::function<void(const Matrix<R>& grad_table, Tensors<R>& out)> add_grad;
};

template <Real R>
struct LogitsFunctions {
  /// The logits [queries, keys] of every head, [batch * heads]; those of visible keys at least.
  std::function<std::vector<Matrix<R>>(const AttentionInputs<R>&)> table;
  /// Adds to grad.q and grad.k as well.
  std::function<void(const AttentionInputs<R>&, const std::vector<Matrix<R>>& grad_table,
                     AttentionGrad<R, Matrix<R>>& grad, Tensors<R>& out)>
      add_grad;
};

template <Real R>
struct Results {
  Tensors<R> tensors;
  /// Rows of lse that see no key. Their lse, -infinity, is no number of R and left 0.
  std::vector<std::size_t> empty_rows;
};

/// Values only, or gradients as well.
enum class Pass { forward, forward_and_backward };

template <Real R>
AttentionInputs<R> attention_inputs(const MethodInputs<R>& in, const Mask& mask) {
  const AttentionShape& s = in.shape();
  AttentionInputs<R> x{s, {}, {}, {}, R(in.problem().scale), mask, {}};
  for (int head = 0; head < s.batch * s.heads; ++head) {
    x.q.push_back(in.matrix("q", head * s.queries, s.queries, s.head_dim));
  }
  for (int head = 0; head < s.batch * s.kv_heads; ++head) {
    x.k.push_back(in.matrix("k", head * s.keys, s.keys, s.head_dim));
    x.v.push_back(in.matrix("v", head * s.keys, s.keys, s.value_width()));
  }
  if (in.has("ssmax_scale")) x.ssmax_scale = in.tensor("ssmax_scale").data;
  if (in.has("sinks")) x.sinks = in.tensor("sinks").data;
  for (int head = 0; head < s.batch * s.heads && in.has("dropout"); ++head) {
    x.dropout.push_back(in.matrix("dropout", head * s.queries, s.queries, s.keys));
  }
  if (const auto cap = in.problem().softcap) {
    require(*cap > 0 && std::isfinite(*cap), "softcap", *cap, "a finite number above 0");
    x.softcap = R(*cap);
  }
  check(x);
  return x;
}

template <Real R>
AttentionUpstream<R> attention_upstream(const MethodInputs<R>& in) {
  const AttentionShape& s = in.shape();
  AttentionUpstream<R> upstream;
  for (int head = 0; head < s.batch * s.heads; ++head) {
    upstream.output.push_back(in.matrix("grad_o", head * s.queries, s.queries, s.value_width()));
    upstream.lse.push_back(in.vector("grad_lse", head, s.queries));
  }
  return upstream;
}

/// o [batch, heads, queries, value_dim] and lse [batch, heads, queries].
template <Real R>
void write_forward(const AttentionInputs<R>& x, const std::vector<Matrix<R>>& tables,
                   Results<R>& results) {
  const AttentionShape& s = x.shape;
  std::size_t row = 0;
  for (const AttentionRow<R>& attended : attention(x, biases_of(s, tables))) {
    add(results.tensors, "o", {s.batch, s.heads, s.queries, s.value_width()}, row * s.value_width(),
        attended.output);
    add(results.tensors, "lse", {s.batch, s.heads, s.queries}, row, attended.lse);
    if (attended.sees_no_key) results.empty_rows.push_back(row);
    ++row;
  }
}

/// grad_q, grad_k, grad_v, grad_ssmax_scale, grad_sinks.
template <Real R>
void write_grad(const AttentionInputs<R>& x, const AttentionGrad<R, Matrix<R>>& grad,
                Tensors<R>& out) {
  const AttentionShape& s = x.shape;
  const auto heads = [&](const char* name, const std::vector<Matrix<R>>& each, int count, int rows,
                         int width) {
    for (std::size_t head = 0; head < each.size(); ++head) {
      add(out, name, {s.batch, count, rows, width}, head * rows * width, each[head]);
    }
  };
  heads("grad_q", grad.q, s.heads, s.queries, s.head_dim);
  heads("grad_k", grad.k, s.kv_heads, s.keys, s.head_dim);
  heads("grad_v", grad.v, s.kv_heads, s.keys, s.value_width());
  for (int h = 0; h < static_cast<int>(grad.ssmax_scale.size()); ++h) {
    add(out, "grad_ssmax_scale", {s.heads}, h, grad.ssmax_scale[h]);
  }
  for (int h = 0; h < static_cast<int>(grad.sinks.size()); ++h) {
    add(out, "grad_sinks", {s.heads}, h, grad.sinks[h]);
  }
}

/// o, lse, the bias b_ij of every query row and key, visible or not; and the gradients of
/// sum(o grad_o) + sum(lse grad_lse) over the rows that see a key.
template <Real R>
Results<R> evaluate_bias(const MethodInputs<R>& in, const Mask& mask, const BiasFunctions<R>& bias,
                         Pass pass) {
  const AttentionInputs<R> x = attention_inputs(in, mask);
  const AttentionShape& s = x.shape;
  std::vector<Matrix<R>> tables;
  Results<R> results;
  for (int head = 0; head < s.batch * s.heads; ++head) {
    tables.push_back(bias.table(head / s.heads, head % s.heads));
    add(results.tensors, "bias", {s.batch, s.heads, s.queries, s.keys},
        static_cast<std::size_t>(head) * s.queries * s.keys, tables.back());
  }
  write_forward(x, tables, results);
  if (pass == Pass::forward) return results;
  const auto grad = attention_grad(x, biases_of(s, tables), attention_upstream(in));
  write_grad(x, grad, results.tensors);
  for (int head = 0; head < s.batch * s.heads; ++head) {
    bias.add_grad(head / s.heads, head % s.heads, grad.bias[head], results.tensors);
  }
  return results;
}

/// o, lse and the gradients, those of q and k before they were rotated.
template <Real R>
Results<R> evaluate_rotation(const MethodInputs<R>& in, const Mask& mask,
                             const RotationFunctions<R>& rotation, Pass pass) {
  AttentionInputs<R> x = attention_inputs(in, mask);
  const AttentionShape& s = x.shape;
  const auto first_position = [&](int head) { return s.first_position(head / s.heads); };
  for (int n = 0; n < s.batch * s.heads; ++n) {
    x.q[n] = rotation.rotate(x.q[n], first_position(n));
  }
  for (Matrix<R>& k : x.k) k = rotation.rotate(k, 0);
  const std::vector<Matrix<R>> none(static_cast<std::size_t>(s.batch) * s.heads,
                                    zeros<R>(s.queries, s.keys));
  Results<R> results;
  write_forward(x, none, results);
  if (pass == Pass::forward) return results;
  auto grad = attention_grad(x, biases_of(s, none), attention_upstream(in));
  for (int n = 0; n < s.batch * s.heads; ++n) {
    grad.q[n] = rotation.rotate_back(grad.q[n], first_position(n));
  }
  for (Matrix<R>& k : grad.k) k = rotation.rotate_back(k, 0);
  write_grad(x, grad, results.tensors);
  return results;
}

/// embeddings = x + table, both [batch, queries, width]; grad_x and the gradients of the table's
/// parameters, for the upstream gradient grad_embeddings.
/// @throws std::invalid_argument as the table's equation does, and for an empty batch or sequence.
template <Real R>
Results<R> evaluate_embedding(const MethodInputs<R>& in, const EmbeddingFunctions<R>& embedding,
                              Pass pass) {
  const AttentionShape& s = in.shape();
  require(s.batch >= 1, "batch", s.batch, "at least 1");
  require(s.queries >= 1, "queries", s.queries, "at least 1");
  const int width = s.heads * s.head_dim;
  const std::vector<int> shape = {s.batch, s.queries, width};
  const Matrix<R> table = embedding.table();
  Matrix<R> grad_table = zeros<R>(s.queries, width);
  Results<R> results;
  for (int b = 0; b < s.batch; ++b) {
    const std::size_t first = static_cast<std::size_t>(b) * s.queries * width;
    Matrix<R> x = in.matrix("x", b * s.queries, s.queries, width);
    for (Eigen::Index n = 0; n < x.size(); ++n) x.data()[n] = x.data()[n] + table.data()[n];
    add(results.tensors, "embeddings", shape, first, x);
    if (pass == Pass::forward) continue;
    const Matrix<R> grad = in.matrix("grad_embeddings", b * s.queries, s.queries, width);
    add(results.tensors, "grad_x", shape, first, grad);
    for (Eigen::Index n = 0; n < grad.size(); ++n) grad_table.data()[n] += grad.data()[n];
  }
  if (pass == Pass::forward_and_backward) embedding.add_grad(grad_table, results.tensors);
  return results;
}

/// o, lse and the gradients. Attention with products of zero: its logits are then the method's
/// alone, and the gradient of its bias is theirs.
template <Real R>
Results<R> evaluate_logits(const MethodInputs<R>& in, const Mask& mask,
                           const LogitsFunctions<R>& logits, Pass pass) {
  const AttentionInputs<R> x = attention_inputs(in, mask);
  const AttentionShape& s = x.shape;
  const std::vector<Matrix<R>> tables = logits.table(x);
  const AttentionInputs<R> tables_alone = without_products(x);
  Results<R> results;
  write_forward(tables_alone, tables, results);
  if (pass == Pass::forward) return results;
  auto grad = attention_grad(tables_alone, biases_of(s, tables), attention_upstream(in));
  logits.add_grad(x, grad.bias, grad, results.tensors);
  write_grad(x, grad, results.tensors);
  return results;
}

}  // namespace plumbline::reference::methods
