// SPDX-License-Identifier: Apache-2.0
// Two runs of a kernel that says that it is deterministic.
#pragma once

#include <string>

#include "verdict/cases/case.hpp"

namespace plumbline::verdict {

/// The first number whose bits differ between two runs of a kernel, in words; empty when none does.
/// 0 and -0 differ, a NaN is like another of the same bits.
/// @param bias whose parameters the gradients are of.
std::string first_difference(cases::Bias bias, const cases::Outputs& first,
                             const cases::Outputs& second);

}  // namespace plumbline::verdict
