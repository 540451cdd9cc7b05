// SPDX-License-Identifier: Apache-2.0
#include "proofs_checks/bam/claims.hpp"
#include "proofs_checks/bam/source.hpp"
#include "proofs_checks/printed_numbers.hpp"

namespace plumbline::proofs_checks::bam {
namespace {

/// Learning rates in units of 10^-4: Table 1's for a model, and the text's.
Sample rate(double value) { return Sample{}.with("Table 1", {value}).with("text", {10}); }

}  // namespace

Claim learning_rate() {
  Claim claim;
  claim.id = "bam/learning_rate";
  claim.title = "All models were trained with an initial learning rate of 10^-3";
  claim.source = source("Appendix C, third paragraph, against Table 1");
  claim.statement =
      "\"The models were optimized using RAdam with an initial learning rate of 1 x 10^-3.\"";
  claim.condition = "The model is the one with 120M parameters.";
  claim.derivation = "Table 1 has 10^-3, 5 x 10^-4 and 3 x 10^-4.";
  claim.derived = Verdict::holds_under_condition;
  claim.checks = [] {
    return together({totals(Role::statement, "learning rate of Table 1 = 10 x 10^-4",
                            {rate(5), rate(3), rate(10)}, {"Table 1"}, "text"),
                     totals(Role::condition, "120M: 10 x 10^-4", {rate(10)}, {"Table 1"}, "text")});
  };
  claim.mutant = "The 432M model too.";
  claim.mutant_checks = [] {
    return totals(Role::statement, "432M: 5 = 10", {rate(5)}, {"Table 1"}, "text");
  };
  claim.implicit = {definition("\"The models\" are those of Table 1.", "It says which models.")};
  return claim;
}

}  // namespace plumbline::proofs_checks::bam
