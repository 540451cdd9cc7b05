// SPDX-License-Identifier: Apache-2.0
#include "verdict/bounds/row.hpp"

#include <algorithm>
#include <cmath>

#include "verdict/bounds/roundoff.hpp"
#include "verdict/bounds/softcap_error.hpp"

namespace plumbline::verdict {

std::vector<double> rotation_error(const cases::Spec& spec, const float* x) {
  const auto pairs = rope_pairs(spec.bias);
  std::vector<double> error(spec.head_dim, 0.0);
  const int width = spec.rotary_width();
  for (int k = 0; k < width / 2; ++k) {
    const auto [first, second] = reference::rope_pair(*pairs, k, width);
    const double size = std::abs(double{x[first]}) + std::abs(double{x[second]});
    error[first] = error[second] = 4 * u * size;
  }
  return error;
}

double dropout_factor(const cases::Spec& spec) { return 1.0 / (1.0 - double{spec.dropout}); }

double dropout_error(const cases::Spec& spec) {
  const double rate = spec.dropout;
  return rate == 0 ? 0.0 : second_order * u * (4 + rate / (1 - rate));
}

RowBounds::RowBounds(const cases::Case& the_case, const Contract& contract, cases::Format o_format,
                     const Reading& reading)
    : case_(the_case),
      contract_(contract),
      o_format_(o_format),
      reading_(reading),
      no_value_(the_case.spec.value_width(), 0.0f),
      bias_error_(the_case, contract),
      score_method_errors_(the_case, contract_, reading, bias_error_) {}

void RowBounds::fill_scores(BoundedRow& row, int batch, int head, int query,
                            const std::vector<int>& visible) const {
  const auto& spec = case_.spec;
  const int position = case_.position(batch, query);
  const std::size_t n = visible.size();
  const int kv = batch * spec.kv_heads + head / (spec.heads / spec.kv_heads);
  const std::size_t q_row =
      (static_cast<std::size_t>(batch) * spec.heads + head) * spec.queries + query;
  const auto q = reading_.q(batch, head, query);
  const auto q_error = rotation_error(spec, case_.q.data() + q_row * spec.head_dim);
  const bool rotated = rope_pairs(spec.bias).has_value();
  const double scale = std::abs(case_.scale), operand = contract_.operand_roundoff;

  row.products.resize(n);
  row.bias.resize(n);
  std::vector<double> exact(n, 0.0), by_rotation(n, 0.0), by_operands(n, 0.0);
  const double operand_lost =
      rotated ? rotated_underflow(contract_, spec.format) : operand_underflow(contract_);
  const double in_sum = 1 + gamma(spec.head_dim, contract_.unit_roundoff);
  // A slope times a distance, either of which may be flushed.
  const double bias_lost =
      contract_.flushes_subnormals ? 2 * spec.positions() * operand_underflow(contract_) : 0.0;
  const auto of_head = reading_.k(kv);
  for (std::size_t m = 0; m < n; ++m) {
    const std::size_t key_row = static_cast<std::size_t>(kv) * spec.keys + visible[m];
    const auto k = reference::row(*of_head, visible[m]);
    double sum = 0.0;
    for (int d = 0; d < spec.head_dim; ++d) {
      const double product = q[d].value() * k[d].value();
      sum += std::abs(product);
      exact[m] += product;
    }
    row.products[m] = scale * sum;
    const bool dropped = case_.kept(batch, head, query, visible[m]) == 0;
    row.forward.value.push_back(dropped ? no_value_.data()
                                        : case_.v.data() + key_row * spec.value_width());
    double sizes = 0.0;
    for (int d = 0; d < spec.head_dim && operand_lost > 0; ++d)
      sizes += std::abs(q[d].value()) + std::abs(k[d].value());
    if (rotated) {
      const auto k_error = rotation_error(spec, case_.k.data() + key_row * spec.head_dim);
      for (int d = 0; d < spec.head_dim; ++d) {
        sizes += q_error[d] + k_error[d];
        by_rotation[m] += scale * (q_error[d] * (std::abs(k[d].value()) + k_error[d]) +
                                   std::abs(q[d].value()) * k_error[d]);
      }
    }
    if (operand_lost > 0) {
      by_operands[m] =
          scale * operand_lost * in_sum * ((1 + operand) * sizes + spec.head_dim * operand_lost) +
          bias_lost;
    }
  }
  reading_.with_bias(batch, head, position, [&](const auto& b) {
    for (std::size_t m = 0; m < n; ++m) row.bias[m] = b(position, visible[m]).value();
  });
  row.bias_error = cases::needs_scores(spec.bias)
                       ? score_method_errors_.added(batch, head, query, visible)
                       : bias_error_.row(batch, head, position, visible, row.bias);
  for (std::size_t m = 0; m < n; ++m) {
    const double of_product = (1 + operand * (2 + operand)) * by_rotation[m] + by_operands[m];
    row.bias_error[m] += spec.softcap == 0 ? of_product : cap(row, m, exact[m], of_product);
  }

  const auto& ssmax = case_[PLUMBLINE_SSMAX_SCALE];
  if (spec.ssmax) row.factor = ssmax[head] * std::log(static_cast<double>(n));
  for (std::size_t m = 0; m < n && contract_.score_format != PLUMBLINE_FP32; ++m) {
    // What CoPE and DAPE add is no b_ij alone: there the product may be as large as its terms.
    const double product = cases::needs_scores(spec.bias) || row.factor == 0
                               ? row.products[m]
                               : row.score[m] / row.factor - row.bias[m];
    row.bias_error[m] +=
        score_rounding(contract_, spec.head_dim, case_.scale, spec.ssmax, row.factor, row.score[m],
                       product, row.products[m], row.bias_error[m]);
  }
  row.score_error = score_errors(contract_, spec.head_dim, case_.scale, spec.ssmax, row.factor,
                                 row.score, row.products, row.bias_error);
}

double RowBounds::cap(BoundedRow& row, std::size_t m, double product, double beside_sum) const {
  const auto& spec = case_.spec;
  const double dot = product_roundoff(contract_, spec.head_dim) * row.products[m];
  const double lost = (spec.head_dim + 2) * result_underflow(contract_);
  // A correct kernel may overflow before the softcap.
  const bool safe = row.products[m] < 0x1p127 * std::min(1.0, std::abs(case_.scale));
  const SoftcapErrors errors =
      softcap_errors(contract_, spec.softcap, case_.scale * product,
                     safe ? second_order * (dot + beside_sum + lost) : infinity);
  row.products[m] *= errors.slope;
  row.softcap_derivative.push_back(errors.derivative);
  row.softcap_derivative_error.push_back(errors.derivative_error);
  return errors.slope * beside_sum + errors.added;
}

void RowBounds::fill_spread(BoundedRow& row, int batch, int head, int query,
                            const std::vector<int>& visible) const {
  const auto& spec = case_.spec;
  row.forward.random_signs = has_random_signs(spec);
  if (!row.forward.random_signs) return;
  const int kv = batch * spec.kv_heads + head / (spec.heads / spec.kv_heads);
  double squares = 0.0, key_squares = 0.0;
  const auto q = reading_.q(batch, head, query);
  for (int d = 0; d < spec.head_dim; ++d) squares += q[d].value() * q[d].value();
  const auto of_head = reading_.k(kv);
  for (const int key : visible) {
    const auto k = reference::row(*of_head, key);
    for (int d = 0; d < spec.head_dim; ++d) key_squares += k[d].value() * k[d].value();
  }
  row.forward.spread = std::abs(row.factor) * std::abs(case_.scale) *
                       std::sqrt(squares * key_squares / (double(visible.size()) * spec.head_dim));
}

double RowBounds::sink_error(double sink) const {
  const double error = 2 * u * std::abs(sink);
  if (contract_.score_format == PLUMBLINE_FP32) return error;
  return error + stored_rounding(contract_, contract_.score_format).of(std::abs(sink) + error);
}

void RowBounds::fill_forward(BoundedRow& row, int head, double lse) const {
  row.forward.score = row.score;
  row.forward.score_error = row.score_error;
  row.forward.probability = row.probability;
  if (case_.spec.sinks) {
    const double sink = case_[PLUMBLINE_SINKS][head];
    const auto with = [](const std::vector<double>& of_keys, double of_sink) {
      std::vector<double> all = of_keys;
      all.push_back(of_sink);
      return all;
    };
    row.forward.score = row.with_sink_score = with(row.score, sink);
    // The kernel's maximum may be that of the keys alone, with the sink added at the end.
    const double of_keys = *std::max_element(row.score.begin(), row.score.end());
    row.forward.score_error = row.with_sink_error =
        with(row.score_error, sink_error(sink) + 4 * u * std::abs(of_keys));
    row.forward.probability = row.with_sink_probability =
        with(row.probability, std::exp(sink - lse));
    row.forward.value.push_back(no_value_.data());
  }
  row.forward.output = row.output;
  row.forward.lse = lse;
  row.forward.value_factor = dropout_factor(case_.spec);
  row.forward.dropout_error = dropout_error(case_.spec);
}

void RowBounds::fill_bounds(BoundedRow& row, int head, double lse) const {
  fill_forward(row, head, lse);
  // A sink may be a block of its own.
  row.forward.keys = case_.spec.keys + (case_.spec.sinks ? 1.0 * contract_.sum_block : 0.0);
  row.bounds = forward_row_bounds(contract_, o_format_, row.forward);
  if (case_.spec.sinks) {
    const double of_keys = *std::max_element(row.score.begin(), row.score.end());
    row.bounds.lse += second_order * 4 * u * (std::abs(of_keys) + std::abs(lse - of_keys));
  }
  if (!row.forward.random_signs) return;
  row.lse_errors = lse_errors(
      contract_, row.forward, row.bounds,
      {row.bias, row.products, row.bias_error, row.factor, case_.spec.ssmax, case_.spec.head_dim});
  row.bounds.lse = std::min(row.bounds.lse, row.lse_errors.bound());
}

}  // namespace plumbline::verdict
