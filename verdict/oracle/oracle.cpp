// SPDX-License-Identifier: Apache-2.0
#include "verdict/oracle/oracle.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <mutex>
#include <numbers>

#include "verdict/bounds/roundoff.hpp"
#include "verdict/bounds/row.hpp"
#include "verdict/oracle/certified_interval.hpp"
#include "verdict/oracle/exact_rows.hpp"
#include "verdict/oracle/rows.hpp"

namespace plumbline::verdict {

using reference::AttentionRow;
using reference::Interval;
using reference::RunningError;

struct Oracle::Prepared {
  Prepared(const cases::Case& c, const Contract& contract, cases::Format o_format)
      : the_case(c),
        contract(contract),
        o_format(o_format),
        statistics(has_statistics(c.spec, contract, o_format)),
        reading(c, is_alibi_of_key(contract, c.spec)),
        row_bounds(c, contract, o_format, reading) {}

  const cases::Case& the_case;
  Contract contract;
  cases::Format o_format;
  bool statistics;
  CaseReading<RunningError> reading;
  RowBounds row_bounds;

  /// The same in intervals, made when the first row needs it.
  const CaseReading<Interval>& intervals() const {
    std::call_once(intervals_made, [&] {
      intervals_ = std::make_unique<CaseReading<Interval>>(
          the_case, is_alibi_of_key(contract, the_case.spec));
    });
    return *intervals_;
  }

  template <class R>
  OracleRow with_bounds(const AttentionRow<R>& row, int batch, int head, int query,
                        const std::vector<int>& visible) const {
    const BoundedRow bounded = row_bounds.row(row, batch, head, query, visible);
    OracleRow result;
    const LeftOut not_judged = left_out(contract, bounded);
    result.left_out = not_judged.any();
    result.ill_conditioned = bounded.bounds.ill_conditioned;
    const Certified lse = certified(row.lse);
    result.lse = {lse.value, lse.radius, bounded.bounds.lse};
    for (int d = 0; d < the_case.spec.value_width(); ++d) {
      const Certified o = certified(row.output[d]);
      result.o.push_back(
          {o.value, o.radius, bounded.bounds.output[d], 0, bounded.bounds.before_storing[d]});
    }
    if (const auto level = level_row(the_case, contract, batch, head, query, visible)) {
      make_level(result, *level);
    }
    result.lse.not_judged = not_judged.lse;
    for (OracleNumber& o : result.o) o.not_judged = not_judged.o;
    if (bounded.forward.random_signs && !bounded.bounds.ill_conditioned && !result.left_out) {
      const LseErrors& errors = bounded.lse_errors;
      result.lse.random = errors.scale();
      result.lse.beside_random = errors.systematic;
      result.lse_along = {errors.along_scale, errors.along_bias, 1.0};
      for (int d = 0; d < the_case.spec.value_width(); ++d) {
        result.o[d].random = bounded.bounds.random[d];
        result.o[d].beside_random = bounded.bounds.beside_random[d];
      }
    }
    const double stored = lse_rounding(contract, std::abs(result.lse.value) + result.lse.bound);
    result.lse.bound += stored;
    result.lse.beside_random += stored;
    if (statistics && !result.left_out && counts(bounded.forward, bounded.bounds)) {
      std::vector<double> weight;
      for (OracleNumber& o : result.o) {
        weight.push_back(o.weight = drift_weight(o.value, o.bound, o_format));
      }
      result.o_drift = output_drift(contract, o_format, bounded.forward, bounded.bounds, weight);
    }
    return result;
  }

 private:
  /// The exact output in place of the one read, and what a division may lose in place of its bound.
  void make_level(OracleRow& row, const LevelRow& level) const {
    row.lse.bound = std::min(row.lse.bound, level.lse_bound);
    const double stored = rounds_at_random(o_format) ? unit_roundoff(o_format) : 0.0;
    for (std::size_t d = 0; d < level.o.size(); ++d) {
      const double size = std::abs(level.o[d]), error = level.division_error * size;
      row.o[d] = {level.o[d], 0, std::min(row.o[d].bound, error + stored * (size + error)), 0,
                  error};
    }
  }

  mutable std::once_flag intervals_made;
  mutable std::unique_ptr<CaseReading<Interval>> intervals_;
};

LeftOut left_out(const Contract& contract, const BoundedRow& row) {
  const auto any = [](const std::vector<double>& numbers, double largest) {
    return std::any_of(numbers.begin(), numbers.end(),
                       [&](double x) { return !(std::abs(x) <= largest); });
  };
  const bool by_scores = (contract.largest_score > 0 && any(row.score, contract.largest_score)) ||
                         (contract.score_format != PLUMBLINE_FP32 &&
                          any(row.score_error, std::numeric_limits<double>::max()));
  const double lse = std::abs(row.forward.lse) + row.bounds.lse;
  return {.o = by_scores || row.bounds.overflows,
          .lse = by_scores || std::isinf(lse_rounding(contract, lse))};
}

void to_declared_base(const Contract& contract, OracleRow& row) {
  if (contract.lse_base_2 == 0 || row.sees_no_key) return;
  OracleNumber& lse = row.lse;
  for (double* x : {&lse.value, &lse.radius, &lse.bound, &lse.random, &lse.beside_random}) {
    *x *= std::numbers::log2e;
  }
  for (double& along : row.lse_along) along *= std::numbers::log2e;
  const double size = std::abs(lse.value), rounding = second_order * 3 * u * (size + lse.bound);
  lse.radius += 0x1p-52 * size;  // the constant and the product in double
  lse.bound += rounding;
  lse.beside_random += rounding;
}

OracleNumber mean_of_values(const cases::Case& the_case, const Contract& contract,
                            cases::Format o_format, int batch, int head, int query, int component) {
  const auto& spec = the_case.spec;
  const std::size_t kv =
      static_cast<std::size_t>(batch) * spec.kv_heads + head / (spec.heads / spec.kv_heads);
  double sum = 0.0, magnitude = 0.0;
  for (int j = 0; j < spec.keys; ++j) {
    const double v = the_case.kept(batch, head, query, j) *
                     the_case.v[(kv * spec.keys + j) * spec.value_width() + component];
    sum += v;
    magnitude += std::abs(v);
  }
  const double n = spec.keys;
  // Weights of e^0 each, off by the exponential's error if that is not exact, and rounded for the
  // product; two sums; a division, or one for each weight.
  const ProbabilityRounding p = scaled_probability_rounding(contract);
  const double weight = (contract.inexact_exp_zero ? 2 * contract.exp_error : 0.0) + p.relative +
                        dropout_error(spec) +
                        (spec.dropout > 0 ? dropout_roundings(contract) : 0.0) +
                        contract.operand_roundoff * (1 + p.relative);
  const double mean_size = magnitude / n;
  double error =
      (weight + (1 + weight) * 2 * gamma(n, contract.unit_roundoff) + 6 * u) * mean_size +
      2 * p.absolute * magnitude + operand_underflow(contract) * dropout_factor(spec) +
      2 * (n + 1) * result_underflow(contract) * dropout_factor(spec);
  bool overflows = false;
  if (contract.output_sum_format != PLUMBLINE_FP32) {
    const StoredRounding rounding = stored_rounding(contract, contract.output_sum_format);
    const double roundings = 2 * sum_blocks(contract, n, n) - 1;
    error += StoredRounding{rounding.relative, rounding.absolute}.of_several(roundings,
                                                                             mean_size + error);
    // A kernel may divide by n at the end.
    overflows = std::isinf(rounding.of_several(roundings, (1 + weight) * magnitude));
  }
  const double value = sum / n, stored = unit_roundoff(o_format);
  const double bound =
      error + (stored + u) * (std::abs(value) + error) + stored_underflow(contract, o_format);
  const bool safe = std::abs(value) + bound < largest_safe(o_format);
  OracleNumber mean{value, gamma(n + 2, 0x1p-53) * mean_size + 0x1p-1000,
                    safe ? bound : std::numeric_limits<double>::infinity()};
  mean.not_judged = overflows;
  return mean;
}

OracleRow row_of_sink(const Contract& contract, const RowBounds& bounds,
                      const cases::Case& the_case, int head) {
  const double sink = the_case[PLUMBLINE_SINKS][head];
  // One weight, e^0, and its logarithm, after a merge of ranges perhaps; the maximum once more in
  // natural units, and its sum with the logarithm.
  const double of_exponential =
      contract.inexact_exp_zero ? -std::log1p(-contract.exp_error) + 4 * u : 0.0;
  const double error = bounds.sink_error(sink) + (contract.splits > 1 ? 2 : 1) * of_exponential +
                       8 * u * std::abs(sink);
  OracleRow row;
  row.o.resize(the_case.spec.value_width());
  row.lse = {sink, 0, second_order * error + result_underflow(contract)};
  row.lse.bound += lse_rounding(contract, std::abs(sink) + row.lse.bound);
  row.left_out = row.lse.not_judged = std::isinf(row.lse.bound);
  return row;
}

Oracle::Oracle(const cases::Case& the_case, const Contract& contract, cases::Format o_format)
    : prepared_(std::make_unique<Prepared>(the_case, contract, o_format)) {}
Oracle::~Oracle() = default;

OracleRow Oracle::row(int batch, int head, int query) const {
  OracleRow row = natural_row(batch, head, query);
  to_declared_base(prepared_->contract, row);
  return row;
}

OracleRow Oracle::natural_row(int batch, int head, int query) const {
  const auto visible = prepared_->reading.visible(batch, head, query);
  if (visible.empty() && sees_its_sink(prepared_->contract, prepared_->the_case.spec)) {
    return row_of_sink(prepared_->contract, prepared_->row_bounds, prepared_->the_case, head);
  }
  if (visible.empty()) {
    OracleRow empty;
    empty.sees_no_key = true;
    empty.o.resize(prepared_->the_case.spec.value_width());
    const int convention = empty_rows_of(prepared_->contract, prepared_->the_case, batch, query);
    if (convention == PLUMBLINE_EMPTY_ROWS_ARE_MEANS) {
      for (std::size_t d = 0; d < empty.o.size(); ++d) {
        empty.o[d] = mean_of_values(prepared_->the_case, prepared_->contract, prepared_->o_format,
                                    batch, head, query, static_cast<int>(d));
      }
    }
    constexpr double infinity = std::numeric_limits<double>::infinity();
    empty.lse.value = convention == PLUMBLINE_EMPTY_ROWS_HAVE_PLUS_INF ? infinity : -infinity;
    return empty;
  }
  const auto precise_enough = [](const OracleRow& row) {
    const auto ok = [](const OracleNumber& x) { return x.radius <= largest_radius * x.bound; };
    return ok(row.lse) && std::all_of(row.o.begin(), row.o.end(), ok);
  };
  OracleRow row = prepared_->with_bounds(prepared_->reading.row(batch, head, query, visible), batch,
                                         head, query, visible);
  if (precise_enough(row)) return row;
  return prepared_->with_bounds(prepared_->intervals().row(batch, head, query, visible), batch,
                                head, query, visible);
}

OracleNumbers oracle_numbers(const cases::Case& the_case, const Contract& contract, int threads) {
  const auto& spec = the_case.spec;
  const std::size_t rows = static_cast<std::size_t>(spec.batch) * spec.heads * spec.queries;
  OracleNumbers numbers;
  for (auto* tensor : {&numbers.lse, &numbers.lse_radius, &numbers.lse_bound}) tensor->resize(rows);
  for (auto* tensor : {&numbers.o, &numbers.o_radius, &numbers.o_bound}) {
    tensor->resize(rows * spec.value_width());
  }
  const Oracle oracle(the_case, contract_for(contract, spec), cases::output_format(spec.format));
  for_each_row(spec, threads, [&](std::size_t n, int batch, int head, int query) {
    const OracleRow row = oracle.row(batch, head, query);
    numbers.lse[n] = row.lse.value;
    numbers.lse_radius[n] = row.lse.radius;
    numbers.lse_bound[n] = row.lse.bound;
    for (int d = 0; d < spec.value_width(); ++d) {
      const std::size_t element = n * spec.value_width() + d;
      numbers.o[element] = row.o[d].value;
      numbers.o_radius[element] = row.o[d].radius;
      numbers.o_bound[element] = row.o[d].bound;
    }
  });
  return numbers;
}

}  // namespace plumbline::verdict
