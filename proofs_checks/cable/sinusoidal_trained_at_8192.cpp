// SPDX-License-Identifier: Apache-2.0
#include "proofs_checks/cable/claims.hpp"
#include "proofs_checks/cable/source.hpp"
#include "proofs_checks/cable/tables.hpp"

namespace plumbline::proofs_checks::cable {

Claim sinusoidal_trained_at_8192() {
  Claim claim;
  claim.id = "cable/sinusoidal_trained_at_8192";
  claim.title = "CABLE trained on 1024 outperforms Sinusoidal trained on 8192";
  claim.source = first_version("Section 6");
  claim.statement =
      "Ablation studies show that a model trained with CABLE on sequences of length 1024 can "
      "outperform a sinusoidal model trained and tested on sequences of length 8192.";
  claim.implicit = {
      "The sentence reports a measurement; only its presence in the tables can be checked here."};
  claim.derivation =
      "What is missing: no table of either version has a model trained at 8192, and the section on "
      "ablations studies only K-CABLE. The second version has dropped the sentence. Every "
      "Sinusoidal number printed is of a model trained at 512 or 1024.";
  claim.derived = Verdict::undecided;
  claim.checks = [] { return std::vector<Check>{}; };
  claim.mutant = "Sinusoidal, trained at 1024, is below CABLE at T = 8192.";
  claim.mutant_checks = [] {
    return below(Role::statement, "Sinusoidal is below CABLE in Table 1, T = 8192",
                 rows({table_1_fineweb, table_1_wikitext}, 8192, 8192), "Sinusoidal", {"CABLE"});
  };
  return claim;
}

}  // namespace plumbline::proofs_checks::cable
