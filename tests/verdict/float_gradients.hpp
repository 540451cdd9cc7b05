// SPDX-License-Identifier: Apache-2.0
// A backward pass to be judged: plain fp32 loops with P and dS, or all operands, rounded on their
// way into products. Written for these tests from plumbline_kernel.h alone.
#pragma once

#include <bit>
#include <map>
#include <utility>

#include "float_attention.hpp"
#include "float_bias.hpp"

namespace plumbline::test {

/// Faults of the backward pass, each off by default.
struct GradientFaults {
  float scale_factor = 1.0f;      ///< multiplies the scale in dQ and dK
  float score_factor = 1.0f;      ///< multiplies what P is recomputed from
  float parameter_factor = 1.0f;  ///< multiplies the gradients of all parameters
  bool no_common = false, lse_base_2 = false, one_head_of_a_group = false;
  bool key_side_missing = false;  ///< of a prefix sum's gradient
  /// No fault in all rows: D = sum_j p_j dP_j instead of dO.o. In every second row it is one.
  enum { saved, recomputed, both } common = saved;
  int dropped_key = -1;
};

/// A float as tf32 holds it, rounded to nearest.
inline float to_tf32(float x) {
  const auto bits = std::bit_cast<std::uint32_t>(x);
  return std::bit_cast<float>((bits + 0xFFFu + ((bits >> 13) & 1u)) & ~0x1FFFu);
}

/// Fills in the gradients of `out`, which holds the outputs of the forward pass.
inline void float_gradients(const cases::Case& c, cases::Outputs& out,
                            const GradientFaults& faults = {}) {
  const auto& s = c.spec;
  const int D = s.head_dim;
  const auto rounded = [&](float x) {
    return s.format == cases::Format::tf32 ? to_tf32(x)
                                           : cases::stored(x, cases::output_format(s.format));
  };
  const auto operands = [&](std::vector<float> x) {
    if (s.format == cases::Format::tf32) std::transform(x.begin(), x.end(), x.begin(), to_tf32);
    return x;
  };
  const auto q = operands(rotated(c, c.q, s.queries, true, false));
  const auto k = operands(rotated(c, c.k, s.keys, false, false));
  const auto v = operands(c.v), grad_o = operands(c.grad_o);
  std::vector<float> grad_q(c.q.size()), grad_k(c.k.size()), grad_v(c.v.size());
  for (int p = 0; p < PLUMBLINE_PARAMETER_COUNT; ++p) {
    const bool has = cases::has_gradient(s, static_cast<plumbline_parameter>(p));
    out.grad_parameters[p].assign(has ? c.parameters[p].size() : 0, 0.0f);
  }
  const bool prefix = !c[PLUMBLINE_INCREMENTS].empty() || !c[PLUMBLINE_LOG_FORGET].empty();
  const auto which = c[PLUMBLINE_LOG_FORGET].empty() ? PLUMBLINE_INCREMENTS : PLUMBLINE_LOG_FORGET;
  for (int bh = 0; bh < s.batch * s.heads; ++bh) {
    const int b = bh / s.heads, h = bh % s.heads, group = s.heads / s.kv_heads;
    const int kv = b * s.kv_heads + h / group;
    std::vector<float> of_query(s.keys, 0.0f), of_key(s.keys, 0.0f);
    for (int r = 0; r < s.queries; ++r) {
      const int i = r + first_query(c, b);
      const std::size_t row = static_cast<std::size_t>(bh) * s.queries + r;
      int seen = 0;
      for (int j = 0; j < s.keys; ++j) seen += visible(c, b, i, j);
      if (seen == 0) continue;
      const float factor =
          s.ssmax ? c[PLUMBLINE_SSMAX_SCALE][h] * std::log(static_cast<float>(seen)) : 1.0f;
      float common = 0;
      const bool recomputed = faults.common == GradientFaults::recomputed ||
                              (faults.common == GradientFaults::both && r % 2 == 0);
      for (int d = 0; d < D && !recomputed; ++d)
        common += c.grad_o[row * D + d] * out.o[row * D + d];
      std::map<std::pair<int, std::size_t>, float> of_row;
      const float scale = static_cast<float>(c.scale);
      const float lse = faults.lse_base_2 ? out.lse[row] * 1.44269504f : out.lse[row];
      for (int j = 0; j < s.keys && recomputed; ++j) {
        if (!visible(c, b, i, j)) continue;
        const std::size_t key = static_cast<std::size_t>(kv) * s.keys + j;
        float dot = 0, grad_p = 0;
        for (int d = 0; d < D; ++d) {
          dot += q[row * D + d] * k[key * D + d];
          grad_p += grad_o[row * D + d] * v[key * D + d];
        }
        common +=
            std::exp(factor * (scale * dot + FloatBias(c, b, h, r, j).value()) - lse) * grad_p;
      }
      if (faults.no_common) common = 0;
      if (s.sinks) {
        out.grad_parameters[PLUMBLINE_SINKS][h] -=
            faults.parameter_factor * std::exp(c[PLUMBLINE_SINKS][h] - lse) * common;
      }
      for (int j = 0; j < s.keys; ++j) {
        if (!visible(c, b, i, j) || j == faults.dropped_key) continue;
        const std::size_t key = static_cast<std::size_t>(kv) * s.keys + j;
        const FloatBias bias(c, b, h, r, j);
        float dot = 0, grad_p = 0;
        for (int d = 0; d < D; ++d) {
          dot += q[row * D + d] * k[key * D + d];
          grad_p += grad_o[row * D + d] * v[key * D + d];
        }
        const float z = scale * dot + bias.value();
        const float p = std::exp(factor * z * faults.score_factor - lse);
        const float grad_s = p * (grad_p - common), grad_z = factor * grad_s;
        const float p_operand = rounded(p), z_operand = rounded(grad_z);
        for (int d = 0; d < D; ++d) {
          grad_q[row * D + d] += z_operand * k[key * D + d];
          if (!faults.one_head_of_a_group || h % group == 0) {
            grad_k[key * D + d] += z_operand * q[row * D + d];
          }
          grad_v[key * D + d] += p_operand * grad_o[row * D + d];
        }
        bias.derivatives([&](plumbline_parameter parameter, std::size_t n, float derivative) {
          of_row[{parameter, n}] += grad_z * derivative;
        });
        if (s.ssmax) of_row[{PLUMBLINE_SSMAX_SCALE, h}] += grad_s * z;
        if (prefix) {
          of_query[i] += grad_z * bias.prefix_derivative();
          of_key[j] -= grad_z * bias.prefix_derivative();
        }
      }
      for (const auto& [place, sum] : of_row) {
        const bool ssmax = place.first == PLUMBLINE_SSMAX_SCALE;
        out.grad_parameters[place.first][place.second] +=
            faults.parameter_factor * (ssmax ? sum * std::log(static_cast<float>(seen)) : sum);
      }
    }
    double later = 0;
    for (int t = s.keys - 1; prefix && t >= 0; --t) {
      later += of_query[t] + (faults.key_side_missing ? 0.0f : of_key[t]);
      out.grad_parameters[which][static_cast<std::size_t>(bh) * s.keys + t] =
          faults.parameter_factor * static_cast<float>(later);
    }
  }
  const float scale = static_cast<float>(c.scale) * faults.scale_factor;
  for (auto* grad : {&grad_q, &grad_k}) {
    for (float& x : *grad) x *= scale;
  }
  const auto store = [&](std::vector<float> x) {
    std::transform(x.begin(), x.end(), x.begin(),
                   [&](float y) { return cases::stored(y, cases::output_format(s.format)); });
    return x;
  };
  out.grad_q = store(rotated(c, grad_q, s.queries, true, true));
  out.grad_k = store(rotated(c, grad_k, s.keys, false, true));
  out.grad_v = store(grad_v);
}

}  // namespace plumbline::test
