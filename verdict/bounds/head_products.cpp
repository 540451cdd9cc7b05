// SPDX-License-Identifier: Apache-2.0
#include "verdict/bounds/head_products.hpp"

#include <algorithm>
#include <cmath>

#include "verdict/bounds/backward.hpp"
#include "verdict/bounds/roundoff.hpp"
#include "verdict/bounds/row.hpp"
#include "verdict/judge/gradient_drift.hpp"

namespace plumbline::verdict {
namespace {

using reference::RunningError;

Numbers absolute(const Numbers& x) { return x.cwiseAbs(); }

Numbers as_numbers(const float* first, int rows, int columns) {
  return Eigen::Map<const reference::Matrix<float>>(first, rows, columns).cast<double>();
}

/// A matrix that is known within a radius.
struct Factor {
  const Numbers &value, &radius;
};

/// Adds scale A B, of n terms each: |computed - exact| <= gamma_n |A||B| + r_A (|B| + r_B) + |A|
/// r_B in any order of summation.
void add_product(const Factor& A, const Factor& B, double scale, double n, Numbers& value,
                 Numbers& radius) {
  const Numbers size = absolute(B.value) + B.radius;
  const double rounding = gamma(n + 8, 0x1p-53);
  value.noalias() += scale * (A.value * B.value);
  radius.noalias() +=
      std::abs(scale) * (1 + 0x1p-40) *
      ((rounding * absolute(A.value) + A.radius) * size + absolute(A.value) * B.radius);
}

/// left_out(x) of backward_bounds.hpp for every row and every column x of X.
Numbers left_out_of_rows(const HeadPairs& pairs, const Numbers& X) {
  Numbers error = pairs.left_out * X;
  for (Eigen::Index r = 0; r < error.rows(); ++r) {
    for (Eigen::Index d = 0; d < error.cols(); ++d) {
      const double cap = pairs.left_out_rate.row(r).transpose().cwiseProduct(X.col(d)).maxCoeff();
      error(r, d) = std::min(error(r, d), cap);
    }
  }
  return error;
}

/// What sums lose that are kept in 16 bits from block to block: each block's product, and each sum
/// with a later one, all partial sums being within the magnitude.
/// @param blocks by row; @param unscaled what a partial sum may be multiplied with in the end;
/// @param in_float of the sums in float, relative to the magnitude.
Numbers kept_sums(const StoredRounding& rounding, std::span<const double> blocks,
                  const Product& product, double unscaled, double dropout, double in_float) {
  Numbers lost = Numbers::Zero(product.value.rows(), product.value.cols());
  const StoredRounding stored{rounding.relative,
                              rounding.absolute * std::max(1.0, unscaled) * dropout,
                              rounding.largest * std::min(1.0, unscaled)};
  for (Eigen::Index r = 0; r < lost.rows(); ++r) {
    if (!(blocks[r] > 0)) continue;
    for (Eigen::Index d = 0; d < lost.cols(); ++d) {
      lost(r, d) = stored.of_several(blocks[r], (1 + in_float) * product.magnitude(r, d));
    }
  }
  return lost;
}

/// What one query head's part of a gradient loses where it is stored in 16 bits. @param before the
/// sums without it.
Numbers kept_head(const StoredRounding& rounding, const Product& with, const Product& before,
                  double in_float) {
  Numbers lost = with.value;
  for (Eigen::Index n = 0; n < lost.size(); ++n) {
    const auto part = [n](const Numbers& a, const Numbers& b) { return a.data()[n] - b.data()[n]; };
    const double magnitude = part(with.magnitude, before.magnitude);
    const double size = std::abs(part(with.value, before.value)) + part(with.error, before.error) +
                        with.radius.data()[n] + in_float * magnitude;
    lost.data()[n] = magnitude > 0 ? rounding.of(size) : 0.0;
  }
  return lost;
}

double largest(const Numbers& x) { return x.size() > 0 ? x.cwiseAbs().maxCoeff() : 0.0; }

}  // namespace

void HeadProducts::add(int kv, std::span<const HeadPairs> heads, OracleGradients& result) const {
  const auto& s = case_.spec;
  const int D = s.head_dim, V = s.value_width(), group = s.heads / s.kv_heads;
  const int batch = kv / s.kv_heads;
  const double tau = std::abs(case_.scale), unscaled = tau, m = dropout_factor(s);
  const auto numbers = [&](const auto& rows, Numbers& value, Numbers& radius) {
    value.resize(rows.rows(), rows.cols());
    radius.resize(rows.rows(), rows.cols());
    for (Eigen::Index n = 0; n < rows.size(); ++n) {
      value.data()[n] = rows.data()[n].value();
      radius.data()[n] = rows.data()[n].error();
    }
  };
  const double lost = operand_underflow(contract_);
  const double lost_of_turned = rope_pairs(s.bias) ? rotated_underflow(contract_, s.format) : lost;
  const auto errors_of = [&](const float* first, int rows) {
    Numbers error(rows, D);
    for (int r = 0; r < rows; ++r) {
      const auto of_row = rotation_error(s, first + std::size_t(r) * D);
      std::copy(of_row.begin(), of_row.end(), &error(r, 0));
    }
    return Numbers(error.array() + lost_of_turned);
  };
  Numbers K, K_radius;
  numbers(*reading_.k(kv), K, K_radius);
  const Numbers K_size =
      absolute(K) + errors_of(case_.k.data() + std::size_t(kv) * s.keys * D, s.keys);
  const Numbers K_error = K_size - absolute(K);

  // The statistics gate; RoPE rotates dQ and dK after the sums.
  const bool rotated_back = rope_pairs(s.bias).has_value();
  const bool of_q = !rotated_back && has_statistics(s, contract_, formats_.q);
  const bool of_k = !rotated_back && has_statistics(s, contract_, formats_.k);
  const bool of_v = has_statistics(s, contract_, formats_.v);
  const auto none_of = [](int rows) { return std::vector<bool>(rows, false); };
  const auto query_rows = [&](const std::vector<float>& tensor, int n, int width) {
    const int head = batch * s.heads + (kv % s.kv_heads) * group + n;
    return as_numbers(tensor.data() + std::size_t(head) * s.queries * width, s.queries, width);
  };

  Product grad_k, grad_v;
  for (auto [product, width] : {std::pair{&grad_k, D}, std::pair{&grad_v, V}}) {
    for (auto* m : {&product->value, &product->radius, &product->error, &product->magnitude}) {
      *m = Numbers::Zero(s.keys, width);
    }
  }
  std::vector<double> queries(s.keys, 0.0);  // that see the key
  // What is kept in 16 bits before a sum is finished.
  const StoredRounding sums = stored_rounding(contract_, contract_.gradient_sum_format);
  const StoredRounding of_head = stored_rounding(contract_, contract_.head_gradient_format);
  const bool keeps_sums = sums.relative > 0, keeps_heads = of_head.relative > 0 && group > 1;
  std::vector<double> blocks(s.keys, 0.0);
  const auto in_float = [&](double n) { return gamma(n, contract_.unit_roundoff) + 4 * u; };
  Numbers kept_k = Numbers::Zero(s.keys, D), kept_v = Numbers::Zero(s.keys, V);
  for (int n = 0; n < group; ++n) {
    const HeadPairs& pairs = heads[n];
    const int head = batch * s.heads + (kv % s.kv_heads) * group + n;
    const std::size_t first = std::size_t(head) * s.queries * D;
    reference::Matrix<RunningError> rotated(s.queries, D);
    for (int r = 0; r < s.queries; ++r) {
      rotated.row(r) = reading_.q(batch, head % s.heads, r).transpose();
    }
    Numbers Q, Q_radius;
    numbers(rotated, Q, Q_radius);
    const Numbers Q_error = errors_of(case_.q.data() + first, s.queries);
    const Numbers Q_size = absolute(Q) + Q_error;
    const Numbers dO = query_rows(case_.grad_o, n, V);
    const Numbers exact = Numbers::Zero(s.queries, V);
    for (int j = 0; j < s.keys; ++j) {
      const auto seen = static_cast<double>(
          ((pairs.p_magnitude + pairs.z_magnitude).col(j).array() > 0.0).count());
      queries[j] += seen;
      if (keeps_sums) blocks[j] += sum_blocks(contract_, seen, s.queries);
    }
    const Product before_k = keeps_heads ? grad_k : Product(),
                  before_v = keeps_heads ? grad_v : Product();

    Product grad_q;
    grad_q.value = grad_q.radius = Numbers::Zero(s.queries, D);
    add_product({pairs.z, pairs.z_radius}, {K, K_radius}, case_.scale, s.keys, grad_q.value,
                grad_q.radius);
    const Numbers& p = pairs.p_of_products.size() > 0 ? pairs.p_of_products : pairs.p;
    const Numbers by_p = absolute(p * K) + 0x1p-30 * (p * absolute(K));
    grad_q.error = tau * (pairs.row_error * K_size + pairs.z_magnitude * K_error);
    if (pairs.left_out.size() > 0) grad_q.error += tau * left_out_of_rows(pairs, K_size);
    grad_q.magnitude = tau * (pairs.z_magnitude * K_size);
    for (int r = 0; r < s.queries; ++r) {
      grad_q.error.row(r) +=
          pairs.growth[r] * (grad_q.value.row(r).cwiseAbs() + grad_q.radius.row(r)) +
          tau * pairs.common[r] * by_p.row(r);
    }
    if (pairs.added.value.size() > 0) {
      grad_q.value += pairs.added.value;
      grad_q.radius += pairs.added.radius;
      grad_q.error += pairs.added.error;
      grad_q.magnitude += pairs.added.magnitude;
    }
    Numbers kept_q = Numbers::Zero(s.queries, D);
    if (keeps_sums) {
      std::vector<double> of_rows(s.queries);
      for (int r = 0; r < s.queries; ++r) {
        of_rows[r] = sum_blocks(contract_, pairs.keys[r], s.keys);
      }
      kept_q = kept_sums(sums, of_rows, grad_q, unscaled, m, in_float(s.keys));
      grad_q.error += kept_q;
    }
    finish(grad_q, formats_.q, pairs.keys, largest(K), case_.first_position(batch),
           &result.q[first]);
    if (of_q) {
      const Numbers W =
          drift_weights(formats_.q, s.queries, D, none_of(s.queries), &result.q[first]);
      result.q_drift.add(
          drift_of_sums(contract_, formats_.q, W, grad_q.value, grad_q.magnitude, pairs.keys));
      result.q_drift.add(drift_of_pairs(roundings_of_z(contract_, pairs), W, K, case_.scale));
      result.q_drift.allowance += W.cwiseAbs().cwiseProduct(kept_q).sum();
    }

    add_product({pairs.z.transpose(), pairs.z_radius.transpose()}, {Q, Q_radius}, case_.scale,
                s.queries * group, grad_k.value, grad_k.radius);
    grad_k.error +=
        tau * (pairs.z_error.transpose() * Q_size + pairs.z_magnitude.transpose() * Q_error);
    grad_k.magnitude += tau * (pairs.z_magnitude.transpose() * Q_size);
    add_product({pairs.p.transpose(), pairs.p_radius.transpose()}, {dO, exact}, 1.0,
                s.queries * group, grad_v.value, grad_v.radius);
    const Numbers dO_error = Numbers::Constant(s.queries, V, lost);
    grad_v.error +=
        pairs.p_error.transpose() * absolute(dO) + pairs.p_magnitude.transpose() * dO_error;
    grad_v.magnitude += pairs.p_magnitude.transpose() * absolute(dO);
    if (keeps_heads) {
      kept_k += kept_head(of_head, grad_k, before_k, in_float(s.queries));
      kept_v += kept_head(of_head, grad_v, before_v, in_float(s.queries));
    }
  }
  if (keeps_sums) {
    kept_k += kept_sums(sums, blocks, grad_k, unscaled, m, in_float(double(s.queries) * group));
    kept_v += kept_sums(sums, blocks, grad_v, 1.0, m, in_float(double(s.queries) * group));
  }
  grad_k.error += kept_k;
  grad_v.error += kept_v;
  const std::size_t first = std::size_t(kv) * s.keys * D, first_v = std::size_t(kv) * s.keys * V;
  const double largest_q = std::abs(*std::max_element(
      case_.q.begin(), case_.q.end(), [](float a, float b) { return std::abs(a) < std::abs(b); }));
  finish(grad_k, formats_.k, queries, largest_q, 0, &result.k[first]);
  finish(grad_v, formats_.v, queries, m, std::nullopt, &result.v[first_v]);
  if (of_k) {
    const Numbers W = drift_weights(formats_.k, s.keys, D, none_of(s.keys), &result.k[first]);
    result.k_drift.add(
        drift_of_sums(contract_, formats_.k, W, grad_k.value, grad_k.magnitude, queries));
    for (int n = 0; n < group; ++n) {
      result.k_drift.add(drift_of_pairs(roundings_of_z(contract_, heads[n]),
                                        query_rows(case_.q, n, D), W, case_.scale));
    }
    result.k_drift.allowance += W.cwiseAbs().cwiseProduct(kept_k).sum();
  }
  if (of_v) {
    // A value's gradient that is one row's dO, but for little, stands on that row's grid.
    std::vector<bool> on_the_grid(s.keys, false);
    for (int j = 0; j < s.keys; ++j) {
      for (const HeadPairs& pairs : heads) {
        on_the_grid[j] = on_the_grid[j] || pairs.p.col(j).maxCoeff() >= nearly_all;
      }
    }
    const Numbers W = drift_weights(formats_.v, s.keys, V, on_the_grid, &result.v[first_v]);
    result.v_drift.add(
        drift_of_sums(contract_, formats_.v, W, grad_v.value, grad_v.magnitude, queries));
    for (int n = 0; n < group; ++n) {
      result.v_drift.add(drift_of_pairs(roundings_of_p(contract_, heads[n]),
                                        query_rows(case_.grad_o, n, V), W, 1.0));
    }
    result.v_drift.allowance += W.cwiseAbs().cwiseProduct(kept_v).sum();
  }
}

void HeadProducts::finish(const Product& product, cases::Format format,
                          std::span<const double> additions, double other,
                          std::optional<int> first_position, OracleNumber* result) const {
  const auto& s = case_.spec;
  const int rows = static_cast<int>(product.value.rows()),
            D = static_cast<int>(product.value.cols());
  const auto pairs = first_position ? rope_pairs(s.bias) : std::nullopt;
  for (int r = 0; r < rows; ++r) {
    const double n = additions[r];
    if (!pairs) {
      for (int d = 0; d < D; ++d) {
        const double value = product.value(r, d);
        result[r * D + d] = {value, product.radius(r, d) + (n > 0 ? 0x1p-1000 : 0.0),
                             gradient_bound(contract_, format, value, product.error(r, d),
                                            product.magnitude(r, d), n, other)};
      }
      continue;
    }
    // RoPE: the gradient is rotated back, with the tables and three roundings (4u), from fp32.
    reference::Matrix<RunningError> rotated(1, D);
    std::vector<double> bound(D);
    for (int d = 0; d < D; ++d) {
      rotated(0, d) = RunningError(product.value(r, d), product.radius(r, d));
      bound[d] = gradient_bound(contract_, cases::Format::fp32, product.value(r, d),
                                product.error(r, d), product.magnitude(r, d), n, other);
    }
    const double base = case_.options[PLUMBLINE_BASE];
    const int position = r + *first_position;
    const int width = s.rotary_width();
    const auto back = reference::rope_grad(rotated, position, RunningError(base), *pairs, width);
    for (int d = width; d < D; ++d) {
      const double value = product.value(r, d);
      result[r * D + d] = {value, product.radius(r, d),
                           gradient_bound(contract_, format, value, bound[d], 0.0, 0, 0.0)};
    }
    for (int k = 0; k < width / 2; ++k) {
      const auto [a, b] = reference::rope_pair(*pairs, k, width);
      const double phi = position * std::pow(base, -2.0 * k / width);
      const double cosine = std::abs(std::cos(phi)), sine = std::abs(std::sin(phi));
      const double size =
          std::abs(rotated(0, a).value()) + std::abs(rotated(0, b).value()) + bound[a] + bound[b];
      const double of_a = bound[a] * cosine + bound[b] * sine + 4 * u * size;
      const double of_b = bound[a] * sine + bound[b] * cosine + 4 * u * size;
      for (const auto& [d, off] : {std::pair{a, of_a}, std::pair{b, of_b}}) {
        const double value = back(0, d).value();
        result[r * D + d] = {value, back(0, d).error(),
                             gradient_bound(contract_, format, value, off, 0.0, 0, 0.0)};
      }
    }
  }
}

}  // namespace plumbline::verdict
