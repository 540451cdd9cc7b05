// SPDX-License-Identifier: Apache-2.0
#include "proofs_checks/bam/claims.hpp"
#include "proofs_checks/bam/source.hpp"
#include "proofs_checks/bam/tables.hpp"
#include "proofs_checks/rounded_numbers.hpp"

namespace plumbline::proofs_checks::bam {
namespace {

/// The lengths up to `longest` x 51,200 tokens, with the threshold in tenths.
std::vector<Sample> against_of_factor_512(int threshold, int longest) {
  std::vector<Sample> samples;
  for (Sample row : rows(table_7, 0, longest)) {
    samples.push_back(row.with("threshold", {static_cast<double>(threshold)}));
  }
  return samples;
}

}  // namespace

Claim factor_512() {
  Claim claim;
  claim.id = "bam/factor_512";
  claim.title = "The 120M model keeps an accuracy above 0.8 up to 512 times the training context";
  claim.source = source("Appendix H.5, last paragraph; section 3.1 (\"above 80% for 500x\")");
  claim.statement =
      "\"The 120M model generalizes up to 512x the trained context length with accuracy above "
      "0.8\": at every length of Table 7 up to 512 x 512 = 262,144 tokens.";
  claim.implicit = {printed_numbers_are_rounded};
  claim.derivation =
      "Table 7 has 0.8 at 256,000 tokens (500 times) and 0.7 at 307,200 (600 times): 0.8 with one "
      "digit may stand for more than 0.8 or for less, and there is no number at 262,144. Missing: "
      "the accuracies with two digits.";
  claim.derived = Verdict::undecided;
  claim.checks = [] {
    return above(Role::statement, "accuracy - 0.8 > 0 at T = 0 to 5 times 51,200 tokens (tenths)",
                 against_of_factor_512(8, 5), "120M", {"threshold"});
  };
  claim.mutant = "It keeps it up to 307,200 tokens, 600 times.";
  claim.mutant_checks = [] {
    return above(Role::statement, "accuracy - 0.8 > 0 up to 6 x 51,200 tokens (tenths)",
                 against_of_factor_512(8, 6), "120M", {"threshold"});
  };
  return claim;
}

}  // namespace plumbline::proofs_checks::bam
