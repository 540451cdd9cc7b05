// SPDX-License-Identifier: Apache-2.0
#include "proofs_checks/alibi/claims.hpp"

namespace plumbline::proofs_checks::alibi {

std::vector<Claim> claims() {
  return {
      eight_slopes(),
      code_slopes_official(),
      geometric_slopes(),
      code_bias(),
      bias_place(),
      translation_invariance(),
      preferences_preserved(),
      further_less_attention(),
      steep_head_is_local(),
      gentle_head_reaches_far(),
      rope_rotation_invariance(),
  };
}

}  // namespace plumbline::proofs_checks::alibi
