// SPDX-License-Identifier: Apache-2.0
// CABLE: the sign of the bias and the reduction to ALiBi. One file each.
#pragma once

#include "proofs_checks/claim.hpp"

namespace plumbline::proofs_checks::cable {

Claim penalises_distance();
Claim penalties_increase();
Claim alibi_reduction_as_printed();
Claim alibi_reduction_values();
Claim alibi_reduction_code_sign();
Claim slope_half_power_h();

}  // namespace plumbline::proofs_checks::cable
