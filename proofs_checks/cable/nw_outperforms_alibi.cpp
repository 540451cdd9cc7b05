// SPDX-License-Identifier: Apache-2.0
#include "proofs_checks/cable/claims.hpp"
#include "proofs_checks/cable/source.hpp"
#include "proofs_checks/cable/tables.hpp"
#include "proofs_checks/rounded_numbers.hpp"

namespace plumbline::proofs_checks::cable {

Claim nw_outperforms_alibi() {
  Claim claim;
  claim.id = "cable/nw_outperforms_alibi";
  claim.title = "Even CABLE_NW outperforms ALiBi";
  claim.source = source("Section 5.1, last paragraph; Table 1");
  claim.statement =
      "Even CABLE_NW, without weights, outperforms ALiBi: its perplexity is lower in every row of "
      "Table 1.";
  claim.condition =
      "T >= 4096, at least four times the length of training (on FineWeb-Edu-10B at every T).";
  claim.derivation =
      "WikiText-103: 24.32 against 24.09 at T = 512, 23.01 against 22.74 at 1024, 22.19 against "
      "22.05 at 2048; from 4096 on CABLE_NW is lower. On FineWeb-Edu-10B it is lower in every row.";
  claim.derived = Verdict::holds_under_condition;
  claim.checks = [] {
    return together(
        {below(Role::statement, "CABLE_NW is below ALiBi in Table 1 (hundredths)",
               rows({table_1_wikitext, table_1_fineweb}), "CABLE_NW", {"ALiBi"}),
         below(Role::condition, "CABLE_NW is below ALiBi in Table 1, T >= 4096",
               rows({table_1_wikitext, table_1_fineweb}, 4096), "CABLE_NW", {"ALiBi"})});
  };
  claim.mutant = "CABLE_NW is below ALiBi from T = 2048 on.";
  claim.mutant_checks = [] {
    return below(Role::statement, "CABLE_NW is below ALiBi in Table 1, T >= 2048",
                 rows({table_1_wikitext, table_1_fineweb}, 2048), "CABLE_NW", {"ALiBi"});
  };
  claim.implicit = {definition_of_printed_numbers()};
  return claim;
}

}  // namespace plumbline::proofs_checks::cable
