// SPDX-License-Identifier: Apache-2.0
#include "verdict/backward_bounds.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace plumbline::verdict {
namespace {

constexpr double u = fp32_roundoff;
constexpr double infinity = std::numeric_limits<double>::infinity();
/// Half of fp32's smallest subnormal, and an exponential within 2.5 ulp of a subnormal.
constexpr double underflow = 0x1p-150, exp_underflow = 0x1p-147;
/// Covers second-order products of single roundings (u or a few u) and this file's own rounding.
constexpr double second_order = 1.0 + 0x1p-16;

double or_infinity(double x) { return x < infinity ? x : infinity; }

}  // namespace

double common_error(const Contract& contract, const ForwardRow& forward,
                    const ForwardRowBounds& bounds, std::span<const float> grad_output,
                    std::span<const double> grad_probability, double common) {
  const std::size_t n = forward.score.size(), head_dim = forward.output.size();
  const double r = contract.operand_roundoff;
  const double products = r * (2 + r);
  const ProbabilityRounding p_rounding = probability_rounding(contract);
  const double dot = gamma(static_cast<double>(head_dim), contract.unit_roundoff);

  // o is off by its weights' errors, which all components share, by the rounding of P, which they
  // share too, and by what is each component's own.
  double moved = 0.0, spread = 0.0, magnitude = 0.0, largest = 0.0;
  double low = infinity, high = -infinity, left_out = 0.0, farthest_left_out = 0.0;
  for (std::size_t j = 0; j < n; ++j) {
    const double size = std::abs(grad_probability[j]);
    const double distance = std::abs(grad_probability[j] - common);
    moved += bounds.moved[j] * distance;
    spread += bounds.weight[j] * distance;
    magnitude += bounds.weight[j] * size;
    largest = std::max(largest, size);
    low = std::min(low, grad_probability[j]);
    high = std::max(high, grad_probability[j]);
    if (forward.probability[j] <= contract.skipped_mass) {
      left_out += forward.probability[j];
      farthest_left_out = std::max(farthest_left_out, distance);
    }
  }
  if (bounds.ill_conditioned) {
    moved = std::max(high - common, common - low);
    spread = high - low;
    magnitude = largest;
  } else {
    // 1.2 > 1 / ((1 - 2^-10) (1 - 0.1)), what the kept weights can grow by.
    moved += 1.2 * std::min(left_out, contract.skipped_mass) * farthest_left_out;
    spread += moved;
  }
  double error = moved;
  error += contract.sums_rounded_p ? p_rounding.format * spread +
                                         (1.0 + p_rounding.format) * p_rounding.operand * magnitude
                                   : p_rounding.relative * magnitude;
  for (std::size_t d = 0; d < head_dim; ++d) {
    const double g = std::abs(static_cast<double>(grad_output[d]));
    if (g == 0.0) continue;
    error += g * (bounds.own[d] + (products + (1 + products) * dot) *
                                      (std::abs(forward.output[d]) + bounds.output[d])) +
             underflow;
  }
  return or_infinity(second_order * error);
}

BackwardRowErrors backward_row_errors(const Contract& contract, const BackwardRow& row) {
  const std::size_t n = row.score.size();
  const double r = contract.operand_roundoff;
  const double products = r * (2 + r);
  const double sum = gamma(row.head_dim, contract.unit_roundoff);
  const double dot = products + (1 + products) * sum;
  const ProbabilityRounding p_rounding = probability_rounding(contract);
  // Of dS = p (dP - D): the difference and the product, tau and c folded in or not.
  const double elementwise = (row.ssmax ? 8 : 4) * u;

  // p^_j = e^-delta p_j (1 + eps_j), |eps_j| <= e^h_j - 1.
  std::vector<double> h(n), dot_error(n);
  BackwardRowErrors errors;
  errors.probability.resize(n);
  double recomputed = 0.0, magnitude = 0.0;
  for (std::size_t j = 0; j < n; ++j) {
    h[j] = or_infinity(row.score_error[j] + 4 * u * (std::abs(row.score[j]) + std::abs(row.lse)) -
                       std::log1p(-contract.exp_error));
    const double all = h[j] + row.lse_error, log_p = row.score[j] - row.lse;
    const double p = row.probability[j];
    const double upper = std::exp(log_p + all);
    double error = upper < 0x1p127 ? upper * -std::expm1(-all) + exp_underflow : infinity;
    if (p <= contract.skipped_mass) error = std::max(error, p);
    errors.probability[j] = error = or_infinity(error);
    dot_error[j] = dot * row.grad_products[j] + row.head_dim * underflow;
    if (!row.grad_operands.empty()) {
      dot_error[j] += operand_underflow(contract) * row.grad_operands[j];
    }
    const double size = std::abs(row.grad_probability[j]) + dot_error[j];
    // D as sum_j p_j dP_j, p rounded for the product or not.
    const double rounded = error + p_rounding.relative * (p + error) + p_rounding.absolute;
    recomputed += rounded * std::abs(row.grad_probability[j]) + (p + rounded) * dot_error[j];
    magnitude += (p + rounded) * size;
  }
  recomputed += gamma(static_cast<double>(n), contract.unit_roundoff) * magnitude +
                static_cast<double>(n) * underflow;
  const double common = std::max(row.common_error, second_order * recomputed);
  const double grown = std::exp(row.lse_error);
  errors.growth = or_infinity(std::expm1(row.lse_error));
  errors.common = or_infinity(grown * common);
  errors.own.resize(n);
  errors.total.resize(n);
  for (std::size_t j = 0; j < n; ++j) {
    const double p = row.probability[j];
    const double distance = std::abs(row.grad_probability[j] - row.common);
    const double moved_by = h[j] + elementwise, log_p = row.score[j] - row.lse;
    const double upper = std::exp(log_p + moved_by);
    double own = upper * -std::expm1(-moved_by) * (distance + common) + upper * dot_error[j] +
                 exp_underflow * (distance + common + dot_error[j]) + 4 * underflow;
    // Left out, dS_j is 0: off by all of dS_j, which shares nothing with the row.
    if (p <= contract.skipped_mass) own = std::max(own, p * (distance + common));
    errors.own[j] = or_infinity(second_order * grown * own);
    errors.total[j] = or_infinity(errors.growth * p * distance + p * errors.common + errors.own[j]);
  }
  return errors;
}

Operand rounded_operand(const Contract& contract, double magnitude, double error,
                        double largest_factor) {
  const ProbabilityRounding rounding = probability_rounding(contract);
  const double r = contract.operand_roundoff;
  const double size = magnitude + error;
  if (!(size * std::max(1.0, largest_factor) < rounding.largest)) return {infinity, infinity};
  const double rounded =
      rounding.relative * size + rounding.absolute * std::max(1.0, largest_factor);
  return {error + rounded + r * (size + rounded), (size + rounded) * (1 + r)};
}

double gradient_bound(const Contract& contract, cases::Format format, double value, double error,
                      double magnitude, double additions, double largest) {
  const double sum = gamma(additions, contract.unit_roundoff) + 4 * u;
  const double lost = 4 * additions * underflow * (1.0 + largest);
  const double computed = second_order * (error + sum * magnitude) + lost;
  const double stored = unit_roundoff(format);
  const double rounding = stored == u ? u : stored + u;
  const double bound =
      computed + rounding * (std::abs(value) + computed) + half_smallest_subnormal(format);
  const bool safe = magnitude < 0x1p127 && std::abs(value) + bound < largest_safe(format);
  return safe ? bound : infinity;
}

}  // namespace plumbline::verdict
