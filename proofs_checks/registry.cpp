// SPDX-License-Identifier: Apache-2.0
#include "proofs_checks/registry.hpp"

#include "proofs_checks/bam/claims.hpp"
#include "proofs_checks/cable/claims.hpp"

namespace plumbline::proofs_checks {

std::vector<Claim> all_claims() {
  return {
      bam::theorem_1(),
      bam::z_sum(),
      bam::z_ratio_as_printed(),
      bam::z_overlap_range(),
      bam::z_overlap_maximal(),
      bam::z_renormalisation(),
      bam::z_reciprocal_overlap(),
      bam::z_information_identity(),
      bam::z_exp_information(),
      bam::z_mutual_information(),
      bam::z_one_iff_independent(),
      bam::z_shared_information(),
      cable::penalises_distance(),
      cable::penalties_increase(),
      cable::alibi_reduction_as_printed(),
      cable::alibi_reduction_values(),
      cable::alibi_reduction_code_sign(),
      cable::slope_half_power_h(),
  };
}

}  // namespace plumbline::proofs_checks
