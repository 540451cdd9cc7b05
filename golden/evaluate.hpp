// SPDX-License-Identifier: Apache-2.0
// The results of a problem in any scalar.
#pragma once

#include <optional>

#include "golden/golden_case.hpp"
#include "reference/attention/attention_grad.hpp"
#include "reference/bias/prefix_sum.hpp"
#include "verdict/case_reading.hpp"

namespace plumbline::golden {
namespace detail {

template <class R>
Tensor<R> zero_tensor(std::vector<int> shape) {
  std::size_t size = 1;
  for (int extent : shape) size *= static_cast<std::size_t>(extent);
  return {std::move(shape), std::vector<R>(size, R(0.0))};
}

/// Adds `values` to the tensor from element `first` on.
template <class R>
void add(Tensor<R>& tensor, std::size_t first, const reference::Vector<R>& values) {
  for (Eigen::Index n = 0; n < values.size(); ++n) tensor.data[first + n] += values[n];
}

// A method's parameter gradients, head `head` of sequence `batch`, as tensors.
template <class R, class NoParameters>
void collect(Tensors<R>&, const cases::Spec&, int, int, const NoParameters&) {}

template <class R>
void collect_prefix_sum(Tensors<R>& out, const cases::Spec& s, int row,
                        const reference::Vector<R>& grad) {
  add(out.at("grad_prefix_sum"), static_cast<std::size_t>(row) * s.keys, grad);
  add(out.at("grad_increments"), static_cast<std::size_t>(row) * s.keys,
      reference::prefix_sum_grad(grad));
}

template <class R>
void collect(Tensors<R>& out, const cases::Spec& s, int batch, int head,
             const reference::CableNwGrad<R>& grad) {
  collect_prefix_sum(out, s, batch * s.heads + head, grad.prefix_sum);
}

template <class R>
void collect(Tensors<R>& out, const cases::Spec& s, int batch, int head,
             const reference::CableGrad<R>& grad) {
  const int row = batch * s.heads + head;
  collect_prefix_sum(out, s, row, grad.prefix_sum);
  add(out.at("grad_gain"), static_cast<std::size_t>(row) * s.queries, grad.gain);
}

template <class R>
void collect(Tensors<R>& out, const cases::Spec&, int, int head,
             const reference::GgdGrad<R>& grad) {
  out.at("grad_theta_alpha").data[head] += grad.theta_alpha;
  out.at("grad_theta_beta").data[head] += grad.theta_beta;
  out.at("grad_theta_mu").data[head] += grad.theta_mu;
}

/// All results, zero.
template <class R>
Tensors<R> zero_results(const cases::Case& c) {
  const cases::Spec& s = c.spec;
  Tensors<R> out;
  out["o"] = out["grad_q"] = zero_tensor<R>({s.batch, s.heads, s.queries, s.head_dim});
  out["lse"] = zero_tensor<R>({s.batch, s.heads, s.queries});
  out["bias"] = zero_tensor<R>({s.batch, s.heads, s.queries, s.keys});
  out["grad_k"] = out["grad_v"] = zero_tensor<R>({s.batch, s.kv_heads, s.keys, s.head_dim});
  if (!c.increments.empty()) {
    out["grad_increments"] = out["grad_prefix_sum"] = zero_tensor<R>({s.batch, s.heads, s.keys});
  }
  if (!c.gain.empty()) out["grad_gain"] = zero_tensor<R>({s.batch, s.heads, s.queries});
  for (const char* name : {"grad_theta_alpha", "grad_theta_beta", "grad_theta_mu"}) {
    if (!c.theta_alpha.empty()) out[name] = zero_tensor<R>({s.heads});
  }
  if (s.ssmax) out["grad_ssmax_scale"] = zero_tensor<R>({s.heads});
  return out;
}

}  // namespace detail

/// Results that are not numbers of R: the rows that see no key, whose lse is -infinity.
struct EmptyRows {
  std::vector<std::size_t> rows;  ///< index into lse
};

/// o, lse and the bias b_ij of every pair (position i of a query row, key j), visible or not; for
/// the loss with the problem's grad_o and grad_lse the gradients grad_q, grad_k, grad_v and those
/// of the method's parameters: grad_increments and grad_prefix_sum [batch, heads, keys], grad_gain
/// [batch, heads, queries], grad_theta_* and grad_ssmax_scale [heads], summed over the batch.
/// Layouts as in kernel_abi/plumbline_kernel.h. A row that sees no key has o = 0 and no gradients;
/// its lse is left 0 here and named in `empty`.
template <reference::Real R>
Tensors<R> evaluate(const Problem& problem, EmptyRows& empty) {
  const cases::Case& c = problem.inputs;
  const cases::Spec& s = c.spec;
  const verdict::CaseReading<R> reading(c);
  Tensors<R> out = detail::zero_results<R>(c);
  R no_ssmax(0.0);

  for (int b = 0; b < s.batch; ++b) {
    for (int h = 0; h < s.heads; ++h) {
      const int head = b * s.heads + h, kv = b * s.kv_heads + h / (s.heads / s.kv_heads);
      const std::size_t kv_row = static_cast<std::size_t>(kv) * s.keys;
      const auto K = verdict::matrix_of<R>(c.k, kv_row, s.keys, s.head_dim);
      const auto V = verdict::matrix_of<R>(c.v, kv_row, s.keys, s.head_dim);
      reference::Matrix<R> grad_k = reference::zeros<R>(s.keys, s.head_dim), grad_v = grad_k;
      std::optional<R> ssmax;
      if (s.ssmax) ssmax = R(double{c.ssmax_scale[h]});

      reading.with_bias(b, h, [&](const auto& bias) {
        auto grad_bias = bias.zero_grad();
        using B = std::decay_t<decltype(bias)>;
        const reference::AttentionHeadGrad<R, B> sums{
            grad_k, grad_v, grad_bias, s.ssmax ? out.at("grad_ssmax_scale").data[h] : no_ssmax};
        for (int r = 0; r < s.queries; ++r) {
          const std::size_t row = static_cast<std::size_t>(head) * s.queries + r;
          const std::vector<int> visible = reading.visible(b, r);
          const int i = r + s.query_offset;
          for (int j = 0; j < s.keys; ++j) out["bias"].data[row * s.keys + j] = bias(i, j);
          const auto attended = reading.row(b, h, r, visible);
          if (attended.sees_no_key) {
            empty.rows.push_back(row);
            continue;
          }
          out["lse"].data[row] = attended.lse;
          detail::add(out["o"], row * s.head_dim, attended.output);
          const auto q = verdict::vector_of<R>(c.q, row * s.head_dim, s.head_dim);
          const auto grad_o = verdict::vector_of<R>(problem.grad_o, row * s.head_dim, s.head_dim);
          detail::add(
              out["grad_q"], row * s.head_dim,
              reference::attention_row_grad(q, K, V, visible, R(c.scale), bias, i, ssmax, grad_o,
                                            R(double{problem.grad_lse[row]}), sums));
        }
        detail::collect(out, s, b, h, grad_bias);
      });
      for (Eigen::Index n = 0; n < grad_k.size(); ++n) {
        out["grad_k"].data[kv_row * s.head_dim + n] += grad_k.data()[n];
        out["grad_v"].data[kv_row * s.head_dim + n] += grad_v.data()[n];
      }
    }
  }
  return out;
}

}  // namespace plumbline::golden
