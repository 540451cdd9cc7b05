// SPDX-License-Identifier: Apache-2.0
#include "proofs_checks/cable/claims.hpp"
#include "proofs_checks/cable/source.hpp"
#include "proofs_checks/cable/tables.hpp"
#include "proofs_checks/rounded_numbers.hpp"

namespace plumbline::proofs_checks::cable {

Claim rope_trend() {
  Claim claim;
  claim.id = "cable/rope_trend";
  claim.title = "RoPE improves first and declines at longer lengths";
  claim.source = source("Section 5.1, first paragraph; Table 1");
  claim.statement =
      "RoPE shows an initial improvement followed by a significant decline at longer lengths: its "
      "perplexity falls from T = 512 to 1024 and rises in every step after that.";
  claim.derivation =
      "Table 1: 17.39, 16.89, 38.95, 146.72, 361.26, 691.90 and 23.66, 22.26, 41.40, 114.77, "
      "220.56, 375.62. The improvement lies within the training length: no length beyond 1024 is "
      "better than 1024.";
  claim.derived = Verdict::holds;
  claim.checks = [] {
    return together(
        {below(Role::statement, "RoPE at 1024 is below RoPE at 512, FineWeb-Edu-10B (hundredths)",
               pairs(table_1_fineweb, "RoPE", 1024, 1024), "here", {"before"}),
         below(Role::statement, "the same on WikiText-103",
               pairs(table_1_wikitext, "RoPE", 1024, 1024), "here", {"before"}),
         above(Role::statement, "RoPE rises in every step, T > 1024, FineWeb-Edu-10B",
               pairs(table_1_fineweb, "RoPE", 1025, 15360), "here", {"before"}),
         above(Role::statement, "the same on WikiText-103",
               pairs(table_1_wikitext, "RoPE", 1025, 15360), "here", {"before"})});
  };
  claim.mutant = "It is still improving at T = 2048.";
  claim.mutant_checks = [] {
    return below(Role::statement, "RoPE at 2048 is below RoPE at 1024",
                 pairs(table_1_fineweb, "RoPE", 2048, 2048), "here", {"before"});
  };
  claim.implicit = {definition_of_printed_numbers()};
  return claim;
}

}  // namespace plumbline::proofs_checks::cable
