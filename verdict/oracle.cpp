// SPDX-License-Identifier: Apache-2.0
#include "verdict/oracle.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <mutex>

#include "reference/scalars/interval.hpp"
#include "reference/scalars/running_error.hpp"
#include "verdict/bias_error.hpp"
#include "verdict/case_reading.hpp"
#include "verdict/forward_bounds.hpp"
#include "verdict/rows.hpp"

namespace plumbline::verdict {
namespace {

using reference::AttentionRow;
using reference::Interval;
using reference::RunningError;

/// A number and how far it may be from the exact one.
struct Certified {
  double value, radius;
};
Certified certified(const RunningError& x) { return {x.value(), x.error()}; }
Certified certified(const Interval& x) {
  const double value = reference::representative(x);
  const double farthest =
      static_cast<double>(reference::upper(reference::absolute(x - Interval(value))));
  // The conversion rounded to nearest, so the next double is above the exact distance.
  return {value, std::nextafter(farthest, std::numeric_limits<double>::infinity())};
}

template <class R>
std::vector<double> values(const reference::Vector<R>& x) {
  std::vector<double> result(x.size());
  for (Eigen::Index n = 0; n < x.size(); ++n) result[n] = certified(x[n]).value;
  return result;
}

}  // namespace

struct Oracle::Prepared {
  Prepared(const cases::Case& c, const Contract& contract, cases::Format o_format)
      : the_case(c), contract(contract), o_format(o_format), reading(c), bias_error(c, contract) {}

  const cases::Case& the_case;
  Contract contract;
  cases::Format o_format;
  CaseReading<RunningError> reading;
  BiasError bias_error;

  /// The same in intervals, made when the first row needs it.
  const CaseReading<Interval>& intervals() const {
    std::call_once(intervals_made,
                   [&] { intervals_ = std::make_unique<CaseReading<Interval>>(the_case); });
    return *intervals_;
  }

  template <class R>
  OracleRow with_bounds(const AttentionRow<R>& row, int batch, int head, int query,
                        const std::vector<int>& visible) const;

 private:
  mutable std::once_flag intervals_made;
  mutable std::unique_ptr<CaseReading<Interval>> intervals_;
};

template <class R>
OracleRow Oracle::Prepared::with_bounds(const AttentionRow<R>& row, int batch, int head, int query,
                                        const std::vector<int>& visible) const {
  const auto& spec = the_case.spec;
  const int position = query + spec.query_offset;
  const std::size_t n = visible.size();
  const bool ssmax = spec.ssmax;
  const double factor =
      ssmax ? the_case[PLUMBLINE_SSMAX_SCALE][head] * std::log(static_cast<double>(n)) : 1.0;

  const std::size_t kv =
      static_cast<std::size_t>(batch) * spec.kv_heads + head / (spec.heads / spec.kv_heads);
  const std::size_t q_row =
      (static_cast<std::size_t>(batch) * spec.heads + head) * spec.queries + query;
  const float* q = the_case.q.data() + q_row * spec.head_dim;
  std::vector<double> products(n), bias(n);
  ForwardRow forward;
  for (std::size_t m = 0; m < n; ++m) {
    const std::size_t key_row = kv * spec.keys + visible[m];
    const float* k = the_case.k.data() + key_row * spec.head_dim;
    double sum = 0.0;
    for (int d = 0; d < spec.head_dim; ++d) sum += std::abs(double{q[d]} * k[d]);
    products[m] = std::abs(the_case.scale) * sum;
    forward.value.push_back(the_case.v.data() + key_row * spec.head_dim);
  }
  reading.with_bias(batch, head, [&](const auto& b) {
    for (std::size_t m = 0; m < n; ++m) bias[m] = b(position, visible[m]).value();
  });

  const auto score = values(row.logits), probability = values(row.probability);
  const auto output = values(row.output);
  const auto score_error =
      score_errors(contract, spec.head_dim, the_case.scale, ssmax, factor, score, products,
                   bias_error.row(batch, head, position, visible, bias));
  forward.score = score;
  forward.score_error = score_error;
  forward.probability = probability;
  forward.output = output;
  const Certified lse = certified(row.lse);
  forward.lse = lse.value;
  const ForwardRowBounds bounds = forward_row_bounds(contract, o_format, forward);

  OracleRow result;
  result.ill_conditioned = bounds.ill_conditioned;
  result.lse = {lse.value, lse.radius, bounds.lse};
  for (int d = 0; d < spec.head_dim; ++d) {
    const Certified o = certified(row.output[d]);
    result.o.push_back({o.value, o.radius, bounds.output[d]});
  }
  return result;
}

Oracle::Oracle(const cases::Case& the_case, const Contract& contract, cases::Format o_format)
    : prepared_(std::make_unique<Prepared>(the_case, contract, o_format)) {}
Oracle::~Oracle() = default;

OracleRow Oracle::row(int batch, int head, int query) const {
  const auto visible = prepared_->reading.visible(batch, query);
  if (visible.empty()) {
    OracleRow empty;
    empty.sees_no_key = true;
    empty.o.resize(prepared_->the_case.spec.head_dim);
    empty.lse.value = -std::numeric_limits<double>::infinity();
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
    tensor->resize(rows * spec.head_dim);
  }
  const Oracle oracle(the_case, contract, spec.format);
  for_each_row(spec, threads, [&](std::size_t n, int batch, int head, int query) {
    const OracleRow row = oracle.row(batch, head, query);
    numbers.lse[n] = row.lse.value;
    numbers.lse_radius[n] = row.lse.radius;
    numbers.lse_bound[n] = row.lse.bound;
    for (int d = 0; d < spec.head_dim; ++d) {
      const std::size_t element = n * spec.head_dim + d;
      numbers.o[element] = row.o[d].value;
      numbers.o_radius[element] = row.o[d].radius;
      numbers.o_bound[element] = row.o[d].bound;
    }
  });
  return numbers;
}

}  // namespace plumbline::verdict
