// SPDX-License-Identifier: Apache-2.0
#include "proofs_checks/registry.hpp"

#include <iterator>

#include "proofs_checks/alibi/claims.hpp"
#include "proofs_checks/bam/claims.hpp"
#include "proofs_checks/cable/claims.hpp"

namespace plumbline::proofs_checks {

std::vector<Claim> all_claims() {
  std::vector<Claim> claims;
  for (auto of_paper : {bam::claims, cable::claims, alibi::claims}) {
    std::vector<Claim> more = of_paper();
    std::move(more.begin(), more.end(), std::back_inserter(claims));
  }
  return claims;
}

}  // namespace plumbline::proofs_checks
