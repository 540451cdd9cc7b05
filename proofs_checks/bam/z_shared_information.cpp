// SPDX-License-Identifier: Apache-2.0
#include "proofs_checks/bam/claims.hpp"
#include "proofs_checks/bam/normalisers.hpp"

namespace plumbline::proofs_checks::bam {

Claim z_shared_information() {
  Claim claim;
  claim.id = "bam/z_shared_information";
  claim.title = "Z grows exponentially with the shared information";
  claim.source = source("Appendix K.3, second bullet");
  claim.statement =
      "Z grows exponentially with the amount of shared information between content and position.";
  claim.hypotheses = {"Z = exp(I), the reading of K.3."};
  claim.implicit = {"\"Shared information\" has a meaning apart from I."};
  claim.derivation =
      "If shared information means I, the sentence repeats the definition Z = exp(I) and cannot be "
      "false; no other measure is defined, so nothing remains to be checked. The word misleads: I "
      "is "
      "not a mutual information (bam/z_mutual_information), it grows without bound as content and "
      "position "
      "favour different keys, and Theorem 1's Z = exp(-I) falls as I grows "
      "(bam/z_exp_information).";
  claim.derived = Verdict::not_mathematical;
  claim.checks = [] { return std::vector<Check>{}; };
  claim.mutant_checks = [] { return std::vector<Check>{}; };
  return claim;
}

}  // namespace plumbline::proofs_checks::bam
