// SPDX-License-Identifier: Apache-2.0
#include "proofs_checks/bam/claims.hpp"
#include "proofs_checks/bam/source.hpp"
#include "proofs_checks/printed_numbers.hpp"

namespace plumbline::proofs_checks::bam {
namespace {

Sample prompt(double length) {
  return Sample{}
      .with("task", {32})
      .with("passkey", {25})
      .with("filler", {768})
      .with("answer", {16})
      .with("length", {length});
}

}  // namespace

Claim prompt_length() {
  Claim claim;
  claim.id = "bam/prompt_length";
  claim.title = "The passkey prompt has 841 = 825 + 16 tokens";
  claim.source = source("Section 3.2, second paragraph");
  claim.statement =
      "A prompt of length 841 (825 + 16): 32 tokens of task prompt, 25 of passkey, 768 of filler "
      "text, 16 of prompt answer.";
  claim.derivation = "32 + 25 + 768 = 825 and 825 + 16 = 841.";
  claim.derived = Verdict::holds;
  claim.checks = [] {
    return totals(Role::statement, "32 + 25 + 768 + 16 = 841 and 825 + 16 = 841",
                  {prompt(841), Sample{}
                                    .with("task", {825})
                                    .with("passkey", {0})
                                    .with("filler", {0})
                                    .with("answer", {16})
                                    .with("length", {841})},
                  {"task", "passkey", "filler", "answer"}, "length");
  };
  claim.mutant = "It has 840 tokens.";
  claim.mutant_checks = [] {
    return totals(Role::statement, "32 + 25 + 768 + 16 = 840", {prompt(840)},
                  {"task", "passkey", "filler", "answer"}, "length");
  };
  claim.implicit = {
      definition("The four parts are all of the prompt.", "It says what is counted.")};
  return claim;
}

}  // namespace plumbline::proofs_checks::bam
