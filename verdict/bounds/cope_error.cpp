// SPDX-License-Identifier: Apache-2.0
#include "verdict/bounds/cope_error.hpp"

#include <algorithm>
#include <cmath>

#include "verdict/bounds/roundoff.hpp"

namespace plumbline::verdict {
namespace {

/// What underflows: a gate whose exponential overflows is 0 instead of below 2^-126.
constexpr double lost = 0x1p-126;

/// g (1 - g) at s, the logistic function's slope.
double slope_at(double s) {
  const double t = std::exp(-std::abs(s));
  return t / ((1 + t) * (1 + t));
}

/// Of the counts, as of prefix sums.
double sum_roundoff(const Contract& contract) {
  return contract.prefix_sum == PLUMBLINE_PREFIX_SUM_FP32 ? contract.unit_roundoff : 0x1p-53;
}

/// How far e^-s, as the gate has it, is from that of the exact s, as an error of s: s is off by e,
/// its argument is scaled by log2 e, the exponential is off by exp_error.
double exponent_error(const Contract& contract, double s, double e) {
  return e + 2 * u * (std::abs(s) + e) - std::log1p(-contract.exp_error);
}

/// The table's rows that a position within error of `count` may lie between.
struct Reach {
  int first, last;
  bool meets_row;  ///< the position may be a whole number, or clamped
};

Reach reach(double count, double error, int rows) {
  const double last = rows - 1;
  const double low = std::clamp(count - error, 0.0, last);
  const double high = std::clamp(count + error, 0.0, last);
  return {static_cast<int>(std::floor(low)), static_cast<int>(std::ceil(high)),
          std::floor(high) >= low};
}

double value_of(const CopeNumbers& row, int n) { return row.exact.by_row[n].value(); }

}  // namespace

CopeErrors cope_errors(const Contract& contract, const CopeNumbers& row) {
  const int visible = static_cast<int>(row.exact.scores.size());
  const int rows = static_cast<int>(row.exact.by_row.size());
  const double r = contract.operand_roundoff, dot = gamma(row.head_dim, contract.unit_roundoff);
  CopeErrors errors;
  for (const double size : row.table_size) {
    const double error = (dot + r * (2 + r) * (1 + dot)) * size +
                         row.head_dim * result_underflow(contract) +
                         row.head_dim * operand_underflow(contract) * (size > 0 ? 1 : 0);
    errors.table.push_back(size < 0x1p127 ? second_order * error : INFINITY);
  }
  errors.gate.resize(visible);
  errors.count.resize(visible);
  errors.added.resize(visible);
  double gates = 0, gate_errors = 0;
  for (int j = visible; j-- > 0;) {
    const double s = row.exact.scores[j].value(), e = row.score_error[j];
    const double moved = exponent_error(contract, s, e);
    const double gate = 1 / (1 + std::exp(-s));
    // The sum with 1 and the quotient, 4u; a gate is between 0 and 1 whatever happens.
    const double change = slope_at(std::max(std::abs(s) - moved, 0.0)) * moved;
    errors.gate[j] = second_order * (std::min(1.0, change) + 4 * u * gate) + lost;
    if (!(errors.gate[j] <= 2)) errors.gate[j] = 2;
    gates += gate;
    gate_errors += errors.gate[j];
    errors.count[j] = second_order * (gate_errors + gamma(visible - j, sum_roundoff(contract)) *
                                                        (gates + gate_errors)) +
                      u * (gates + gate_errors);

    const Reach at = reach(row.exact.counts[j].value(), errors.count[j], rows);
    double slope = 0, least = INFINITY, most = -INFINITY, of_table = 0;
    for (int n = at.first; n <= at.last; ++n) {
      const double z = value_of(row, n);
      if (n > at.first) slope = std::max(slope, std::abs(z - value_of(row, n - 1)));
      least = std::min(least, z);
      most = std::max(most, z);
      of_table = std::max(of_table, errors.table[n]);
    }
    const bool clamped = row.exact.counts[j].value() - errors.count[j] >= rows - 1;
    const double by_position = clamped ? 0.0 : std::min(errors.count[j] * slope, most - least);
    // 1 - w, both products and the sum, or the difference, its product and the sum.
    const double size = std::max(std::abs(least), std::abs(most)) + of_table;
    errors.added[j] =
        second_order * (by_position + of_table + 6 * u * size) + 4 * result_underflow(contract);
    if (!(errors.added[j] < INFINITY)) errors.added[j] = INFINITY;
  }
  return errors;
}

CopeGradientErrors cope_gradient_errors(const Contract& contract, const CopeNumbers& row,
                                        const CopeErrors& errors, const CopeLogitsGradient& grad) {
  const int visible = static_cast<int>(row.exact.scores.size());
  const int rows = static_cast<int>(row.exact.by_row.size());
  CopeGradientErrors result;
  result.scores.resize(visible);
  result.by_row.resize(rows);
  std::vector<double> size(rows, 0.0);  // of the terms of dz
  double passed = 0, passed_error = 0, passed_size = 0;
  for (int k = 0; k < visible; ++k) {
    const double dl = std::abs(grad.value[k].value()), t = grad.error[k];
    const double count = row.exact.counts[k].value(), e = errors.count[k];
    const Reach at = reach(count, e, rows);

    // The slope of the table: that of any interval that the position may be in, 0 on a row.
    const double position = std::min(count, rows - 1.0);
    const int floor = static_cast<int>(std::floor(position));
    const bool on_row = position == floor || count >= rows - 1.0;
    const double slope = on_row ? 0.0 : value_of(row, floor + 1) - value_of(row, floor);
    double slope_error = at.meets_row ? std::abs(slope) : 0.0;
    double rounding = 0;
    for (int n = at.first + 1; n <= at.last; ++n) {
      const double other = value_of(row, n) - value_of(row, n - 1);
      slope_error = std::max(slope_error, std::abs(other - slope));
      rounding = std::max(rounding, errors.table[n] + errors.table[n - 1] + u * std::abs(other));
    }
    slope_error += rounding;
    const double term_error = t * (std::abs(slope) + slope_error) + dl * slope_error;
    const double term_size = (dl + t) * (std::abs(slope) + slope_error);
    passed += grad.value[k].value() * slope;
    passed_error += term_error + 2 * u * term_size;
    passed_size += term_size;

    const double s = row.exact.scores[k].value();
    const double moved = exponent_error(contract, s, row.score_error[k]);
    const double weight = slope_at(s), largest = slope_at(std::max(std::abs(s) - moved, 0.0));
    // From the exponential: |d/ds g (1 - g)| <= g (1 - g); both gates and their product, 10u. From
    // the gate: 1 - g is as far off as g, however small it is; the difference and the product.
    const double by_exponential = std::min(0.25, largest * moved) + 10 * u * largest;
    const double gate_error = errors.gate[k];
    const double by_gate =
        gate_error * (std::abs(1 - 2 / (1 + std::exp(-s))) + gate_error) + 3 * u * largest;
    const double weight_error = std::max(by_exponential, by_gate) + lost;
    const double sum_error = passed_error + gamma(k + 1, sum_roundoff(contract)) * (passed_size) +
                             u * (std::abs(passed) + passed_error);
    const double product = (weight + weight_error) * (std::abs(passed) + sum_error);
    result.scores[k] = second_order * (t + weight_error * (std::abs(passed) + sum_error) +
                                       weight * sum_error + 2 * u * (dl + t + product)) +
                       4 * result_underflow(contract);
    if (!(result.scores[k] < INFINITY)) result.scores[k] = INFINITY;

    for (int n = std::max(at.first - 1, 0); n <= std::min(at.last + 1, rows - 1); ++n) {
      const double weight_n = std::max(1 - std::abs(position - n), 0.0);
      const bool clamped = count - e >= rows - 1;
      const double moved_n = clamped ? 0.0 : std::min(e + 2 * u, 1.0);
      result.by_row[n] += t * (weight_n + moved_n) + dl * moved_n;
      size[n] += (dl + t) * std::min(weight_n + moved_n, 1.0);
    }
  }
  for (int n = 0; n < rows; ++n) {
    result.by_row[n] = second_order * (result.by_row[n] +
                                       (gamma(visible, contract.unit_roundoff) + 4 * u) * size[n]) +
                       visible * result_underflow(contract);
    if (!(result.by_row[n] < INFINITY)) result.by_row[n] = INFINITY;
  }
  return result;
}

}  // namespace plumbline::verdict
