// SPDX-License-Identifier: Apache-2.0
#include "proofs_checks/cable/claims.hpp"
#include "proofs_checks/cable/source.hpp"
#include "proofs_checks/cable/tables.hpp"
#include "proofs_checks/rounded_numbers.hpp"

namespace plumbline::proofs_checks::cable {

Claim consistently_outperforms() {
  Claim claim;
  claim.id = "cable/consistently_outperforms";
  claim.title = "CABLE consistently outperforms existing positional encodings";
  claim.source = source("Section 1, contributions; section 6; Table 1");
  claim.statement =
      "CABLE consistently outperforms the existing positional encoding methods: in every row of "
      "Table 1 its perplexity is the lowest.";
  claim.condition = "The sequence is longer than in training, T > 1024.";
  claim.derivation =
      "WikiText-103 at T = 512: RoPE 23.66, CABLE 23.70; at T = 1024: RoPE 22.26, CABLE 22.32. In "
      "the ten other rows CABLE is below all seven baselines. The section on limitations says the "
      "same (\"occasionally underperforms RoPE at base sequence lengths\").";
  claim.derived = Verdict::holds_under_condition;
  claim.checks = [] {
    return together({below(Role::statement, "CABLE is below every baseline in Table 1 (hundredths)",
                           rows({table_1_wikitext, table_1_fineweb}), "CABLE", baselines),
                     below(Role::condition, "CABLE is below every baseline in Table 1, T > 1024",
                           rows({table_1_wikitext, table_1_fineweb}, 1025), "CABLE", baselines)});
  };
  claim.mutant = "ALiBi is below the other baselines for T > 1024.";
  claim.mutant_checks = [] {
    return below(Role::statement, "ALiBi is below Kerple in Table 1, T > 1024",
                 rows({table_1_wikitext, table_1_fineweb}, 1025), "ALiBi", {"Kerple"});
  };
  claim.implicit = {definition_of_printed_numbers()};
  return claim;
}

}  // namespace plumbline::proofs_checks::cable
