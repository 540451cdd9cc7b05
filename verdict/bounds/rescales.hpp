// SPDX-License-Identifier: Apache-2.0
// How often an online softmax rescales what it has summed. docs/bounds.md, "The weights".
#pragma once

#include <span>

namespace plumbline::verdict {

/// Upper bound of how often an online softmax rescales what it has summed: the records of the
/// running maximum over the keys in ascending or descending order. With several splits each reads a
/// range of the keys with a maximum of its own; they are then merged, in the worst case one by one.
/// @param score of the n >= 1 visible keys, in their order; @param keys_left_out whether the kernel
/// may skip some of them.
int rescales(std::span<const double> score, int splits, bool keys_left_out);

}  // namespace plumbline::verdict
