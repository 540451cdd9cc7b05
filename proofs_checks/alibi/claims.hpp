// SPDX-License-Identifier: Apache-2.0
// The ALiBi article: formulas, slopes and code. One file each.
#pragma once

#include <vector>

#include "proofs_checks/claim.hpp"

namespace plumbline::proofs_checks::alibi {

/// All of them, in the order in which they are reported.
std::vector<Claim> claims();

Claim eight_slopes();
Claim code_slopes_official();
Claim geometric_slopes();
Claim code_bias();
Claim bias_place();
Claim translation_invariance();
Claim preferences_preserved();
Claim further_less_attention();
Claim steep_head_is_local();
Claim gentle_head_reaches_far();
Claim rope_rotation_invariance();

}  // namespace plumbline::proofs_checks::alibi
