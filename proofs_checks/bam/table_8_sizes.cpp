// SPDX-License-Identifier: Apache-2.0
#include "proofs_checks/bam/claims.hpp"
#include "proofs_checks/bam/source.hpp"
#include "proofs_checks/printed_numbers.hpp"

namespace plumbline::proofs_checks::bam {
namespace {

Sample sizes(double claimed) {
  return Sample{}.with("120M", {1}).with("430M", {1}).with("1.1B", {1}).with("claimed", {claimed});
}

}  // namespace

Claim table_8_sizes() {
  Claim claim;
  claim.id = "bam/table_8_sizes";
  claim.title = "Four model sizes were timed";
  claim.source = source("Appendix H.7, first paragraph, against Table 8");
  claim.statement =
      "\"We initialize BAM and all the baselines with trainable weights of four distinct model "
      "sizes.\"";
  claim.implicit = {"All sizes that were timed are in the table."};
  claim.correction = "Three.";
  claim.derivation = "Table 8 has columns for 120M, 430M and 1.1B; Table 1 lists three models.";
  claim.derived = Verdict::refuted;
  claim.checks = [] {
    return together({totals(Role::statement, "sizes in Table 8 = 4", {sizes(4)},
                            {"120M", "430M", "1.1B"}, "claimed"),
                     totals(Role::correction, "sizes in Table 8 = 3", {sizes(3)},
                            {"120M", "430M", "1.1B"}, "claimed")});
  };
  claim.mutant = "Table 8 has five.";
  claim.mutant_checks = [] {
    return totals(Role::statement, "sizes in Table 8 = 5", {sizes(5)}, {"120M", "430M", "1.1B"},
                  "claimed");
  };
  return claim;
}

}  // namespace plumbline::proofs_checks::bam
