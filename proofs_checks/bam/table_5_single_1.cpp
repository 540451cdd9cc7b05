// SPDX-License-Identifier: Apache-2.0
#include "proofs_checks/bam/claims.hpp"
#include "proofs_checks/bam/source.hpp"
#include "proofs_checks/bam/tables.hpp"
#include "proofs_checks/rounded_numbers.hpp"

namespace plumbline::proofs_checks::bam {
namespace {

std::vector<Sample> against_of_table_5_single_1(std::size_t task) {
  std::vector<Sample> samples;
  for (Sample row : rows(table_5[task].second)) samples.push_back(row.with("threshold", {99}));
  return samples;
}

}  // namespace

Claim table_5_single_1() {
  Claim claim;
  claim.id = "bam/table_5_single_1";
  claim.title = "BAM is almost perfect on Single 1";
  claim.source = source("Appendix F.2, first paragraph");
  claim.statement =
      "\"Almost perfect accuracy across tasks on the Single 1 subset\": above 0.99 at every length "
      "to 32,768.";
  claim.derivation = "1.00 in all eleven columns.";
  claim.derived = Verdict::holds;
  claim.checks = [] {
    return above(Role::statement, "Single 1: BAM is above 0.99 (hundredths)",
                 against_of_table_5_single_1(0), "BAM", {"threshold"});
  };
  claim.mutant = "On Single 2 as well.";
  claim.mutant_checks = [] {
    return above(Role::statement, "Single 2: BAM is above 0.99", against_of_table_5_single_1(1),
                 "BAM", {"threshold"});
  };
  claim.implicit = {definition_of_printed_numbers(),
                    definition("Almost perfect means above 0.99.", "It says what the words mean.")};
  return claim;
}

}  // namespace plumbline::proofs_checks::bam
