// SPDX-License-Identifier: Apache-2.0
// A custom bias: its formula, read in any scalar, and in fp32 as a kernel may evaluate it.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>
#include <vector>

#include "reference/bias/custom.hpp"
#include "support/error.hpp"
#include "verdict/bias/derivatives.hpp"
#include "verdict/bounds/fp32_number.hpp"
#include "verdict/cases/custom_bias.hpp"

namespace plumbline::verdict::bias {

using Per = reference::Formula::Per;
using Place = reference::Formula::Place;

/// Which number of a parameter of the case the formula reads.
inline std::size_t number_read(const cases::Case& c, Per per, Place place, int batch, int head,
                               int i, int j) {
  const auto& s = c.spec;
  const std::size_t row = static_cast<std::size_t>(batch) * s.heads + head;
  if (per == Per::all) return 0;
  if (per == Per::head) return head;
  if (per == Per::sequence) return batch;
  if (per == Per::query) return row * s.queries + (i - c.first_position(batch));
  return row * s.keys + (place == Place::of_query ? i : j);
}

/// What a formula says of a pair cannot be judged.
[[noreturn]] inline void refuse(const std::string& what, const std::string& value, int batch,
                                int head, int i, int j) {
  throw BadInput(what,
                 fmt::format("{} at batch {}, head {}, i = {}, j = {}", value, batch, head, i, j),
                 "a finite number with a bound of its error for every query and visible key: "
                 "operands of log, sqrt, / and ** away from where these have no value, and of "
                 "floor and comparisons away from their limits, unless they are whole; "
                 "where(i == j, ..., ...) takes a pair out");
}

/// Whether a custom bias's condition lets the query at i see key j.
inline bool is_visible(const cases::Case& c, const reference::Formula& condition, int batch, int i,
                       int j) {
  const auto read = [&](int n, Place) -> double {
    const auto& [name, per, id] = cases::custom_of(c.spec.bias).declared[n];
    return c[id][per == Per::all ? 0 : batch];
  };
  const double sees = reference::formula::value_in_double(condition, i, j, 0, read);
  if (std::isnan(sees)) {
    refuse(fmt::format("visible of {}", cases::custom_of(c.spec.bias).names[0]), "nan", batch, 0, i,
           j);
  }
  return sees != 0;
}

/// b_ij and what it is made of, as a kernel may hold them.
/// @param difference S_i - S_j as a kernel may hold it; not read without a prefix sum.
inline reference::FormulaValues<Fp32Number> in_fp32(const cases::Case& c, int batch, int head,
                                                    int i, int j, const Fp32Number& difference) {
  const cases::CustomBias& custom = cases::custom_of(c.spec.bias);
  const auto read = [&](int n, Place place) {
    const auto& [name, per, id] = custom.declared[n];
    if (per == Per::prefix_sum) return difference;
    return Fp32Number(double{c[id][number_read(c, per, place, batch, head, i, j)]});
  };
  return {custom.expression, i, j, head, read};
}

struct Custom : Unanswered {
  template <class R>
  static auto reading(const HeadOf<R>& of) {
    return of.custom();
  }
  /// The running error of the formula, operation by operation as it is written (fp32_number.hpp),
  /// and two roundings where log2 e is folded in.
  static double error(const Pair& of, double bias) {
    const cases::CustomBias& custom = cases::custom_of(of.the_case.spec.bias);
    // 0 without a prefix sum.
    const BiasError::Distance d =
        of.the_case.summed().empty() ? BiasError::Distance{} : of.distance();
    const Fp32Number difference(RunningError(of.i > of.j ? d.value : -d.value), d.error);
    const Fp32Number b = in_fp32(of.the_case, of.batch, of.head, of.i, of.j, difference).value();
    const bool has_bound = std::isfinite(b.error()) && std::isfinite(b.exact().error());
    if (!std::isfinite(bias) || (std::abs(bias) < 0x1p127 && !has_bound)) {
      refuse(fmt::format("b_ij of {}", custom.names[0]),
             std::isfinite(bias) ? "without a bound of its error in fp32" : fmt::format("{}", bias),
             of.batch, of.head, of.i, of.j);
    }
    return custom.error_factor * (b.error() + 2 * u * std::abs(bias));
  }
};

/// By the formula's adjoint, in the same arithmetic.
inline void derivatives(const DerivativeRow& row, const reference::Custom<RunningError>& reading) {
  const cases::Case& c = row.the_case;
  const cases::CustomBias& custom = cases::custom_of(c.spec.bias);
  // By parameter and number of it: those of the row's keys.
  std::map<std::pair<int, int>, RowDerivative> by_number;
  PrefixDerivative& prefix = row.result.prefix;
  prefix.used = custom.summed() >= 0;
  if (prefix.used) prefix.parameter = static_cast<plumbline_parameter>(custom.summed());
  const auto& per = custom.expression.parameters;
  const auto of_sum = std::ranges::find(per, Per::prefix_sum) - per.begin();
  const auto sums = [&](int position) { return reading.numbers[of_sum][position]; };
  for (std::size_t n = 0; n < row.visible.size(); ++n) {
    const int i = row.position, j = row.visible[n];
    Fp32Number difference;
    if (prefix.used) difference = {sums(i) - sums(j), row.distance(j).error};
    const auto values = in_fp32(c, row.batch, row.head, i, j, difference);
    Fp32Number by_difference;
    values.derivatives(
        [&](int p, Place place, const Fp32Number& derivative) {
          const cases::CustomParameter& parameter = custom.declared[p];
          const bool of_own_sum = parameter.per == Per::prefix_sum && i == j;
          if (!of_own_sum && !(derivative.size() < infinity)) {
            refuse(fmt::format("the derivative of {} by {}", custom.names[0], parameter.name),
                   fmt::format("{} within {}", derivative.exact().value(), derivative.error()),
                   row.batch, row.head, i, j);
          }
          if (parameter.per == Per::prefix_sum) {
            by_difference += derivative;
            return;
          }
          const std::size_t first = number_read(c, parameter.per, place, row.batch, row.head, i, j);
          // Its place among those of this head and sequence.
          const std::size_t of_head = parameter.per == Per::query ? c.spec.queries
                                      : parameter.per == Per::key ? c.spec.keys
                                                                  : 1;
          const int element = static_cast<int>(first % of_head);
          RowDerivative& by = by_number[{p, element}];
          by.parameter = parameter.id;
          by.element = element;
          by.keys.push_back(static_cast<int>(n));
          by.value.push_back(derivative.exact());
          by.error.push_back(custom.error_factor * derivative.error());
          by.lost.push_back(derivative.lost());
        },
        Fp32Number::adjoint());
    if (!prefix.used) continue;
    // S_i - S_j grows with an increment in (j, i] and falls with one in (i, j].
    const RunningError x = i > j ? by_difference.exact() : -by_difference.exact();
    prefix.value.push_back(i == j ? RunningError(0.0) : x);
    prefix.rounding.push_back(i == j ? 0.0 : custom.error_factor * by_difference.error());
    prefix.lost.push_back(i == j ? 0.0 : by_difference.lost());
    prefix.kink.push_back(0.0);
    if (i == j) {
      // A kernel that does not know that it is 0 may take its sign either way.
      const Fp32Number unsure(RunningError(0.0), 0x1p-149);
      const auto own = in_fp32(c, row.batch, row.head, i, j, unsure);
      Fp32Number largest;
      own.derivatives([&](int p, Place, const Fp32Number& derivative) {
        if (custom.declared[p].per == Per::prefix_sum) largest += derivative;
      });
      prefix.own = custom.error_factor * largest.size();
      if (!(prefix.own < infinity)) {
        refuse(fmt::format("the derivative of {} by a prefix sum", custom.names[0]), "unbounded",
               row.batch, row.head, i, j);
      }
    }
  }
  for (auto& [number, by] : by_number) row.result.parameters.push_back(std::move(by));
}

}  // namespace plumbline::verdict::bias
