// SPDX-License-Identifier: Apache-2.0
#include "proofs_checks/bam/claims.hpp"
#include "proofs_checks/bam/source.hpp"
#include "proofs_checks/bam/tables.hpp"
#include "proofs_checks/rounded_numbers.hpp"

namespace plumbline::proofs_checks::bam {
namespace {

/// Table 6, last row, in tenths of a percent.
Sample overall(double least, double most) {
  return Sample{}
      .printed("BAM", 286, 0.9375)
      .printed("RoPE and least", 242 + least, 0.9375)
      .printed("RoPE and most", 242 + most, 0.9375);
}

}  // namespace

Claim table_6_overall() {
  Claim claim;
  claim.id = "bam/table_6_overall";
  claim.title = "The overall score on LongBench v2 is 5 points above RoPE";
  claim.source = source("Appendix G, text around Table 6; last row of Table 6");
  claim.statement = "\"With an overall score 5 points above RoPE.\"";
  claim.implicit = {printed_numbers_are_rounded, "5 points stands for 4.5 to 5.5."};
  claim.correction = "4.4 points.";
  claim.derivation = "28.6 - 24.2 = 4.4, and with both roundings at most 4.5.";
  claim.derived = Verdict::refuted;
  claim.checks = [] {
    return together({between(Role::statement, "RoPE + 4.5 <= BAM <= RoPE + 5.5 (tenths)",
                             {overall(45, 55)}, "RoPE and least", "BAM", "RoPE and most"),
                     between(Role::correction, "RoPE + 4.25 <= BAM <= RoPE + 4.55",
                             {overall(42.5, 45.5)}, "RoPE and least", "BAM", "RoPE and most")});
  };
  claim.mutant = "It is 4 points and a half to 5 above.";
  claim.mutant_checks = [] {
    return between(Role::statement, "RoPE + 4.6 <= BAM <= RoPE + 5", {overall(46, 50)},
                   "RoPE and least", "BAM", "RoPE and most");
  };
  return claim;
}

}  // namespace plumbline::proofs_checks::bam
