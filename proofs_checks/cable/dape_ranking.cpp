// SPDX-License-Identifier: Apache-2.0
#include "proofs_checks/cable/claims.hpp"
#include "proofs_checks/cable/source.hpp"
#include "proofs_checks/cable/tables.hpp"
#include "proofs_checks/rounded_numbers.hpp"

namespace plumbline::proofs_checks::cable {

Claim dape_ranking() {
  Claim claim;
  claim.id = "cable/dape_ranking";
  claim.title = "DAPEv2 improves both methods and leaves their ranking";
  claim.source = source("Section 5.3; Table 2");
  claim.statement =
      "DAPEv2 improves CABLE and Kerple, and the ranking remains: CABLE outperforms Kerple with "
      "and without it, at every length.";
  claim.derivation =
      "Twenty comparisons of printed numbers, all strict by more than half a hundredth on both "
      "sides; the smallest difference is 0.15 (DAPEv2, T = 512).";
  claim.derived = Verdict::holds;
  claim.checks = [] {
    return together(
        {below(Role::statement, "CABLE < Kerple (hundredths)", rows(table_2), "CABLE", {"Kerple"}),
         below(Role::statement, "DAPEv2+CABLE < DAPEv2+Kerple and CABLE", rows(table_2),
               "DAPEv2+CABLE", {"DAPEv2+Kerple", "CABLE"}),
         below(Role::statement, "DAPEv2+Kerple < Kerple", rows(table_2), "DAPEv2+Kerple",
               {"Kerple"})});
  };
  claim.mutant = "CABLE alone is below DAPEv2+Kerple.";
  claim.mutant_checks = [] {
    return below(Role::statement, "CABLE < DAPEv2+Kerple", rows(table_2), "CABLE",
                 {"DAPEv2+Kerple"});
  };
  claim.implicit = {definition_of_printed_numbers()};
  return claim;
}

}  // namespace plumbline::proofs_checks::cable
