// SPDX-License-Identifier: Apache-2.0
#include "proofs_checks/cable/claims.hpp"
#include "proofs_checks/cable/source.hpp"
#include "proofs_checks/cable/tables.hpp"
#include "proofs_checks/rounded_numbers.hpp"

namespace plumbline::proofs_checks::cable {

Claim alibi_degrades() {
  Claim claim;
  claim.id = "cable/alibi_degrades";
  claim.title = "ALiBi degrades slightly at extreme lengths";
  claim.source = source("Section 5.1, first paragraph; Table 1");
  claim.statement =
      "In Table 1 (FineWeb-Edu-10B and WikiText-103) ALiBi performs well on longer contexts and "
      "degrades at extreme lengths: its perplexity rises in every step beyond T = 2048.";
  claim.condition =
      "The data are FineWeb-Edu-10B (the next paragraph of the paper says so of its own sentence).";
  claim.derivation =
      "On FineWeb-Edu-10B: 16.56, 16.67, 17.23, 17.46. On WikiText-103 it falls to the end: 22.05, "
      "21.73, 21.58, 21.30.";
  claim.derived = Verdict::holds_under_condition;
  claim.checks = [] {
    return together(
        {above(Role::statement, "ALiBi rises in every step, T > 2048, WikiText-103 (hundredths)",
               pairs(table_1_wikitext, "ALiBi", 2049, 15360), "here", {"before"}),
         above(Role::condition, "ALiBi rises in every step, T > 2048, FineWeb-Edu-10B",
               pairs(table_1_fineweb, "ALiBi", 2049, 15360), "here", {"before"})});
  };
  claim.mutant = "On FineWeb-Edu-10B it rises in every step beyond T = 1024.";
  claim.mutant_checks = [] {
    return above(Role::statement, "ALiBi rises in every step, T > 1024, FineWeb-Edu-10B",
                 pairs(table_1_fineweb, "ALiBi", 1025, 15360), "here", {"before"});
  };
  claim.implicit = {definition_of_printed_numbers()};
  return claim;
}

}  // namespace plumbline::proofs_checks::cable
