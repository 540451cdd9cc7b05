// SPDX-License-Identifier: Apache-2.0
// A case made into another one whose outputs follow from those of the first.
#pragma once

#include <vector>

#include "verdict/cases/case.hpp"

namespace plumbline::verdict {

/// A generated case fit for all of these: no k so small that half of it is not in the format, v = k
/// and grad_o = q, and tables of T5 that an added whole number leaves exact.
cases::Case identity_case(const cases::Spec& spec);

/// Every v, or every grad_o, times 2: no bit of a significand changes.
cases::Case with_values_doubled(cases::Case c);
cases::Case with_grad_o_doubled(cases::Case c);
/// q times 2, k and CoPE's table times 1/2: the same products.
cases::Case with_scale_moved(cases::Case c);
/// Batch b is batch B - 1 - b; heads, key heads and what belongs to them likewise.
cases::Case with_batches_reversed(cases::Case c);
cases::Case with_heads_reversed(cases::Case c);
/// Every v is `value`, its size, or 0 at every second key from `first` on.
cases::Case with_constant_values(cases::Case c, float value);
cases::Case with_sizes_of_values(cases::Case c);
cases::Case with_zeros_from(cases::Case c, int first);
/// Key j is key T - 1 - j; the keys twice, one after the other.
cases::Case with_keys_reversed(cases::Case c);
cases::Case with_keys_twice(cases::Case c);
/// T5's table plus `added`.
cases::Case with_table_shifted(cases::Case c, float added);
/// Documents let the queries see those keys before the first query's position that are in [begin,
/// end), and all from there on.
cases::Case with_keys_between(cases::Case c, int begin, int end);

/// Rows of `row` numbers in the reversed order within groups of `count` of them.
std::vector<float> reversed(const std::vector<float>& x, std::size_t count, std::size_t row);

}  // namespace plumbline::verdict
