// SPDX-License-Identifier: Apache-2.0
// Numbers that a paper prints, compared with what they are computed from.
#pragma once

#include <string>
#include <vector>

#include "proofs_checks/hypothesis.hpp"
#include "proofs_checks/statement.hpp"

namespace plumbline::proofs_checks {

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
