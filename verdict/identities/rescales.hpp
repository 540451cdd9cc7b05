// SPDX-License-Identifier: Apache-2.0
// How often the running maximum of a row grows, for the bounds of the identities.
#pragma once

#include <vector>

#include "verdict/cases/case.hpp"
#include "verdict/judge/contract.hpp"

namespace plumbline::verdict {

/// R of every row, [batch, heads, queries], as docs/bounds.md counts it: from the scores in double,
/// read in ascending and in descending order. Of methods whose bias is not written out here (T5's
/// buckets, RoPE, ...), with ranges of keys, and of cases of more than 2^32 products q k, it is the
/// number of keys, and of ranges.
/// @param of_a_selection for any selection of the keys, as where some are skipped.
std::vector<double> row_rescales(const cases::Case& the_case, const Contract& contract,
                                 bool of_a_selection = false);

}  // namespace plumbline::verdict
