// SPDX-License-Identifier: Apache-2.0
// What is checked of one golden case. Each check adds what it compared, its largest ratio of error
// to bound and its failures to the result.
#pragma once

#include <map>
#include <string>

#include "golden/golden.hpp"
#include "golden/golden_case.hpp"

namespace plumbline::golden {

/// Keeps the first ten.
void add_failure(FileResult&, const std::string& sentence);

/// MPFR gives the same bits, in the same shapes, under the same names.
void check_bits(const GoldenCase&, FileResult&);

/// The double reading is within its running error, and the rounding of the golden number, of it.
void check_double(const GoldenCase&, FileResult&);

/// check_double, and double itself has the bits that the running error is a bound for.
void check_value(const GoldenCase&, FileResult&);

/// The interval reading contains the MPFR value and, but for its rounding, the golden number; and
/// it is no wider than the running error: it would otherwise say less than double does.
void check_enclosure(const GoldenCase&, FileResult&);

/// How many elements of a gradient there were, and of how many the bound said something.
struct GradientCoverage {
  std::size_t elements = 0, decided = 0;
};

/// Every element of every grad_<input>: the hand adjoint and the derivative of the loss by the dual
/// reading, both with running errors, differ by no more than their bounds together. The bound of
/// an element says something where it is below 2^-30 (1 + |derivative|): a wrong sign or factor in
/// these problems exceeds that by far. At a kink that double cannot tell from its neighbourhood it
/// does not; `coverage` counts them, by the name of the gradient.
void check_gradient(const GoldenCase&, FileResult&,
                    std::map<std::string, GradientCoverage>& coverage);

/// SHA-256 by file. @throws BadInput if the folder has no readable manifest.
std::map<std::string, std::string> read_manifest(const std::filesystem::path& folder);

}  // namespace plumbline::golden
