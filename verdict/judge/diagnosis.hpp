// SPDX-License-Identifier: Apache-2.0
// Outputs that are no attempt at the result: not written, all zero, not numbers, a copy of an
// input.
#pragma once

#include <string>

#include "verdict/cases/case.hpp"
#include "verdict/judge/judge.hpp"

namespace plumbline::verdict {

/// What failing outputs look like, as reports name it.
struct Diagnosis {
  std::string kind;  ///< not_written, zeros, nan, copies_input, or empty
  std::string text;  ///< a sentence, or empty
};

/// Of the first failing output, in the order o, lse, gradients, that shows one of them. An output
/// counts as zeros or as a copy when every element is; as not written or NaN when any is.
Diagnosis diagnose(const cases::Case& the_case, const cases::Outputs& outputs,
                   const Judgement& judgement);

}  // namespace plumbline::verdict
