// SPDX-License-Identifier: Apache-2.0
// What the failing cases of a cell have, and the passing ones have not.
#pragma once

#include <string>
#include <vector>

#include "verdict/cases/spec.hpp"

namespace plumbline::verdict {

/// A case that was run, and whether it failed.
struct Trial {
  cases::Spec spec;
  bool fails = false;
};

/// A sentence for each property of `found`, the smallest failing case, that every failing trial has
/// and no passing one: "fails in all 7 cases with head_dim = 80 and in none of 43 others". Trials
/// that are made from a failing one by changing it are alike, so that two things are asked for:
/// - an experiment: a passing trial differs from a failing one in this property alone;
/// - no chance: with f failing and p passing trials there are (f + p) over f ways to divide them,
///   one of which a property that has nothing to do with it has to meet; at least
///   fewest_divisions.
std::vector<std::string> separating_properties(const std::vector<Trial>& trials,
                                               const cases::Spec& found);

/// Less than twenty properties are asked about: by chance one of them separates the trials once in
/// fifty cells at most.
inline constexpr double fewest_divisions = 1000;

}  // namespace plumbline::verdict
