// SPDX-License-Identifier: Apache-2.0
// Tables of results as a paper prints them, and what can be said of their numbers.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "proofs_checks/statement.hpp"

namespace plumbline::proofs_checks {

/// One row for each length, one column for each method; numbers in hundredths, which are exact.
struct Table {
  static constexpr int missing = -1;  ///< printed as a dash
  std::vector<int> lengths;
  std::vector<std::pair<std::string, std::vector<int>>> columns;
};

/// The lengths of a table from `shortest` to `longest`, one sample for each: T, and every number
/// that is printed there, as an interval of half a hundredth to both sides.
Samples rows(const Table&, int shortest = 0, int longest = 1 << 30);

/// The rows of several tables.
Samples rows(const std::vector<Table>&, int shortest = 0, int longest = 1 << 30);

/// Pairs of rows of one column, for each length in [shortest, longest]: T, the number `here`; the
/// row before, `T before` and `before`, or with `against` the row of that length.
Samples pairs(const Table&, const std::string& column, int shortest, int longest, int against = 0);

/// The sum of each column, as printed: roundings are not counted.
Sample sums(const Table&);

/// `smaller` is below each of `larger` that the sample has.
Statement below(const std::string& smaller, const std::vector<std::string>& larger);
/// `larger` is above each of `smaller` that the sample has.
Statement above(const std::string& larger, const std::vector<std::string>& smaller);
/// lower <= value <= upper, where all three are quantities of the sample.
Statement between(const std::string& lower, const std::string& value, const std::string& upper);

/// The product of `factors` is `product`; all are names of quantities.
Statement product(const std::vector<std::string>& factors, const std::string& product);
/// The sum of `terms` is `total`.
Statement total(const std::vector<std::string>& terms, const std::string& total);

/// A hypothesis of every claim about a table.
inline constexpr const char* printed_numbers_are_rounded =
    "A printed number stands for all that round to it (half a unit of its last digit).";

inline Hypothesis definition_of_printed_numbers() {
  return definition(printed_numbers_are_rounded,
                    "It says what a printed number means; the checks take the whole interval.");
}

}  // namespace plumbline::proofs_checks
