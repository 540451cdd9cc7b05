// SPDX-License-Identifier: Apache-2.0
// After a failure: which other convention the kernel follows.
#pragma once

#include "verdict/property/property.hpp"

namespace plumbline::verdict {

/// Gives the cell's failing case its `matches`. The smallest failing case matches too many
/// conventions (of one query and two keys there is little to see), so the kernel runs a few wider
/// ones of its kind besides, with several heads and queries in the midst of the keys, as far as it
/// offers them. The same result from the same spec. Does nothing where nothing failed, where there
/// are no numbers to explain, or where they are no attempt at the result.
void name_conventions(const Kernel& kernel, CellResult& cell, int threads);

/// The same of outputs that are there, of one case.
void name_conventions(const cases::Case& the_case, const Contract& contract,
                      const cases::Outputs& outputs, Judgement& judgement, int threads);

}  // namespace plumbline::verdict
