// SPDX-License-Identifier: Apache-2.0
#include "proofs_checks/bam/claims.hpp"
#include "proofs_checks/bam/source.hpp"
#include "proofs_checks/bam/tables.hpp"
#include "proofs_checks/rounded_numbers.hpp"

namespace plumbline::proofs_checks::bam {
namespace {

std::vector<Sample> tasks_of_table_5_longer(int shortest) {
  std::vector<Sample> samples;
  for (const auto& [name, table] : table_5) {
    if (name == "MultiKey 2" || name == "MultiKey 3") continue;
    for (Sample& row : rows(table, shortest, 16384)) samples.push_back(std::move(row));
  }
  return samples;
}

}  // namespace

Claim table_5_longer() {
  Claim claim;
  claim.id = "bam/table_5_longer";
  claim.title = "BAM reaches longer contexts than RoPE in six tasks";
  claim.source = source("Appendix F.2, last sentence");
  claim.statement =
      "\"GGD-BAM clearly achieves better longer context in Single 1, 2 and 3, MultiKey 1, "
      "MultiQuery and MultiValue\": ahead at every length from 3072 to 16384.";
  claim.derivation =
      "By inspection of Table 5; the smallest lead is 0.02, at 16384 on Single 3. Beyond 16384 "
      "both are 0 on Single 3, and both 0.00 on MultiValue at 32768.";
  claim.derived = Verdict::holds;
  claim.checks = [] {
    return above(Role::statement, "BAM - RoPE > 0 from 3072 to 16384 (hundredths)",
                 tasks_of_table_5_longer(3072), "BAM", {"RoPE"});
  };
  claim.mutant = "At every length from 1024.";
  claim.mutant_checks = [] {
    return above(Role::statement, "BAM - RoPE > 0 from 1024", tasks_of_table_5_longer(1024), "BAM",
                 {"RoPE"});
  };
  claim.implicit = {definition_of_printed_numbers(),
                    needed("Longer contexts are those from six times the training length (512) to "
                           "16384; beyond, some accuracies are 0 for both.",
                           "At 1024 RoPE is ahead in some of the tasks.", claim.mutant_checks)
                        .where("T", at_least(3072))};
  return claim;
}

}  // namespace plumbline::proofs_checks::bam
