// SPDX-License-Identifier: Apache-2.0
#include "proofs_checks/bam/claims.hpp"
#include "proofs_checks/bam/source.hpp"
#include "proofs_checks/bam/tables.hpp"
#include "proofs_checks/rounded_numbers.hpp"

namespace plumbline::proofs_checks::bam {
namespace {

std::vector<Sample> against_of_table_7_large_model() {
  std::vector<Sample> samples;
  for (Sample row : rows(table_7)) samples.push_back(row.with("threshold", {5}));
  return samples;
}

}  // namespace

Claim table_7_large_model() {
  Claim claim;
  claim.id = "bam/table_7_large_model";
  claim.title = "The 1.1B model trained on 512 tokens retrieves accurately at all lengths";
  claim.source = source("Appendix H.6, against Table 7");
  claim.statement =
      "\"Models were trained with context length 512 and prompted with up to 512,000 tokens. BAM "
      "SSMax dominates RoPE SSMax across all evaluated lengths, performing accurate Passkey "
      "retrieval in all contexts\": an accuracy of at least 0.5 at every length of Table 7.";
  claim.condition = "The model was extended with a context of 1024 (appendix H.5).";
  claim.derivation =
      "Table 7 prints 0.0 or 0.1 for the 1.1B model at every length from 51,200 tokens; after 256 "
      "steps with a context of 1024 it has 0.7 to 1.0. Figure 16 can only show the extended model, "
      "which is not one trained with context length 512.";
  claim.derived = Verdict::holds_under_condition;
  claim.checks = [] {
    return together({above(Role::statement, "1.1B: accuracy - 0.5 > 0 (tenths; T in 51,200 tokens)",
                           against_of_table_7_large_model(), "1.1B", {"threshold"}),
                     above(Role::condition, "1.1B extended: accuracy - 0.5 > 0",
                           against_of_table_7_large_model(), "1.1B Ext.", {"threshold"})});
  };
  claim.mutant = "The 431M model does without extension.";
  claim.mutant_checks = [] {
    return above(Role::statement, "431M: accuracy - 0.5 > 0", against_of_table_7_large_model(),
                 "431M", {"threshold"});
  };
  claim.implicit = {definition_of_printed_numbers(),
                    definition("Accurate means right in more than half of the cases.",
                               "It says what the word means.")};
  return claim;
}

}  // namespace plumbline::proofs_checks::bam
