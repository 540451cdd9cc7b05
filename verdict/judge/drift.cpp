// SPDX-License-Identifier: Apache-2.0
#include "verdict/judge/drift.hpp"

#include <algorithm>
#include <cmath>

namespace plumbline::verdict {

void Drift::add(const Drift& part) {
  moment += part.moment;
  allowance += part.allowance;
  variance += part.variance;
}

double Drift::deviations() const {
  const double excess = std::abs(moment) - allowance;
  return variance > 0 && excess > 0 ? excess / std::sqrt(variance) : 0.0;
}

void TrendSum::add(const TrendSum& part) {
  drift.add(part.drift);
  response += part.response;
}

double ErrorSize::part_of_largest() const {
  return groups > 0 ? squares / largest_sum_of_squares(groups, group_size) : 0.0;
}

double drift_weight(double value, double bound, cases::Format format) {
  // Four times the smallest normal number.
  const double smallest = 4 * half_smallest_subnormal(format) / unit_roundoff(format);
  const double weight = value / bound / bound;
  return std::abs(value) >= smallest && std::isfinite(weight) && std::isfinite(bound) ? weight
                                                                                      : 0.0;
}

bool rounds_at_random(cases::Format format) {
  return format == cases::Format::bf16 || format == cases::Format::fp16;
}

bool rounds_at_random(const Contract& contract) {
  return rounds_at_random(static_cast<cases::Format>(contract.probability_format));
}

OperandRounding operand_rounding(const Contract& contract, double magnitude, double unnormalised,
                                 double underflow_factor) {
  if (!rounds_at_random(contract)) return {};
  const ProbabilityRounding rounding = probability_rounding(contract);
  const double relative = rounding.relative * magnitude;
  const double absolute = 2 * rounding.absolute * std::max(1.0, underflow_factor);
  // Where e^0 is not quite 1, 1 is what it may round to each time.
  if (unnormalised == 1.0) return {0.0, contract.inexact_exp_zero ? relative : 0.0};
  if (relative < absolute) return {0.0, std::min(magnitude + relative, absolute)};
  if (unnormalised > 1 - rounding.relative && unnormalised < 1) return {0.0, relative};
  return {relative, 0.0};
}

bool counts(const ForwardRow& row, const ForwardRowBounds& bounds) {
  return bounds.weight_error <= 0x1p-6 &&
         *std::max_element(row.probability.begin(), row.probability.end()) < nearly_all;
}

Drift output_drift(const Contract& contract, cases::Format format, const ForwardRow& row,
                   const ForwardRowBounds& bounds, std::span<const double> weight) {
  Drift drift;
  const double stored = rounds_at_random(format) ? unit_roundoff(format) : 0.0;
  for (std::size_t d = 0; d < weight.size(); ++d) {
    drift.allowance += std::abs(weight[d]) * bounds.systematic[d];
    const double rounding = weight[d] * stored * row.output[d];
    drift.variance += rounding * rounding;
  }
  const double best = *std::max_element(row.probability.begin(), row.probability.end());
  for (std::size_t j = 0; j < row.probability.size(); ++j) {
    double moved = 0.0;  // by p_j, relative
    for (std::size_t d = 0; d < weight.size(); ++d) {
      moved += weight[d] * (row.value_factor * row.value[j][d] -
                            (contract.sums_rounded_p ? row.output[d] : 0.0));
    }
    const double p = row.probability[j] / best;
    const OperandRounding rounding = operand_rounding(contract, p, p);
    drift.allowance += rounding.systematic * std::abs(best * moved);
    drift.variance += rounding.random * best * moved * rounding.random * best * moved;
  }
  // Of weights that are off themselves: 1 + 2^-6 squared, and second order.
  drift.variance *= 1 + 0x1p-4;
  return drift;
}

bool has_statistics(const cases::Spec& spec, const Contract& contract, cases::Format format) {
  return has_random_signs(spec) && (rounds_at_random(format) || rounds_at_random(contract)) &&
         contract.operand_roundoff == 0;
}

}  // namespace plumbline::verdict
