// SPDX-License-Identifier: Apache-2.0
#include "proofs_checks/cable/claims.hpp"
#include "proofs_checks/cable/settings.hpp"
#include "proofs_checks/cable/source.hpp"
#include "proofs_checks/rounded_numbers.hpp"

namespace plumbline::proofs_checks::cable {

Claim fineweb_epoch() {
  Claim claim;
  claim.id = "cable/fineweb_epoch";
  claim.title = "19k steps are about one epoch of FineWeb-Edu-10B";
  claim.source = source("Sections 4.1 and 4.2");
  claim.statement =
      "19k steps of 524,288 tokens are about 1 epoch of the 9.9B tokens for training.";
  claim.derivation =
      "19,000 * 524,288 = 9.961e9, which is 1.006 times 9.9e9; with all numbers that round to the "
      "printed ones it is 0.97 to 1.04.";
  claim.derived = Verdict::holds;
  claim.checks = [] {
    return for_all(Role::statement, "0.95 <= steps 524288 / data <= 1.05", EpochsLieIn{0.95, 1.05},
                   {Sample{}
                        .printed("steps", 19e3, 1e3)
                        .with("tokens per step", {524288})
                        .printed("tokens of the data", 9.9e9, 1e8)});
  };
  claim.mutant = "The same of 14k steps.";
  claim.mutant_checks = [] {
    return for_all(Role::statement, "0.95 <= 14k 524288 / data <= 1.05", EpochsLieIn{0.95, 1.05},
                   {Sample{}
                        .printed("steps", 14e3, 1e3)
                        .with("tokens per step", {524288})
                        .printed("tokens of the data", 9.9e9, 1e8)});
  };
  claim.implicit = {
      needed("A step is an update of the weights (\"Gradients are updated after processing 524,288 "
             "tokens\").",
             "If it were a batch of 64 sequences of 1024 on one GPU, it would be an eighth.",
             [] {
               return for_all(Role::statement, "0.95 <= steps 65536 / data <= 1.05",
                              EpochsLieIn{0.95, 1.05},
                              {Sample{}
                                   .printed("steps", 19e3, 1e3)
                                   .with("tokens per step", {65536})
                                   .printed("tokens of the data", 9.9e9, 1e8)});
             })
          .where("tokens per step", exactly(524288)),
      definition_of_printed_numbers()};
  return claim;
}

}  // namespace plumbline::proofs_checks::cable
