// SPDX-License-Identifier: Apache-2.0
#include "proofs_checks/bam/claims.hpp"
#include "proofs_checks/bam/source.hpp"
#include "proofs_checks/tables.hpp"

namespace plumbline::proofs_checks::bam {
namespace {

std::vector<Sample> counts(const std::vector<double>& values) {
  std::vector<Sample> samples;
  for (double value : values)
    samples.push_back(Sample{}.with("parameters", {value}).with("limit", {1000}));
  return samples;
}

}  // namespace

Claim fewer_than_1000() {
  Claim claim;
  claim.id = "bam/fewer_than_1000";
  claim.title = "The approach introduces fewer than 1,000 parameters";
  claim.source = source("Section 1 and Table 1");
  claim.statement = "\"Our approach introduces fewer than 1,000 additional parameters.\"";
  claim.condition =
      "theta_mu is fixed (two parameters per head), or the model is the one with 120M parameters.";
  claim.derivation =
      "Table 1 prints 1008 for the 432M and 1440 for the 1.1B model. Two parameters per head give "
      "2/3 of these, 672 and 960.";
  claim.derived = Verdict::holds_under_condition;
  claim.checks = [] {
    return together({above(Role::statement, "1000 - 3 heads layers > 0 for the models of Table 1",
                           counts({1008, 576, 1440}), "limit", {"parameters"}),
                     above(Role::condition, "1000 - 2 heads layers > 0", counts({384, 672, 960}),
                           "limit", {"parameters"})});
  };
  claim.mutant = "It holds for three parameters per head in the 432M model.";
  claim.mutant_checks = [] {
    return above(Role::statement, "1000 - 1008 > 0", counts({1008}), "limit", {"parameters"});
  };
  claim.hypotheses = {definition("The models are the three of Table 1.", "It says which models.")};
  claim.implicit = {
      definition("The sentence does not say for which model.", "The condition says it.")};
  return claim;
}

}  // namespace plumbline::proofs_checks::bam
