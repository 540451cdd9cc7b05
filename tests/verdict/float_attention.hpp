// SPDX-License-Identifier: Apache-2.0
// An implementation to be judged: plain fp32 loops, written for these tests from plumbline_kernel.h
// alone. It shares no code with the oracle or with the CUDA kernels.
#pragma once

#include <cmath>
#include <limits>

#include "cases/case.hpp"

namespace plumbline::test {

/// Faults to plant, each off by default.
struct Faults {
  float scale_factor = 1.0f;  ///< multiplies the scale
  float slope_factor = 1.0f;  ///< multiplies the slope of head `slope_head`
  int slope_head = 0;
  bool lse_base_2 = false;
};

inline bool visible(const cases::Case& c, int b, int i, int j) {
  const auto& mask = c.spec.mask;
  if (!c.lengths.empty() && (i >= c.lengths[b] || j >= c.lengths[b])) return false;
  if (mask.causal && j > i) return false;
  if (mask.window && std::abs(i - j) > *mask.window) return false;
  if (c.documents.empty()) return true;
  const int* ids = c.documents.data() + b * c.spec.keys;
  return ids[i] == ids[j];
}

inline float bias(const cases::Case& c, int b, int h, int r, int i, int j, const Faults& faults) {
  using cases::BiasMethod;
  const int row = b * c.spec.heads + h;
  const auto prefix = [&](int position) {
    double sum = 0;
    for (int t = 0; t <= position; ++t) sum += c[PLUMBLINE_INCREMENTS][row * c.spec.keys + t];
    return sum;
  };
  switch (c.spec.bias) {
    case BiasMethod::nope:
      return 0.0f;
    case BiasMethod::alibi: {
      const float slope =
          c[PLUMBLINE_SLOPES][h] * (h == faults.slope_head ? faults.slope_factor : 1.0f);
      return -slope * static_cast<float>(std::abs(i - j));
    }
    case BiasMethod::ggd: {
      const float mu = std::exp(c[PLUMBLINE_THETA_MU][h]) - std::exp(-c[PLUMBLINE_THETA_MU][h]);
      const float base = std::abs(static_cast<float>(j - i) - mu) +
                         static_cast<float>(c.options[PLUMBLINE_EPSILON]);
      return -std::exp(c[PLUMBLINE_THETA_ALPHA][h]) * std::pow(base, c[PLUMBLINE_THETA_BETA][h]);
    }
    default:
      break;
  }
  const float distance = static_cast<float>(std::abs(prefix(i) - prefix(j)));
  const float gain = c[PLUMBLINE_GAIN].empty() ? 1.0f : c[PLUMBLINE_GAIN][row * c.spec.queries + r];
  const bool kernelised =
      c.spec.bias == BiasMethod::k_cable || c.spec.bias == BiasMethod::k_cable_nw;
  return -gain * (kernelised ? std::log1p(distance * distance) : distance);
}

inline cases::Outputs float_attention(const cases::Case& c, const Faults& faults = {}) {
  const auto& s = c.spec;
  cases::Outputs out;
  std::vector<float> score(s.keys);
  for (int b = 0; b < s.batch; ++b) {
    for (int h = 0; h < s.heads; ++h) {
      const int kv = b * s.kv_heads + h / (s.heads / s.kv_heads);
      for (int r = 0; r < s.queries; ++r) {
        const int i = r + s.query_offset;
        const float* q = &c.q[((b * s.heads + h) * s.queries + r) * s.head_dim];
        float largest = -std::numeric_limits<float>::infinity();
        int seen = 0;
        for (int j = 0; j < s.keys; ++j) seen += visible(c, b, i, j);
        const float factor = c[PLUMBLINE_SSMAX_SCALE].empty()
                                 ? 1.0f
                                 : c[PLUMBLINE_SSMAX_SCALE][h] * std::log(static_cast<float>(seen));
        for (int j = 0; j < s.keys; ++j) {
          if (!visible(c, b, i, j)) continue;
          float dot = 0;
          for (int d = 0; d < s.head_dim; ++d)
            dot += q[d] * c.k[(kv * s.keys + j) * s.head_dim + d];
          const float scale = static_cast<float>(c.scale) * faults.scale_factor;
          score[j] = factor * (scale * dot + bias(c, b, h, r, i, j, faults));
          largest = std::max(largest, score[j]);
        }
        std::vector<float> o(s.head_dim, 0.0f);
        float total = 0;
        for (int j = 0; j < s.keys; ++j) {
          if (!visible(c, b, i, j)) continue;
          const float p = std::exp(score[j] - largest);
          total += p;
          for (int d = 0; d < s.head_dim; ++d) o[d] += p * c.v[(kv * s.keys + j) * s.head_dim + d];
        }
        for (float x : o) {
          const float value = seen ? x / total : 0.0f;
          out.o.push_back(cases::stored(value, s.format));
        }
        const float log_total = faults.lse_base_2 ? std::log2(total) : std::log(total);
        out.lse.push_back(seen ? largest + log_total : -std::numeric_limits<float>::infinity());
      }
    }
  }
  return out;
}

}  // namespace plumbline::test
