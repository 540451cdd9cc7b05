// SPDX-License-Identifier: Apache-2.0
// An implementation to be judged: plain fp32 loops, written for these tests from plumbline_kernel.h
// alone. It shares no code with the oracle or with the CUDA kernels.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "float_bias.hpp"
#include "verdict/cases/case.hpp"

namespace plumbline::test {

/// Faults to plant, each off by default.
struct Faults {
  float scale_factor = 1.0f;  ///< multiplies the scale
  float slope_factor = 1.0f;  ///< multiplies the slope of head `slope_head`
  int slope_head = 0;
  bool lse_base_2 = false;
  float output_factor = 1.0f;  ///< multiplies o before it is stored
  /// P on its way to V: a float, or rounded to the format, or cut to it.
  enum { p_kept, p_rounded, p_cut } p = p_kept;
  float p_noise = 0;  ///< every P on its way to V is off by this part, either sign
};

/// Rounded towards zero to bf16's bits.
inline float cut_to_bf16(float x) {
  return std::bit_cast<float>(std::bit_cast<std::uint32_t>(x) & 0xFFFF0000u);
}

inline bool visible(const cases::Case& c, int b, int i, int j) {
  const auto& mask = c.spec.mask;
  if (!c.lengths.empty() && (i >= c.lengths[b] || j >= c.lengths[b])) return false;
  if (mask.causal && j > i) return false;
  if (mask.window.left >= 0 && i - j > mask.window.left) return false;
  if (mask.window.right >= 0 && j - i > mask.window.right) return false;
  if (i < 0) return false;
  if (c.documents.empty()) return true;
  const int* ids = c.documents.data() + b * c.spec.keys;
  return ids[i] == ids[j];
}

inline float bias(const cases::Case& c, int b, int h, int r, int j, const Faults& faults) {
  const float value = FloatBias(c, b, h, r, j).value();
  const bool off = c.spec.bias.method == PLUMBLINE_ALIBI && h == faults.slope_head;
  return off ? value * faults.slope_factor : value;
}

/// q or k as RoPE rotates it, and a gradient rotated back.
inline std::vector<float> rotated(const cases::Case& c, const std::vector<float>& x, int rows,
                                  bool queries, bool back) {
  const int D = c.spec.head_dim;
  const bool interleaved = c.spec.bias.rope == PLUMBLINE_ROPE_INTERLEAVED;
  if (!c.spec.bias.has_rope()) return x;
  std::vector<float> result = x;
  for (std::size_t row = 0; row < x.size() / D; ++row) {
    const int offset = queries ? first_query(c, static_cast<int>(row / rows / c.spec.heads)) : 0;
    for (int k = 0; k < D / 2; ++k) {
      const std::size_t a = row * D + (interleaved ? 2 * k : k);
      const std::size_t b = row * D + (interleaved ? 2 * k + 1 : k + D / 2);
      const double angle = (static_cast<int>(row % rows) + offset) *
                           std::pow(c.options[PLUMBLINE_BASE], -2.0 * k / D);
      const float cosine = static_cast<float>(std::cos(angle));
      const float sine = static_cast<float>(back ? -std::sin(angle) : std::sin(angle));
      result[a] = x[a] * cosine - x[b] * sine;
      result[b] = x[a] * sine + x[b] * cosine;
    }
  }
  return result;
}

inline cases::Outputs float_attention(const cases::Case& c, const Faults& faults = {}) {
  const auto& s = c.spec;
  cases::Outputs out;
  std::vector<float> score(s.keys);
  const auto all_q = rotated(c, c.q, s.queries, true, false);
  const auto all_k = rotated(c, c.k, s.keys, false, false);
  for (int b = 0; b < s.batch; ++b) {
    for (int h = 0; h < s.heads; ++h) {
      const int kv = b * s.kv_heads + h / (s.heads / s.kv_heads);
      for (int r = 0; r < s.queries; ++r) {
        const int i = r + first_query(c, b);
        const float* q = &all_q[((b * s.heads + h) * s.queries + r) * s.head_dim];
        float largest = -std::numeric_limits<float>::infinity();
        int seen = 0;
        for (int j = 0; j < s.keys; ++j) seen += visible(c, b, i, j);
        const float factor = c[PLUMBLINE_SSMAX_SCALE].empty()
                                 ? 1.0f
                                 : c[PLUMBLINE_SSMAX_SCALE][h] * std::log(static_cast<float>(seen));
        if (s.sinks) largest = c[PLUMBLINE_SINKS][h];
        for (int j = 0; j < s.keys; ++j) {
          if (!visible(c, b, i, j)) continue;
          float dot = 0;
          for (int d = 0; d < s.head_dim; ++d)
            dot += q[d] * all_k[(kv * s.keys + j) * s.head_dim + d];
          const float scale = static_cast<float>(c.scale) * faults.scale_factor;
          score[j] = factor * (scale * dot + bias(c, b, h, r, j, faults));
          largest = std::max(largest, score[j]);
        }
        std::vector<float> o(s.head_dim, 0.0f);
        float total = s.sinks ? std::exp(c[PLUMBLINE_SINKS][h] - largest) : 0.0f;
        for (int j = 0; j < s.keys; ++j) {
          if (!visible(c, b, i, j)) continue;
          const float p = std::exp(score[j] - largest);
          total += p;
          float operand = p;
          if (faults.p == Faults::p_rounded) operand = cases::stored(p, s.format);
          if (faults.p == Faults::p_cut) operand = cut_to_bf16(p);
          operand *= 1 + ((j * 2654435761u + r * 40503u) >> 31 ? faults.p_noise : -faults.p_noise);
          for (int d = 0; d < s.head_dim; ++d)
            o[d] += operand * c.v[(kv * s.keys + j) * s.head_dim + d];
        }
        for (float x : o) {
          const float value = seen ? x / total * faults.output_factor : 0.0f;
          out.o.push_back(cases::stored(value, cases::output_format(s.format)));
        }
        const float log_total = faults.lse_base_2 ? std::log2(total) : std::log(total);
        out.lse.push_back(seen || s.sinks ? largest + log_total
                                          : -std::numeric_limits<float>::infinity());
      }
    }
  }
  return out;
}

}  // namespace plumbline::test
