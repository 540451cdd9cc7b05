// SPDX-License-Identifier: Apache-2.0
#include "tests/faults/judge/same_precision.hpp"

#include <algorithm>
#include <cmath>

namespace plumbline::bench {
namespace {

/// A row's tensors of the forward pass.
struct PlainRow {
  std::vector<int> keys;
  std::vector<float> p, stored_p;  ///< as softmax gives it, and in the format with dropout
  std::vector<float> kept;         ///< m
  std::vector<float> slope{};      ///< of the softcap
  float factor = 1;
};

class PlainRun {
 public:
  explicit PlainRun(const cases::Case& the_case)
      : in_(problem_of(the_case)),
        p_(in_.p),
        masks_(in_, variant_, none_),
        bias_(in_, none_),
        q_(in_.q),
        k_(in_.k) {
    const bool rotates = p_.rope != PLUMBLINE_NO_ROPE;
    if (rotates) {
      rotate(q_, p_, p_.queries, 1, false, none_);
      rotate(k_, p_, p_.keys, 1, true, none_);
    }
    for (float& x : q_) x = stored(x);
    for (float& x : k_) x = stored(stored(x) * static_cast<float>(p_.scale));
  }

  Results<double> run(bool backward) {
    Results<double> results;
    results.o.resize(in_.q.size() / p_.head_dim * p_.value_dim);
    if (backward) {
      results.grad_q.resize(in_.q.size());
      results.grad_k.resize(in_.k.size());
      results.grad_v.resize(in_.v.size());
    }
    for (int b = 0; b < p_.batch; ++b) {
      for (int h = 0; h < p_.heads; ++h) head(b, h, backward, results);
    }
    const bool rotates = p_.rope != PLUMBLINE_NO_ROPE;
    if (backward && rotates) {
      rotate(results.grad_q, p_, p_.queries, -1, false, none_);
      rotate(results.grad_k, p_, p_.keys, -1, true, none_);
    }
    return results;
  }

 private:
  float stored(float x) const { return rounded(x, p_.format); }
  static float dot(const float* a, const float* b, int n) {
    float total = 0;
    for (int d = 0; d < n; ++d) total += a[d] * b[d];
    return total;
  }

  PlainRow plain_row(int b, int h, int r) const {
    const auto seen = masks_.row(b, h, r, false);
    PlainRow row;
    row.keys = seen.keys;
    row.factor = static_cast<float>(seen.factor);
    std::vector<float> s;
    float maximum = -INFINITY, total = 0;
    for (const int j : row.keys) {
      const float product =
          stored(dot(q_.data() + in_.query_row(b, h, r) * p_.head_dim,
                     k_.data() + in_.key_row(b, kv(h), j) * p_.head_dim, p_.head_dim));
      float scaled = product;
      row.slope.push_back(1);
      if (p_.softcap != 0) {
        const auto cap = static_cast<float>(p_.softcap);
        const float tanh = stored(std::tanh(stored(product / cap)));
        scaled = stored(cap * tanh);
        row.slope.back() = 1 - tanh * tanh;
      }
      s.push_back((scaled + bias_(b, h, r, j)) * row.factor);
      maximum = std::max(maximum, s.back());
    }
    const bool has_sink = p_.sinks != 0;
    const float sink = has_sink ? in_.parameter(PLUMBLINE_SINKS)[h] : 0;
    if (has_sink) maximum = std::max(maximum, sink);
    for (float& x : s) total += x = std::exp(x - maximum);
    if (has_sink) total += std::exp(sink - maximum);
    for (std::size_t n = 0; n < s.size(); ++n) {
      row.p.push_back(s[n] / total);
      row.kept.push_back(static_cast<float>(masks_.kept(b, h, r, row.keys[n])));
      row.stored_p.push_back(stored(row.kept[n] * stored(row.p[n])));
    }
    return row;
  }

  int kv(int h) const { return h / (p_.heads / p_.kv_heads); }
  const float* value(int b, int h, int key) const {
    return in_.v.data() + in_.key_row(b, kv(h), key) * p_.value_dim;
  }

  void head(int b, int h, bool backward, Results<double>& results) const {
    const int dim = p_.head_dim, width = p_.value_dim;
    const std::size_t keys = p_.keys;
    std::vector<float> dk(keys * dim), dv(keys * width);
    for (int r = 0; r < p_.queries; ++r) {
      const PlainRow row = plain_row(b, h, r);
      const std::size_t of_row = in_.query_row(b, h, r), at = of_row * dim, at_o = of_row * width;
      std::vector<float> o(width), dq(dim);
      for (std::size_t n = 0; n < row.keys.size(); ++n) {
        const float* v = value(b, h, row.keys[n]);
        for (int d = 0; d < width; ++d) o[d] += row.stored_p[n] * v[d];
      }
      for (int d = 0; d < width; ++d) results.o[at_o + d] = stored(o[d]);
      if (!backward) continue;
      const float* upstream = in_.grad_o.data() + at_o;
      std::vector<float> dp;
      float total = 0;
      for (std::size_t n = 0; n < row.keys.size(); ++n) {
        dp.push_back(stored(row.kept[n] * dot(upstream, value(b, h, row.keys[n]), width)));
        total += row.p[n] * dp[n];
      }
      if (!in_.grad_lse.empty()) total -= in_.grad_lse[of_row];
      for (std::size_t n = 0; n < row.keys.size(); ++n) {
        const float dz = stored(row.p[n] * (dp[n] - total) * row.factor * row.slope[n]);
        const float* k = k_.data() + in_.key_row(b, kv(h), row.keys[n]) * dim;
        const std::size_t j = row.keys[n];
        for (int d = 0; d < dim; ++d) {
          dq[d] += dz * k[d];
          dk[j * dim + d] += dz * q_[at + d];
        }
        for (int d = 0; d < width; ++d) dv[j * width + d] += row.stored_p[n] * upstream[d];
      }
      for (int d = 0; d < dim; ++d) results.grad_q[at + d] = stored(dq[d]);
    }
    if (!backward) return;
    // Heads that share keys add what each stored.
    const std::size_t first = in_.key_row(b, kv(h), 0);
    for (std::size_t n = 0; n < dk.size(); ++n) {
      double& total = results.grad_k[first * dim + n];
      const float of_k = stored(stored(dk[n]) * static_cast<float>(p_.scale));
      total = stored(static_cast<float>(total) + of_k);
    }
    for (std::size_t n = 0; n < dv.size(); ++n) {
      double& total = results.grad_v[first * width + n];
      total = stored(static_cast<float>(total) + stored(dv[n]));
    }
  }

  const Problem in_;
  const plumbline_problem& p_;
  const Variant variant_;
  const Fault none_;
  const Attention<double> masks_;
  const Bias<float> bias_;
  std::vector<float> q_, k_;
};

}  // namespace

Results<double> in_same_precision(const cases::Case& the_case) {
  return PlainRun(the_case).run(the_case.spec.pass == cases::Pass::backward);
}

}  // namespace plumbline::bench
