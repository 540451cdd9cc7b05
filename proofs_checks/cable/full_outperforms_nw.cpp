// SPDX-License-Identifier: Apache-2.0
#include "proofs_checks/cable/claims.hpp"
#include "proofs_checks/cable/source.hpp"
#include "proofs_checks/cable/tables.hpp"
#include "proofs_checks/rounded_numbers.hpp"

namespace plumbline::proofs_checks::cable {

Claim full_outperforms_nw() {
  Claim claim;
  claim.id = "cable/full_outperforms_nw";
  claim.title = "The weights improve CABLE";
  claim.source = source("Section 5.1, last sentence; Tables 1, 4 and 5");
  claim.statement = "Full CABLE performs better than CABLE_NW: a lower perplexity in every row.";
  claim.derivation =
      "Read off the six blocks of the three tables: 36 rows, the smallest difference is 0.21 "
      "(Table 1, FineWeb-Edu-10B, T = 1024).";
  claim.derived = Verdict::holds;
  claim.checks = [] {
    return below(Role::statement, "CABLE is below CABLE_NW in Tables 1, 4, 5 (hundredths)",
                 rows({table_1_fineweb, table_1_wikitext, table_4_small, table_4_tiny,
                       table_5_medium, table_5_small}),
                 "CABLE", {"CABLE_NW"});
  };
  claim.mutant = "CABLE_NW is below CABLE for T > 1024.";
  claim.mutant_checks = [] {
    return below(Role::statement, "CABLE_NW is below CABLE in Table 1, T > 1024",
                 rows({table_1_fineweb, table_1_wikitext}, 1025), "CABLE_NW", {"CABLE"});
  };
  claim.implicit = {definition_of_printed_numbers()};
  return claim;
}

}  // namespace plumbline::proofs_checks::cable
