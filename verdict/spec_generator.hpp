// SPDX-License-Identifier: Apache-2.0
// Random specs for the property-based check, and how a failing one is made smaller.
#pragma once

#include <rapidcheck.h>

#include <functional>
#include <vector>

#include "cases/spec.hpp"

namespace plumbline::verdict {

/// Specs of one pass, bias and format: shapes, masks, families; edges (length 1, one below and
/// above a tile, grouped heads, empty sequences) are drawn often. Shrinks towards one head, few
/// tokens, no mask.
/// @param supported draws are repeated until it says yes.
rc::Gen<cases::Spec> arbitrary_spec(cases::Pass pass, cases::BiasMethod bias, cases::Format format,
                                    std::function<bool(const cases::Spec&)> supported);

/// `count` specs of one pass, bias and format.
std::vector<cases::Spec> draw_specs(cases::Pass pass, cases::BiasMethod bias, cases::Format format,
                                    int count, std::uint64_t seed);

}  // namespace plumbline::verdict
