// SPDX-License-Identifier: Apache-2.0
// What a printed number is taken to mean: a hypothesis of every claim about a table.
#pragma once

#include "proofs_checks/hypothesis.hpp"

namespace plumbline::proofs_checks {

inline constexpr const char* printed_numbers_are_rounded =
    "A printed number stands for all that round to it (half a unit of its last digit).";

inline Hypothesis definition_of_printed_numbers() {
  return definition(printed_numbers_are_rounded,
                    "It says what a printed number means; the checks take the whole interval.");
}

}  // namespace plumbline::proofs_checks
