// SPDX-License-Identifier: Apache-2.0
// Rows and elements of which more can be asked than a bound: docs/exact-rows.md.
#pragma once

#include <optional>
#include <vector>

#include "verdict/cases/case.hpp"
#include "verdict/judge/contract.hpp"

namespace plumbline::verdict {

/// A row all of whose visible scores are exactly 0 in any kernel, and whose weights, 1 each, lose
/// nothing on their way: its output is the mean of the values, but for a division.
struct LevelRow {
  std::vector<double> o;      ///< exactly sum_j v_j / n, [head_dim]
  double division_error = 0;  ///< relative, of o before it is stored
  double lse_bound = 0;       ///< of |lse - ln n|
};

/// The level row that this is, if it is one: q is 0, so is the bias of every visible key (NoPE,
/// RoPE, CoPE; ALiBi, CABLE and FoX of the query's own position alone), n is 1 or, with one range
/// of keys, a power of two, 1/n is above what may be skipped, and the values are whole numbers that
/// every operand holds (n = 1: any that are not rounded on their way).
/// @param visible the row's n >= 1 keys.
std::optional<LevelRow> level_row(const cases::Case& the_case, const Contract& contract, int batch,
                                  int head, int query, const std::vector<int>& visible);

/// Whether rounding some number within `error` of `value` to the format gives `got`: what is stored
/// of a result is that result rounded once, to nearest. False for a NaN.
bool is_rounded_from(double value, double error, double got, cases::Format format);

}  // namespace plumbline::verdict
