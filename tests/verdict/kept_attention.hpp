// SPDX-License-Identifier: Apache-2.0
// A kernel to be judged that keeps what the contract's fields name in 16 bits, or leaves it out:
// plain loops, NoPE and ALiBi. Written for these tests from plumbline_kernel.h alone.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "float_attention.hpp"

namespace plumbline::test {

/// How it computes. Formats: fp32 for what is not rounded.
struct Kept {
  using Format = cases::Format;
  Format probability = Format::fp32, head_gradient = Format::fp32, gradient_sum = Format::fp32,
         output_sum = Format::fp32, score = Format::fp32, grad_probability = Format::fp32,
         delta = Format::fp32, lse = Format::fp32;
  int block = 1 << 24;    ///< keys or queries
  float exp_zero = 1.0f;  ///< what exp(0) gives
  int empty_rows = PLUMBLINE_EMPTY_ROWS_ARE_ZERO;
  bool no_lse = false, recomputes_d = false, saves_rounded_p = false, alibi_of_key = false,
       log2_lse = false;
  float largest_score = std::numeric_limits<float>::infinity();  ///< NaN beyond it
  // Faults.
  bool loses_a_head = false, loses_a_block = false, no_common = false, lse_base_2 = false,
       empty_rows_as_undeclared = false;
  float slope_factor = 1.0f, output_factor = 1.0f;
};

class KeptAttention {
 public:
  KeptAttention(const cases::Case& c, const Kept& kept) : c_(c), s_(c.spec), kept_(kept) {}

  cases::Outputs run() {
    forward();
    if (s_.pass == cases::Pass::backward) backward();
    if (kept_.no_lse) out_.lse.clear();
    return out_;
  }

 private:
  static float rounded(float x, cases::Format format) { return cases::stored(x, format); }
  float stored(float x) const { return cases::stored(x, cases::output_format(s_.format)); }
  float exp(float x) const { return x == 0 ? kept_.exp_zero : std::exp(x); }
  int kv_of(int bh) const {
    return bh / s_.heads * s_.kv_heads + bh % s_.heads / (s_.heads / s_.kv_heads);
  }
  const float* row(const std::vector<float>& x, std::size_t n) const { return &x[n * s_.head_dim]; }
  float dot(const float* a, const float* b) const {
    float sum = 0;
    for (int d = 0; d < s_.head_dim; ++d) sum += a[d] * b[d];
    return sum;
  }
  bool sees(int bh, int r, int j) const {
    return visible(c_, bh / s_.heads, r + first_query(c_, bh / s_.heads), j);
  }
  float score(int bh, int r, int j) const {
    const float product = rounded(dot(row(c_.q, std::size_t(bh) * s_.queries + r),
                                      row(c_.k, std::size_t(kv_of(bh)) * s_.keys + j)),
                                  kept_.score);
    float s = rounded(static_cast<float>(c_.scale) * product, kept_.score);
    if (s_.bias == PLUMBLINE_ALIBI) {
      const float slope =
          c_.of_head(PLUMBLINE_SLOPES, bh / s_.heads, bh % s_.heads) * kept_.slope_factor;
      const int distance =
          kept_.alibi_of_key ? -j : std::abs(r + first_query(c_, bh / s_.heads) - j);
      s = rounded(s - slope * static_cast<float>(distance), kept_.score);
    }
    return std::abs(s) <= kept_.largest_score ? s : std::numeric_limits<float>::quiet_NaN();
  }
  int last_block(int all) const { return kept_.loses_a_block ? (all - 1) / kept_.block : -1; }

  void forward() {
    for (int bh = 0; bh < s_.batch * s_.heads; ++bh) {
      for (int r = 0; r < s_.queries; ++r) forward_row(bh, r);
    }
  }

  void forward_row(int bh, int r) {
    constexpr float infinity = std::numeric_limits<float>::infinity();
    const int D = s_.head_dim;
    std::vector<float> o(D, 0.0f);
    float maximum = -infinity, sum = 0;
    bool any = false;
    for (int first = 0; first < s_.keys; first += std::min(kept_.block, s_.keys)) {
      const int end = std::min(s_.keys, first + std::min(kept_.block, s_.keys));
      std::vector<float> scores(s_.keys, -infinity), added(D, 0.0f);
      float largest = maximum;
      bool seen = false;
      for (int j = first; j < end; ++j) {
        if (!sees(bh, r, j)) continue;
        scores[j] = score(bh, r, j);
        if (!(scores[j] <= largest)) largest = scores[j];
        seen = true;
      }
      if (!seen) continue;
      const float factor = any ? std::exp(maximum - largest) : 0.0f;
      sum *= factor;
      for (int j = first; j < end; ++j) {
        if (!sees(bh, r, j)) continue;
        const float p = exp(scores[j] - largest);
        sum += p;
        const float operand = rounded(p, kept_.probability);
        const float* v = row(c_.v, std::size_t(kv_of(bh)) * s_.keys + j);
        for (int d = 0; d < D; ++d) added[d] += operand * v[d];
      }
      for (int d = 0; d < D; ++d) {
        if (first / kept_.block == last_block(s_.keys)) added[d] = 0;
        o[d] =
            rounded(rounded(o[d] * factor, kept_.output_sum) + rounded(added[d], kept_.output_sum),
                    kept_.output_sum);
      }
      maximum = largest;
      any = true;
    }
    if (!any) return empty_row(bh);
    for (const float x : o) out_.o.push_back(stored(x / sum * kept_.output_factor));
    const float log_sum = kept_.lse_base_2 ? std::log2(sum) : std::log(sum);
    const float lse = maximum + log_sum;
    own_lse_.push_back(lse);
    out_.lse.push_back(rounded(kept_.log2_lse ? lse * 1.44269504f : lse, kept_.lse));
  }

  void empty_row(int bh) {
    const int convention = kept_.empty_rows_as_undeclared ? 0 : kept_.empty_rows;
    constexpr float infinity = std::numeric_limits<float>::infinity();
    const float nan = std::numeric_limits<float>::quiet_NaN();
    for (int d = 0; d < s_.head_dim; ++d) {
      float o = 0;
      if (convention == PLUMBLINE_EMPTY_ROWS_ARE_MEANS) {
        const float p = rounded(1.0f / static_cast<float>(s_.keys), kept_.probability);
        for (int j = 0; j < s_.keys; ++j) {
          o += p * row(c_.v, std::size_t(kv_of(bh)) * s_.keys + j)[d];
        }
      }
      if (convention == PLUMBLINE_EMPTY_ROWS_ARE_NAN) o = nan;
      if (convention == PLUMBLINE_EMPTY_ROWS_ARE_NOT_MINE) o = 17;
      out_.o.push_back(stored(o));
    }
    const bool plus = convention == PLUMBLINE_EMPTY_ROWS_HAVE_PLUS_INF;
    out_.lse.push_back(plus                                              ? infinity
                       : convention == PLUMBLINE_EMPTY_ROWS_ARE_NOT_MINE ? 3.0f
                                                                         : -infinity);
    own_lse_.push_back(out_.lse.back());
  }

  /// Adds a block's sums to those that are kept, and empties it.
  void keep(std::vector<float>& kept, std::vector<float>& block, bool lost) const {
    for (std::size_t n = 0; n < kept.size(); ++n) {
      const float added = lost ? 0.0f : rounded(block[n], kept_.gradient_sum);
      kept[n] = rounded(kept[n] + added, kept_.gradient_sum);
      block[n] = 0;
    }
  }

  void backward() {
    const int D = s_.head_dim, group = s_.heads / s_.kv_heads;
    const auto scale = static_cast<float>(c_.scale);
    const std::size_t of_keys = std::size_t(s_.keys) * D;
    std::vector<float> all_k(c_.k.size()), all_v(c_.v.size());
    out_.grad_q.clear();
    for (int bh = 0; bh < s_.batch * s_.heads; ++bh) {
      std::vector<float> dk(of_keys), dv(of_keys), block_k(of_keys), block_v(of_keys);
      for (int r = 0; r < s_.queries; ++r) {
        backward_row(bh, r, block_k, block_v);
        const bool ends = (r + 1) % kept_.block == 0 || r + 1 == s_.queries;
        if (!ends) continue;
        const bool lost = r / kept_.block == last_block(s_.queries);
        for (float& x : block_k) x *= scale;
        keep(dk, block_k, lost);
        keep(dv, block_v, lost);
      }
      if (kept_.loses_a_head && bh % group == group - 1) continue;
      const std::size_t first = std::size_t(kv_of(bh)) * of_keys;
      for (std::size_t n = 0; n < of_keys; ++n) {
        all_k[first + n] += rounded(dk[n], kept_.head_gradient);
        all_v[first + n] += rounded(dv[n], kept_.head_gradient);
      }
    }
    for (const float x : all_k) out_.grad_k.push_back(stored(x));
    for (const float x : all_v) out_.grad_v.push_back(stored(x));
  }

  void backward_row(int bh, int r, std::vector<float>& dk, std::vector<float>& dv) {
    const int D = s_.head_dim;
    const std::size_t n = std::size_t(bh) * s_.queries + r;
    const float *dO = row(c_.grad_o, n), *o = row(out_.o, n), *q = row(c_.q, n);
    const float given = kept_.no_lse ? own_lse_[n] : out_.lse[n];
    const float lse = kept_.log2_lse ? given * 0.693147181f : given;
    std::vector<float> dq(D, 0.0f), block(D, 0.0f), p(s_.keys), dp(s_.keys);
    bool any = false;
    for (int j = 0; j < s_.keys; ++j) {
      if (!sees(bh, r, j)) continue;
      any = true;
      p[j] = exp(score(bh, r, j) - lse);
      if (kept_.saves_rounded_p) p[j] = rounded(p[j], kept_.probability);
      dp[j] =
          rounded(dot(dO, row(c_.v, std::size_t(kv_of(bh)) * s_.keys + j)), kept_.grad_probability);
    }
    const bool mean = !any && kept_.empty_rows == PLUMBLINE_EMPTY_ROWS_ARE_MEANS;
    float common = 0;
    if (kept_.recomputes_d) {
      for (int j = 0; j < s_.keys; ++j) common += rounded(p[j] * dp[j], kept_.delta);
    } else {
      for (int d = 0; d < D; ++d) common += rounded(dO[d] * o[d], kept_.delta);
    }
    common = kept_.no_common ? 0.0f : rounded(common, kept_.delta);
    for (int j = 0; j < s_.keys; ++j) {
      const std::size_t key = std::size_t(j) * D;
      if (mean && !kept_.empty_rows_as_undeclared) {
        const float share = rounded(1.0f / static_cast<float>(s_.keys), kept_.probability);
        for (int d = 0; d < D; ++d) dv[key + d] += share * dO[d];
      }
      if (sees(bh, r, j)) {
        const float z = rounded(p[j] * (dp[j] - common), kept_.probability);
        const float operand = rounded(p[j], kept_.probability);
        const float* k = row(c_.k, std::size_t(kv_of(bh)) * s_.keys + j);
        for (int d = 0; d < D; ++d) {
          block[d] += z * k[d];
          dk[key + d] += z * q[d];
          dv[key + d] += operand * dO[d];
        }
      }
      if ((j + 1) % kept_.block != 0 && j + 1 != s_.keys) continue;
      for (float& x : block) x *= static_cast<float>(c_.scale);
      keep(dq, block, j / kept_.block == last_block(s_.keys));
    }
    for (const float x : dq) out_.grad_q.push_back(stored(x));
  }

  const cases::Case& c_;
  const cases::Spec& s_;
  const Kept kept_;
  cases::Outputs out_;
  std::vector<float> own_lse_;
};

}  // namespace plumbline::test
