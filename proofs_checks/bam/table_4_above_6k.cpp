// SPDX-License-Identifier: Apache-2.0
#include "proofs_checks/bam/claims.hpp"
#include "proofs_checks/bam/source.hpp"
#include "proofs_checks/bam/tables.hpp"
#include "proofs_checks/rounded_numbers.hpp"

namespace plumbline::proofs_checks::bam {
namespace {

std::vector<Sample> against_of_table_4_above_6k(int threshold) {
  std::vector<Sample> samples;
  for (Sample row : rows(table_4[0], 8192)) {
    samples.push_back(row.with("threshold", {static_cast<double>(threshold)}));
  }
  return samples;
}

}  // namespace

Claim table_4_above_6k() {
  Claim claim;
  claim.id = "bam/table_4_above_6k";
  claim.title = "On Single 1 only BAM retrieves anything above 6K tokens";
  claim.source = source("Appendix F.1, first paragraph");
  claim.statement =
      "On NIAH Single 1 BAM is \"the only one able to perform retrieval above 6k tokens\": every "
      "other accuracy is 0 there.";
  claim.condition = "Being able to retrieve means an accuracy of at least 0.05.";
  claim.derivation =
      "ALiBi SSMax has 0.02, 0.04 and 0.02 at 8K, 10K and 12K, RoPE Local 0.02 at 10K: one or two "
      "of fifty answers. BAM has 0.98, 0.92 and 0.88.";
  claim.derived = Verdict::holds_under_condition;
  claim.checks = [] {
    return together({above(Role::statement, "1/100 is above every baseline beyond 6K",
                           against_of_table_4_above_6k(1), "threshold", table_4_baselines),
                     above(Role::condition, "5/100 is above every baseline beyond 6K",
                           against_of_table_4_above_6k(5), "threshold", table_4_baselines)});
  };
  claim.mutant = "BAM keeps 0.9 at 12K.";
  claim.mutant_checks = [] {
    return above(Role::statement, "Single 1 at 12K: BAM is above 0.9",
                 {Sample{}.printed("BAM", 88, 1).with("threshold", {90})}, "BAM", {"threshold"});
  };
  claim.implicit = {definition_of_printed_numbers()};
  return claim;
}

}  // namespace plumbline::proofs_checks::bam
