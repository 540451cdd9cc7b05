// SPDX-License-Identifier: Apache-2.0
#include "verdict/bounds/lse_errors.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "verdict/bounds/roundoff.hpp"
#include "verdict/judge/drift.hpp"

namespace plumbline::verdict {
namespace {

/// sum_j p_j r_j, r_j being how often what key j has added is rescaled: the records of the running
/// maximum behind it, keys read in ascending or in descending order.
double mean_rescales(std::span<const double> score, std::span<const double> probability) {
  double most = 0.0;
  for (const bool descending : {false, true}) {
    const std::size_t n = score.size();
    double maximum = -std::numeric_limits<double>::infinity(), read = 0.0, rescaled = 0.0;
    for (std::size_t k = 0; k < n; ++k) {
      const std::size_t j = descending ? n - 1 - k : k;
      if (score[j] > maximum) {
        maximum = score[j];
        rescaled += read;
      }
      read += probability[j];
    }
    most = std::max(most, rescaled);
  }
  return most;
}

}  // namespace

double LseErrors::scale() const { return std::hypot(rounding, random); }

LseErrors lse_errors(const Contract& contract, const ForwardRow& row,
                     const ForwardRowBounds& bounds, const ScoreParts& parts) {
  LseErrors errors;
  if (bounds.ill_conditioned) {
    errors.systematic = std::numeric_limits<double>::infinity();
    return errors;
  }
  const std::size_t n = row.score.size();
  const int head_dim = parts.head_dim;
  const double r = contract.operand_roundoff, c = std::abs(parts.factor);
  const double maximum = *std::max_element(row.score.begin(), row.score.end());
  const double log_sum = std::max(row.lse - maximum, 0.0);
  const double dot = gamma(head_dim, contract.unit_roundoff);
  const bool to_nearest = sums_to_nearest(contract);
  // Of a dot product's roundings, relative to sum |q||k|.
  const double random_dot =
      to_nearest ? std::min(dot, (1 + dot) * u * std::sqrt(static_cast<double>(head_dim))) : 0.0;
  const double systematic_dot = (to_nearest ? 0.0 : dot) + r * (2 + r) * (1 + dot);
  const double lost = (head_dim + 2) * result_underflow(contract);
  const double best = std::exp(maximum - row.lse);

  double distance = 0.0, size = 0.0, products = 0.0, squares = 0.0;
  for (std::size_t j = 0; j < n; ++j) {
    const double p = row.probability[j], s = std::abs(row.score[j]);
    const double unfactored = c > 0 ? s / c : 0.0;
    const double of_product = row.score[j] - parts.factor * parts.bias[j];
    errors.along_scale += p * of_product;
    errors.along_bias += p * parts.factor * parts.bias[j];
    distance += p * (maximum - row.score[j]);
    size += p * s;
    products += p * c * parts.products[j];
    // tau, log2 e and their product; SSMax's factor.
    errors.systematic +=
        p * (c * (systematic_dot * parts.products[j] + parts.bias_error[j] + lost) +
             3 * u * std::abs(of_product) + (parts.ssmax ? 6 * u * s : 0.0));
    const double own = c * (random_dot * parts.products[j] + u * unfactored);
    squares += p * own * p * own;
    if (contract.sums_rounded_p) {
      const double relative = p / best;
      const ProbabilityRounding rounding = probability_rounding(contract);
      OperandRounding of_p = operand_rounding(contract, relative, relative);
      if (!rounds_at_random(contract)) of_p.systematic = rounding.relative * relative;
      errors.systematic += best * (of_p.systematic + rounding.absolute);
      squares += best * of_p.random * best * of_p.random;
    }
  }
  const bool counted = contract.splits <= 1 && contract.skipped_mass == 0;
  const double rescales =
      counted ? mean_rescales(row.score, row.probability) : double(bounds.rescales);
  const SumError& sum = bounds.weight_sum;
  double left_out = 0.0;
  for (const double p : row.probability) left_out += p <= contract.skipped_mass ? p : 0.0;
  left_out = std::min(left_out, contract.skipped_mass);
  errors.systematic +=
      u * (distance + std::abs(maximum)) + (1 + rescales) * -std::log1p(-contract.exp_error) +
      (contract.splits > 1 ? 4 * u * (std::abs(maximum) + std::log(double(n)) + 1) : 0.0) +
      bounds.largest_weight_exponent * bounds.largest_weight_exponent - std::log1p(-left_out) +
      sum.systematic + u * std::abs(row.lse) + 4 * u * (log_sum + 1);
  errors.rounding = 2 * u * products + 4 * u * (size + std::abs(maximum)) + bounds.rescales * u +
                    u * std::abs(row.lse) + 4 * u * std::abs(maximum);
  errors.random = std::sqrt(squares + sum.random * sum.random);
  // Second-order products of single roundings.
  for (double* part : {&errors.systematic, &errors.rounding, &errors.random}) *part *= 1 + 0x1p-16;
  return errors;
}

}  // namespace plumbline::verdict
