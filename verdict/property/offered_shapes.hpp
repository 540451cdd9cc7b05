// SPDX-License-Identifier: Apache-2.0
// Specs fitted to the sizes that are asked for, and to what a kernel takes.
#pragma once

#include <string>
#include <vector>

#include "verdict/property/draw_integers.hpp"
#include "verdict/property/spec_generator.hpp"

namespace plumbline::verdict {

bool is_valid(const cases::Spec&);

/// Gives the spec the mask that packed sequences have, in place of what they cannot have.
void make_packed_sequences(cases::Spec&);

enum class Asked {
  as_it_is,
  cheaply  ///< of many keys with few of what nobody asked for
};

/// Gives the spec sizes that are asked for, one of each list; those that are not, and cannot stay
/// beside them, change too. query_offset and mask are drawn later.
void ask(const Shapes&, DrawIntegers&, cases::Spec&, Asked);

/// What the kernel takes of no shape near those that it offers: "windows", "more than one head".
std::vector<std::string> declined(const Offer&, const Supported&);

}  // namespace plumbline::verdict
