// SPDX-License-Identifier: Apache-2.0
#include "proofs_checks/cable/claims.hpp"
#include "proofs_checks/cable/source.hpp"
#include "proofs_checks/cable/tables.hpp"
#include "proofs_checks/rounded_numbers.hpp"

namespace plumbline::proofs_checks::cable {

Claim retrieval_ranking() {
  Claim claim;
  claim.id = "cable/retrieval_ranking";
  claim.title = "On retrieval CABLE outperforms all baselines as sequences grow";
  claim.source = source("Section 5.5; Table 3");
  claim.statement =
      "At 512 tokens RoPE performs slightly better than the other methods; from 1024 on CABLE has "
      "the highest nDCG@10 of all.";
  claim.derivation =
      "Read off Table 3: 15.16 against 14.96 at 512; in the five other rows CABLE is the highest.";
  claim.derived = Verdict::holds;
  claim.checks = [] {
    return together(
        {above(Role::statement, "T = 512: RoPE is above the others (hundredths)",
               rows(table_3, 0, 512), "RoPE", {"CABLE", "ALiBi", "Learnable", "Sinusoidal"}),
         above(Role::statement, "T >= 1024: CABLE is above the others", rows(table_3, 1024),
               "CABLE", {"ALiBi", "RoPE", "Sinusoidal"})});
  };
  claim.mutant = "CABLE is the highest at 512 as well.";
  claim.mutant_checks = [] {
    return above(Role::statement, "CABLE is above RoPE at every length", rows(table_3), "CABLE",
                 {"RoPE"});
  };
  claim.hypotheses = {
      definition("BERT, trained at 512, MLDR test set.", "It says which table is read.")};
  claim.implicit = {definition_of_printed_numbers()};
  return claim;
}

}  // namespace plumbline::proofs_checks::cable
