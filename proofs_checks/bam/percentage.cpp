// SPDX-License-Identifier: Apache-2.0
#include "proofs_checks/bam/claims.hpp"
#include "proofs_checks/bam/source.hpp"
#include "proofs_checks/bam/tables.hpp"

namespace plumbline::proofs_checks::bam {
namespace {

Sample sample(double added) {
  return Sample{}.with("added", {added}).with("0.000315%", {378}).with("0.000325%", {390});
}

}  // namespace

Claim percentage() {
  Claim claim;
  claim.id = "bam/percentage";
  claim.title = "BAM increases the parameters by 0.00032%";
  claim.source = source("Section 5");
  claim.statement =
      "\"Increasing the parameter count of the model in negligible 0.00032% trainable "
      "parameters.\"";
  claim.hypotheses = {"384 parameters (section 3) in 120M."};
  claim.implicit = {
      as_rounded,
      "The model has 120M parameters; for the 1.1B model two parameters per head are 0.00009%."};
  claim.derivation = "384/120,000,000 = 3.2e-6 = 0.00032%.";
  claim.derived = Verdict::holds;
  claim.checks = [] {
    return between(Role::statement, "0.000315% <= 384 / 120M <= 0.000325%", {sample(384)},
                   "0.000315%", "added", "0.000325%");
  };
  claim.mutant = "It is the percentage of three parameters per head, 576.";
  claim.mutant_checks = [] {
    return between(Role::statement, "0.000315% <= 576 / 120M <= 0.000325%", {sample(576)},
                   "0.000315%", "added", "0.000325%");
  };
  return claim;
}

}  // namespace plumbline::proofs_checks::bam
