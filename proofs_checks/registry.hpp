// SPDX-License-Identifier: Apache-2.0
// All claims, in the order in which they are reported.
#pragma once

#include <vector>

#include "proofs_checks/claim.hpp"

namespace plumbline::proofs_checks {

/// A new claim is one file in a paper's folder and one line in its claims.cpp.
std::vector<Claim> all_claims();

}  // namespace plumbline::proofs_checks
