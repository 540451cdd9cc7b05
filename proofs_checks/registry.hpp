// SPDX-License-Identifier: Apache-2.0
// All claims, in the order in which they are reported.
#pragma once

#include <vector>

#include "proofs_checks/claim.hpp"

namespace plumbline::proofs_checks {

/// A new claim stands in a file of its paper's folder; CMakeLists.txt lists the files, and writes
/// this.
std::vector<Claim> all_claims();

}  // namespace plumbline::proofs_checks
