// SPDX-License-Identifier: Apache-2.0
#include "proofs_checks/bam/claims.hpp"
#include "proofs_checks/bam/source.hpp"
#include "proofs_checks/bam/tables.hpp"
#include "proofs_checks/rounded_numbers.hpp"

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
  claim.hypotheses = {
      needed("Two parameters per head (section 3): 384.", "Three are 0.00048%.",
             claim.mutant_checks)
          .where("added", exactly(384)),
      needed(
          "The model has 120M parameters.",
          "For the 1.1B model two parameters per head, 960, are 0.00009%.", [] {
            return between(
                Role::statement, "0.000315% <= 960 / 1.1B <= 0.000325%",
                {Sample{}.with("960", {960}).with("0.000315%", {3465}).with("0.000325%", {3575})},
                "0.000315%", "960", "0.000325%");
          })};
  claim.implicit = {definition_of_printed_numbers()};
  return claim;
}

}  // namespace plumbline::proofs_checks::bam
