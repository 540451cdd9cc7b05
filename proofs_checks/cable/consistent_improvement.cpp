// SPDX-License-Identifier: Apache-2.0
#include "proofs_checks/cable/claims.hpp"
#include "proofs_checks/cable/source.hpp"
#include "proofs_checks/cable/tables.hpp"
#include "proofs_checks/rounded_numbers.hpp"

namespace plumbline::proofs_checks::cable {

Claim consistent_improvement() {
  Claim claim;
  claim.id = "cable/consistent_improvement";
  claim.title = "The perplexity of CABLE falls as the sequence grows";
  claim.source = source("Sections 1 and 5.1; Table 1 (upper), Figure 1");
  claim.statement =
      "On FineWeb-Edu-10B CABLE (GPT-2 Medium) shows consistent improvement with length, even for "
      "T = 15360, and achieves a better perplexity there than at T = 1024.";
  claim.implicit = {printed_numbers_are_rounded, "Consistent: at every length that is printed."};
  claim.correction =
      "The perplexity falls up to T = 4096; beyond it rises by 0.07 and stays below that of T = "
      "1024. On WikiText-103 it falls throughout.";
  claim.derivation =
      "From T = 4096 to T = 8192 the perplexity rises from 15.34 to 15.41 and stays at 15.41 at "
      "15360. Half a hundredth does not bridge 0.07. The second half is true: 15.41 < 16.52. On "
      "WikiText-103 (Table 1, lower) the fall is strict.";
  claim.derived = Verdict::refuted;
  claim.checks = [] {
    return together({below(Role::statement,
                           "the perplexity of CABLE falls in every step, 512 to 15360 (hundredths)",
                           pairs(table_1_fineweb, "CABLE", 0, 15360), "here", {"before"}),
                     below(Role::correction, "it falls in every step up to T = 4096",
                           pairs(table_1_fineweb, "CABLE", 0, 4096), "here", {"before"}),
                     below(Role::correction, "for every T > 1024 it is below that of T = 1024",
                           pairs(table_1_fineweb, "CABLE", 1025, 15360, 1024), "here", {"before"}),
                     below(Role::correction, "on WikiText-103 it falls in every step",
                           pairs(table_1_wikitext, "CABLE", 0, 15360), "here", {"before"})});
  };
  claim.mutant = "The perplexity of ALiBi falls in every step.";
  claim.mutant_checks = [] {
    return below(Role::statement, "the perplexity of ALiBi falls in every step",
                 pairs(table_1_fineweb, "ALiBi", 0, 15360), "here", {"before"});
  };
  return claim;
}

}  // namespace plumbline::proofs_checks::cable
