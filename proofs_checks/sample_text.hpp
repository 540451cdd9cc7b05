// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "proofs_checks/claim.hpp"

namespace plumbline::proofs_checks {

/// "f = (1, 0), g = (2, 0)", "z in [0, 4]"; every digit of every number.
std::string to_string(const Sample&);

}  // namespace plumbline::proofs_checks
