// SPDX-License-Identifier: Apache-2.0
#include "proofs_checks/bam/claims.hpp"
#include "proofs_checks/bam/source.hpp"
#include "proofs_checks/bam/tables.hpp"
#include "proofs_checks/rounded_numbers.hpp"

namespace plumbline::proofs_checks::bam {
namespace {

std::vector<Sample> benchmarks(int lead) {
  return {Sample{}.printed("BAM", 3716, 1).printed("RoPE", 3573 + lead, 1),
          Sample{}.printed("BAM", 5770, 1).printed("RoPE", 5715 + lead, 1),
          Sample{}.printed("BAM", 4132, 1).printed("RoPE", 4123 + lead, 1)};
}

}  // namespace

Claim table_3_all() {
  Claim claim;
  claim.id = "bam/table_3_all";
  claim.title = "BAM is ahead of RoPE on MMLU and ARC";
  claim.source = source("Appendix E, Table 3");
  claim.statement =
      "\"Table 3 shows that BAM SSMax is superior to RoPE in all the evaluated benchmarks.\"";
  claim.derivation =
      "0.3716 > 0.3573, 0.5770 > 0.5715, 0.4132 > 0.4123. (The last is one question of 1,172 "
      "apart, which no test of significance separates.)";
  claim.derived = Verdict::holds;
  claim.checks = [] {
    return above(Role::statement, "BAM - RoPE > 0 (10^-4)", benchmarks(0), "BAM", {"RoPE"});
  };
  claim.mutant = "By a hundredth everywhere.";
  claim.mutant_checks = [] {
    return above(Role::statement, "BAM - RoPE - 0.01 > 0 (10^-4)", benchmarks(100), "BAM",
                 {"RoPE"});
  };
  claim.implicit = {definition_of_printed_numbers(),
                    definition("Superior means a higher accuracy, not a significant difference.",
                               "It says what the word means.")};
  return claim;
}

}  // namespace plumbline::proofs_checks::bam
