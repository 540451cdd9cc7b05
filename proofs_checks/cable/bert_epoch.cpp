// SPDX-License-Identifier: Apache-2.0
#include "proofs_checks/cable/claims.hpp"
#include "proofs_checks/cable/settings.hpp"
#include "proofs_checks/cable/source.hpp"
#include "proofs_checks/rounded_numbers.hpp"

namespace plumbline::proofs_checks::cable {
namespace {

Sample training_of_bert_epoch(double tokens) {
  return Sample{}
      .printed("steps", 14e3, 1e3)
      .with("tokens per step", {tokens})
      .printed("tokens of the data", 9.9e9, 1e8);
}

}  // namespace

Claim bert_epoch() {
  Claim claim;
  claim.id = "cable/bert_epoch";
  claim.title = "14k steps are about one epoch for BERT";
  claim.source = source("Section 5.5");
  claim.statement =
      "BERT is trained with a batch size of 32 and a maximum sequence length of 512 for 14k steps, "
      "about 1 epoch on FineWeb-Edu-10B.";
  claim.implicit = {"No gradients are accumulated over several batches (none is mentioned).",
                    "The 9.9B tokens of section 4.1; \"about 1\" is 0.5 to 1.5.",
                    printed_numbers_are_rounded};
  claim.correction =
      "0.02 epochs; 0.09 if the batch is that of each of four GPUs. About 1 epoch takes some "
      "hundred thousand tokens a step.";
  claim.derivation =
      "14,000 * 32 * 512 = 2.3e8 tokens: 0.023 epochs of 9.9e9; if each of the four GPUs has a "
      "batch of 32, 9.2e8: 0.093 epochs. One epoch in 14k steps needs 707,143 tokens a step, 1,381 "
      "sequences of 512. With 524,288 tokens a step, as for GPT-2, it would be 0.74.";
  claim.derived = Verdict::refuted;
  claim.checks = [] {
    return together(
        {for_all(Role::statement, "0.5 <= epochs <= 1.5, one GPU and four", EpochsLieIn{0.5, 1.5},
                 {training_of_bert_epoch(32 * 512), training_of_bert_epoch(4 * 32 * 512)}),
         for_all(Role::correction, "0.02 <= epochs <= 0.025 for 32 sequences a step",
                 EpochsLieIn{0.02, 0.025}, {training_of_bert_epoch(32 * 512)}),
         for_all(Role::correction, "0.08 <= epochs <= 0.1 for 128 sequences a step",
                 EpochsLieIn{0.08, 0.1}, {training_of_bert_epoch(4 * 32 * 512)}),
         for_all(Role::correction, "0.5 <= epochs <= 1.5 for 524288 tokens a step",
                 EpochsLieIn{0.5, 1.5}, {training_of_bert_epoch(524288)})});
  };
  claim.mutant = "0.5 <= epochs <= 1.5 with 32 sequences a step on 16 GPUs.";
  claim.mutant_checks = [] {
    return for_all(Role::statement, "0.5 <= epochs <= 1.5, 16 GPUs", EpochsLieIn{0.5, 1.5},
                   {training_of_bert_epoch(16 * 32 * 512)});
  };
  return claim;
}

}  // namespace plumbline::proofs_checks::cable
