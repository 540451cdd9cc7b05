// SPDX-License-Identifier: Apache-2.0
// BAM: Theorem 1 and the readings of Z in appendix K. One file each.
#pragma once

#include "proofs_checks/claim.hpp"

namespace plumbline::proofs_checks::bam {

Claim theorem_1();
Claim z_sum();
Claim z_ratio_as_printed();
Claim z_overlap_range();
Claim z_overlap_maximal();
Claim z_renormalisation();
Claim z_reciprocal_overlap();
Claim z_information_identity();
Claim z_exp_information();
Claim z_mutual_information();
Claim z_one_iff_independent();
Claim z_shared_information();

}  // namespace plumbline::proofs_checks::bam
