// SPDX-License-Identifier: Apache-2.0
#include "verdict/bounds/backward.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "verdict/bounds/roundoff.hpp"
#include "verdict/cases/formats.hpp"

namespace plumbline::verdict {
namespace {

/// Of an exponential within 2.5 ulp of a subnormal; of its rounding where P is saved so.
double exp_underflow(const Contract& contract) {
  const double lost = 8 * result_underflow(contract);
  return contract.saves_rounded_p ? lost + probability_rounding(contract).absolute : lost;
}

/// Of a dot product relative to the sum of its terms' magnitudes: gamma_D, operands off by r.
double dot_roundoff(const Contract& contract, int value_dim) {
  const double products = contract.operand_roundoff * (2 + contract.operand_roundoff);
  return products + (1 + products) * gamma(value_dim, contract.unit_roundoff);
}

/// h_j of a row: p^_j = e^-delta p_j (1 + eps_j), |eps_j| <= e^h_j - 1.
double weight_exponent(const Contract& contract, const BackwardRow& row, std::size_t j) {
  const double saved = contract.saves_rounded_p ? probability_rounding(contract).format : 0.0;
  return or_infinity(row.score_error[j] + 4 * u * (std::abs(row.score[j]) + std::abs(row.lse)) -
                     std::log1p(-contract.exp_error) - std::log1p(-saved));
}

/// |p^_j - p_j| for a key that is not left out.
double probability_error(const Contract& contract, const BackwardRow& row, std::size_t j) {
  const double all = weight_exponent(contract, row, j) + row.lse_error;
  const double upper = std::exp(row.score[j] - row.lse + all);
  return or_infinity(upper < 0x1p127 ? upper * -std::expm1(-all) + exp_underflow(contract)
                                     : infinity);
}

/// Whether a kernel that leaves out keys of little probability, as it computes it, may leave out
/// this one.
bool may_be_left_out(const Contract& contract, const BackwardRow& row, std::size_t j) {
  return contract.skipped_mass > 0 &&
         row.probability[j] <=
             contract.skipped_mass * std::exp(weight_exponent(contract, row, j) + row.lse_error);
}

/// |dP^_j - dP_j|.
double dot_error(const Contract& contract, const BackwardRow& row, std::size_t j) {
  double error = dot_roundoff(contract, row.value_dim) * row.grad_products[j] +
                 row.value_dim * result_underflow(contract) * row.largest_factor;
  error += row.dropout_error * (std::abs(row.grad_probability[j]) + error);
  if (!row.grad_operands.empty()) error += operand_underflow(contract) * row.grad_operands[j];
  if (contract.grad_probability_format == PLUMBLINE_FP32) return error;
  const StoredRounding rounding = stored_rounding(contract, contract.grad_probability_format);
  const double size = std::abs(row.grad_probability[j]) + error;
  error += rounding.of(size);
  // With dropout also before m_j.
  if (row.dropout_error > 0) {
    error += rounding.relative * size + rounding.absolute * row.largest_factor;
  }
  return error;
}

/// Of D where its terms, and then their sum, are rounded to delta_format.
/// @param magnitude sum of the terms' sizes; @param value |D|; @param error of both before.
double delta_rounding(const Contract& contract, double terms, double magnitude, double value,
                      double error) {
  if (contract.delta_format == PLUMBLINE_FP32) return 0.0;
  const StoredRounding rounding = stored_rounding(contract, contract.delta_format);
  const double of_terms = rounding.relative * (magnitude + error) + terms * rounding.absolute;
  if (!(magnitude + error < rounding.largest)) return infinity;
  return of_terms + rounding.of(value + error + of_terms);
}

Operand rounded_by(const ProbabilityRounding& rounding, const Contract& contract, double magnitude,
                   double error, double largest, double underflow_factor) {
  const double r = contract.operand_roundoff;
  const double size = magnitude + error;
  if (!(std::max(size, largest) < rounding.largest)) return {infinity, infinity};
  const double rounded =
      rounding.relative * size + rounding.absolute * std::max(1.0, underflow_factor);
  return {error + rounded + r * (size + rounded), (size + rounded) * (1 + r)};
}

}  // namespace

double common_error_of_output(const Contract& contract, std::span<const float> grad_output,
                              std::span<const float> output) {
  double products = 0.0, operands = 0.0, value = 0.0;
  for (std::size_t d = 0; d < output.size(); ++d) {
    value += double{grad_output[d]} * output[d];
    products += std::abs(double{grad_output[d]} * output[d]);
    operands += std::abs(double{grad_output[d]}) + std::abs(double{output[d]});
  }
  const int value_dim = static_cast<int>(output.size());
  const double error = dot_roundoff(contract, value_dim) * products +
                       value_dim * result_underflow(contract) +
                       operand_underflow(contract) * operands;
  return or_infinity(second_order * (error + delta_rounding(contract, value_dim, products,
                                                            std::abs(value), error)));
}

double common_error_of_probabilities(const Contract& contract, const BackwardRow& row) {
  const std::size_t n = row.score.size();
  double error = 0.0, magnitude = 0.0, left_out = 0.0, largest_left_out = 0.0;
  for (std::size_t j = 0; j < n; ++j) {
    const double p = row.probability[j], size = std::abs(row.grad_probability[j]);
    const double p_error = probability_error(contract, row, j);
    const double of_dot = dot_error(contract, row, j);
    error += p_error * size + (p + p_error) * of_dot;
    magnitude += (p + p_error) * (size + of_dot);
    if (may_be_left_out(contract, row, j)) {
      const double growth = std::exp(weight_exponent(contract, row, j) + row.lse_error);
      left_out += p * size;
      largest_left_out = std::max(largest_left_out, contract.skipped_mass * growth * size);
    }
  }
  error += std::min(left_out, largest_left_out) +
           gamma(static_cast<double>(n), contract.unit_roundoff) * magnitude +
           static_cast<double>(n) * result_underflow(contract);
  error += delta_rounding(contract, static_cast<double>(n), magnitude, std::abs(row.common), error);
  return or_infinity(second_order * error);
}

double with_lse_gradient(const Contract& contract, double common, double common_error,
                         double grad_lse) {
  // A difference, or p D and p dlse on their own; dlse / ln 2 where lse is to base 2.
  const double of_base = contract.lse_base_2 != 0 ? 3 * u : 0.0;
  double error = common_error + 2 * u * (std::abs(common) + common_error + std::abs(grad_lse)) +
                 of_base * std::abs(grad_lse) + result_underflow(contract);
  // What is differentiated is the lse that was stored, so that dlse comes in that format.
  if (contract.lse_format != PLUMBLINE_FP32) {
    error += stored_rounding(contract, contract.lse_format).of(std::abs(grad_lse));
  }
  if (contract.delta_format != PLUMBLINE_FP32) {
    error +=
        stored_rounding(contract, contract.delta_format).of(std::abs(common - grad_lse) + error);
  }
  return or_infinity(second_order * error);
}

BackwardRowErrors backward_row_errors(const Contract& contract, const BackwardRow& row) {
  const std::size_t n = row.score.size();
  // Of dS = p (dP - D): the difference and the product, tau and c folded in or not. With a gradient
  // through lse dS = p (dP - D + dlse), or p (dP - D) + p' dlse with a p' of its own: one more sum,
  // and |dP - D| <= |dP - D + dlse| + |dlse|.
  const double g = row.grad_lse;
  const double elementwise = (row.ssmax ? 8 : 4) * u + (g > 0 ? u : 0.0);
  const double grown = std::exp(row.lse_error), common = row.common_error;
  BackwardRowErrors errors;
  errors.growth = or_infinity(std::expm1(row.lse_error));
  errors.common = or_infinity(grown * common + g * std::expm1(2 * row.lse_error));
  for (auto* of_keys :
       {&errors.own, &errors.left_out, &errors.left_out_rate, &errors.total, &errors.probability}) {
    of_keys->resize(n);
  }
  for (std::size_t j = 0; j < n; ++j) {
    const double p = row.probability[j], h = weight_exponent(contract, row, j);
    const double distance = std::abs(row.grad_probability[j] - row.common) + 2 * g;
    const double of_dot = dot_error(contract, row, j) + 4 * u * g;
    const double moved_by = h + elementwise;
    const double upper = std::exp(row.score[j] - row.lse + moved_by);
    const double own = upper * -std::expm1(-moved_by) * (distance + common) + upper * of_dot +
                       exp_underflow(contract) * (distance + common + of_dot) +
                       4 * result_underflow(contract);
    errors.probability[j] = probability_error(contract, row, j);
    errors.own[j] = or_infinity(second_order * grown * own);
    if (may_be_left_out(contract, row, j)) {
      // dS_j is 0 then: off by all of it, which shares nothing with the row.
      const double rate = second_order * grown * (distance + common);
      errors.probability[j] = std::max(errors.probability[j], p);
      errors.left_out[j] = std::max(0.0, or_infinity(p * rate) - errors.own[j]);
      errors.left_out_rate[j] =
          or_infinity(contract.skipped_mass * std::exp(h + row.lse_error) * rate);
    }
    errors.total[j] = or_infinity(errors.growth * p * distance + p * errors.common + errors.own[j] +
                                  errors.left_out[j]);
  }
  return errors;
}

Operand rounded_operand(const Contract& contract, double magnitude, double error, double largest,
                        double underflow_factor) {
  return rounded_by(probability_rounding(contract), contract, magnitude, error, largest,
                    underflow_factor);
}

Operand rounded_probability(const Contract& contract, double magnitude, double error,
                            double underflow_factor) {
  ProbabilityRounding rounding = scaled_probability_rounding(contract);
  const bool eight_bits =
      cases::has_scales(static_cast<cases::Format>(contract.probability_format));
  // Conversions to 8 bits saturate, which brings a p^ beyond the largest number nearer to a p
  // below.
  if (eight_bits && magnitude < rounding.largest) rounding.largest = infinity;
  return rounded_by(rounding, contract, magnitude, error, 0.0, underflow_factor);
}

double gradient_bound(const Contract& contract, cases::Format format, double value, double error,
                      double magnitude, double additions, double largest) {
  const double sum = gamma(additions, contract.unit_roundoff) + 4 * u;
  const double lost = 4 * additions * result_underflow(contract) * (1.0 + largest);
  const double computed = second_order * (error + sum * magnitude) + lost;
  const double stored = unit_roundoff(format);
  const double rounding = stored == u ? u : stored + u;
  const double bound =
      computed + rounding * (std::abs(value) + computed) + stored_underflow(contract, format);
  const bool safe = magnitude < 0x1p127 && std::abs(value) + bound < largest_safe(format);
  return safe ? bound : infinity;
}

}  // namespace plumbline::verdict
