// SPDX-License-Identifier: Apache-2.0
#include "proofs_checks/bam/claims.hpp"
#include "proofs_checks/bam/source.hpp"
#include "proofs_checks/bam/tables.hpp"
#include "proofs_checks/rounded_numbers.hpp"

namespace plumbline::proofs_checks::bam {
namespace {

/// The lengths up to `longest` x 51,200 tokens, with the threshold in tenths.
std::vector<Sample> against_of_accuracy_300000(double threshold, int longest) {
  std::vector<Sample> samples;
  for (Sample row : rows(table_7, 0, longest)) {
    samples.push_back(row.with("threshold", {threshold}));
  }
  return samples;
}

}  // namespace

Claim accuracy_300000() {
  Claim claim;
  claim.id = "bam/accuracy_300000";
  claim.title = "The accuracy stays above 80% until 300,000 tokens";
  claim.source = source("Appendix H.3, first sentences after Figure 11, against Table 7");
  claim.statement =
      "\"It maintained accuracy above 80% until 300,000 and did not drop to zero\": at every "
      "length "
      "of Table 7 up to 300,000 tokens, for the model trained on 512.";
  claim.implicit = {printed_numbers_are_rounded,
                    "The model is the one with 120M parameters of Table 7."};
  claim.derivation =
      "Table 7 prints 0.8 at 256,000 tokens, which may stand for more than 0.8 or for less, and "
      "0.7 "
      "at 307,200; there is no number at 300,000. Missing: the accuracies with two digits. (It "
      "does "
      "not drop to zero: 0.4 at 512,000.)";
  claim.derived = Verdict::undecided;
  claim.checks = [] {
    return above(Role::statement, "accuracy - 0.8 > 0 at T = 0 to 5 times 51,200 tokens (tenths)",
                 against_of_accuracy_300000(8, 5), "120M", {"threshold"});
  };
  claim.mutant = "It stays above 60% at every length.";
  claim.mutant_checks = [] {
    return above(Role::statement, "accuracy - 0.6 > 0 at every length (tenths)",
                 against_of_accuracy_300000(6, 10), "120M", {"threshold"});
  };
  return claim;
}

}  // namespace plumbline::proofs_checks::bam
