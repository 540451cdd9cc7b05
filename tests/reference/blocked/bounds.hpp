// SPDX-License-Identifier: Apache-2.0
// How far blocked attention may be from the exact result: docs/blocked.md, formula by formula.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "reference/attention/attention_grad.hpp"
#include "reference/blocked/kernels.hpp"
#include "tests/reference/blocked/bias_numbers.hpp"

namespace plumbline::reference {

/// Bounds, laid out as what they bound.
struct BlockedBounds {
  std::vector<Matrix<double>> output, q, k, v;
  std::vector<Vector<double>> lse;
  std::vector<std::vector<double>> bias;
  std::vector<double> ssmax_scale;
};

/// In units of u. K-CABLE's logarithm is not the equation's: 8u (functions_test), and u for the
/// product with g or 2u for the argument g d. The other biases have the equation's bits.
template <class B>
inline constexpr double bias_error = 0.0;
template <>
inline constexpr double bias_error<KCable<double>> = 10.0;
template <>
inline constexpr double bias_error<KCableNw<double>> = 10.0;
template <>
inline constexpr double bias_error<KCablePaper<double>> = 10.0;

template <class B>
class BoundsOf {
 public:
  static constexpr double u = 0x1p-53, exp_error = 3.0 * u, second_order = 1.02;
  /// Roundings of one db_ij / dparameter: docs/blocked.md, "Parameters of the bias". FIRE of width
  /// 3 has the most.
  static constexpr double derivative_error = 10.0 * u;
  static double gamma(double n) { return n * u / (1.0 - n * u); }

  template <class BiasOf>
  BoundsOf(const AttentionInputs<double>& x, const BiasOf& bias_of,
           const AttentionUpstream<double>& upstream)
      : x_(x), upstream_(upstream) {
    const AttentionShape& s = x.shape;
    const int heads = s.batch * s.heads, kv_heads = s.batch * s.kv_heads;
    const Matrix<double> rows = zeros<double>(s.queries, s.head_dim);
    bounds.output.assign(heads, rows);
    bounds.q = bounds.output;
    bounds.k.assign(kv_heads, zeros<double>(s.keys, s.head_dim));
    bounds.v = bounds.k;
    bounds.lse.assign(heads, zeros<double>(s.queries));
    bounds.ssmax_scale.assign(x.ssmax_scale.size(), 0.0);
    for (int b = 0; b < s.batch; ++b) {
      for (int h = 0; h < s.heads; ++h) {
        const B bias = bias_of(b, h);
        bounds.bias.emplace_back(numbers_of<double>(bias.zero_grad()).size(), 0.0);
        for (int r = 0; r < s.queries; ++r) add_row(bias, b, h, r);
      }
    }
  }

  BlockedBounds bounds;

 private:
  void add_row(const B& bias, int b, int h, int r) {
    const AttentionShape& shape = x_.shape;
    const int head = b * shape.heads + h, kv = b * shape.kv_heads + shape.kv_head(h);
    const int i = r + shape.query_offset, D = shape.head_dim;
    const std::vector<int> visible = visible_keys(x_.mask, b, i, shape.keys);
    if (visible.empty()) return;
    const int n = static_cast<int>(visible.size());
    const Vector<double> q = x_.q[head].row(r);
    const Matrix<double>&K = x_.k[kv], &V = x_.v[kv];
    const auto row = attention_row(q, K, V, visible, x_.scale, bias, i, ssmax_of(x_, h));
    const Vector<double> z = biased_scores(q, K, visible, x_.scale, bias, i);
    const bool ssmax = !x_.ssmax_scale.empty();
    const double log_n = std::log(n), c = ssmax ? std::fabs(x_.ssmax_scale[h] * log_n) : 1.0;
    const double L = std::fabs(row.lse), m = std::fabs(row.logits.maxCoeff());
    const double tiles = shape.keys / blocked::key_tile + 1;
    const double by_keys = gamma(n + tiles + 1);
    const double by_rows = gamma(shape.queries * (shape.heads / shape.kv_heads) + 1);
    const double by_pairs = gamma(static_cast<double>(shape.batch) * shape.queries * shape.keys);

    // Scores, forward.
    Vector<double> z_error(n), s_error(n);
    double lse_bound = by_keys + u * (3 * L + 2 * m);
    Vector<double>& o_bound = row_bound_ = zeros<double>(D);
    for (int j = 0; j < n; ++j) {
      const double products = q.cwiseAbs().dot(K.row(visible[j]).cwiseAbs().transpose());
      z_error[j] = gamma(D + 2) * std::fabs(x_.scale) * products + u * std::fabs(z[j]) +
                   bias_error<B> * u * std::fabs(bias(i, visible[j]));
      s_error[j] = c * z_error[j] + (ssmax ? 2 * u * std::fabs(row.logits[j]) : 0.0);
      const double s = std::fabs(row.logits[j]), p = row.probability[j];
      const double weight = s_error[j] + u * (s + m) + exp_error + 2 * tiles * u;
      require_first_order(weight);
      lse_bound += p * weight;
      for (int d = 0; d < D; ++d) {
        o_bound[d] += p * weight * std::fabs(V(visible[j], d) - row.output[d]) +
                      2 * by_keys * p * std::fabs(V(visible[j], d));
      }
    }
    o_bound = second_order * (o_bound + u * row.output.cwiseAbs());
    lse_bound *= second_order;
    bounds.lse[head][r] = lse_bound;
    bounds.output[head].row(r) = o_bound.transpose();

    // Backward.
    const Vector<double> grad_o = upstream_.output[head].row(r);
    const double grad_lse = upstream_.lse.empty() ? 0.0 : upstream_.lse[head][r];
    const double shift = grad_o.dot(row.output) - grad_lse;
    const double shift_error = grad_o.cwiseAbs().dot(o_bound) + u * std::fabs(shift) +
                               gamma(D) * grad_o.cwiseAbs().dot(row.output.cwiseAbs());
    for (int j = 0; j < n; ++j) {
      const int key = visible[j];
      const double s = std::fabs(row.logits[j]), p = row.probability[j];
      const double p_error = s_error[j] + u * (s + L) + lse_bound + exp_error;
      require_first_order(p_error);
      const double dp = grad_o.dot(V.row(key));
      const double dp_error = gamma(D) * grad_o.cwiseAbs().dot(V.row(key).cwiseAbs());
      const double ds = std::fabs(p * (dp - shift));
      const double ds_error =
          second_order * (ds * (p_error + 2 * u) + p * (dp_error + shift_error));
      const double dz = c * ds, dz_error = c * ds_error + (ssmax ? 2 * u * dz : 0.0);
      for (int d = 0; d < D; ++d) {
        const double scale = std::fabs(x_.scale);
        bounds.q[head](r, d) += scale * (dz_error + by_keys * dz) * std::fabs(K(key, d));
        bounds.k[kv](key, d) += scale * (dz_error + by_rows * dz) * std::fabs(q[d]);
        bounds.v[kv](key, d) += second_order * p * (p_error + by_rows) * std::fabs(grad_o[d]);
      }
      add_magnitudes(bias, i, key, dz_error + (by_pairs + derivative_error) * dz,
                     bounds.bias[head]);
      if (ssmax) {
        bounds.ssmax_scale[h] += log_n * (ds_error * std::fabs(z[j]) + ds * z_error[j] +
                                          (by_pairs + 2 * u) * ds * std::fabs(z[j]));
      }
    }
  }

  /// What second_order rests on.
  static void require_first_order(double relative) {
    require(relative <= 0.005, "relative error of a weight", relative, "at most 0.005");
  }

  const AttentionInputs<double>& x_;
  const AttentionUpstream<double>& upstream_;
  Vector<double> row_bound_;
};

}  // namespace plumbline::reference
