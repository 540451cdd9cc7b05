// SPDX-License-Identifier: Apache-2.0
#include "proofs_checks/cable/claims.hpp"
#include "proofs_checks/cable/source.hpp"
#include "proofs_checks/cable/tables.hpp"
#include "proofs_checks/rounded_numbers.hpp"

namespace plumbline::proofs_checks::cable {

Claim table_4_every_length() {
  Claim claim;
  claim.id = "cable/table_4_every_length";
  claim.title = "CABLE outperforms the other methods across all sequence lengths of Table 4";
  claim.source = source("Appendix A.2; Table 4");
  claim.statement =
      "As shown in Table 4, CABLE consistently outperforms the other positional encoding methods "
      "across all sequence lengths, particularly beyond 1024 tokens, for GPT-2 Small and GPT-2 "
      "Tiny.";
  claim.implicit = {printed_numbers_are_rounded};
  claim.correction =
      "In eleven of the twelve rows; for GPT-2 Tiny at T = 8192 the printed perplexity of ALiBi is "
      "the lowest.";
  claim.derivation =
      "GPT-2 Tiny at T = 8192: ALiBi 26.80, CABLE 26.97, which is printed in bold as the best. "
      "Every other row agrees with the sentence. ALiBi's neighbours are 28.28 (T = 4096) and 28.52 "
      "(T = 15360), so 26.80 may be a slip of the pen; as printed it contradicts the text and the "
      "bold type. Both versions of the paper print it.";
  claim.derived = Verdict::refuted;
  claim.checks = [] {
    return together({below(Role::statement, "CABLE is below every baseline in Table 4 (hundredths)",
                           rows({table_4_small, table_4_tiny}), "CABLE", baselines),
                     below(Role::correction, "GPT-2 Small: CABLE is below every baseline",
                           rows(table_4_small), "CABLE", baselines),
                     below(Role::correction, "GPT-2 Tiny, T <= 4096: CABLE is below every baseline",
                           rows(table_4_tiny, 0, 4096), "CABLE", baselines),
                     below(Role::correction, "GPT-2 Tiny, T = 15360: CABLE is below every baseline",
                           rows(table_4_tiny, 15360), "CABLE", baselines),
                     above(Role::correction, "GPT-2 Tiny, T = 8192: CABLE is above ALiBi",
                           rows(table_4_tiny, 8192, 8192), "CABLE", {"ALiBi"})});
  };
  claim.mutant = "Kerple is below ALiBi at every length of Table 4.";
  claim.mutant_checks = [] {
    return below(Role::statement, "Kerple is below ALiBi in Table 4",
                 rows({table_4_small, table_4_tiny}), "Kerple", {"ALiBi"});
  };
  return claim;
}

}  // namespace plumbline::proofs_checks::cable
