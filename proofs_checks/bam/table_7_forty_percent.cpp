// SPDX-License-Identifier: Apache-2.0
#include "proofs_checks/bam/claims.hpp"
#include "proofs_checks/bam/source.hpp"
#include "proofs_checks/bam/tables.hpp"
#include "proofs_checks/rounded_numbers.hpp"

namespace plumbline::proofs_checks::bam {
namespace {

std::vector<Sample> last(double least, double most) {
  std::vector<Sample> samples;
  for (Sample row : rows(table_7, 10)) {
    samples.push_back(row.with("at least", {least}).with("at most", {most}));
  }
  return samples;
}

}  // namespace

Claim table_7_forty_percent() {
  Claim claim;
  claim.id = "bam/table_7_forty_percent";
  claim.title = "The model trained on 512 tokens has 40% accuracy at 512k";
  claim.source = source("Appendix H.3, bold sentences, against Table 7");
  claim.statement =
      "\"The model trained with context length of 512 achieves 40% accuracy on 512k.\"";
  claim.derivation = "Table 7, row 120M, last column: 0.4.";
  claim.derived = Verdict::holds;
  claim.checks = [] {
    return between(Role::statement, "35% <= accuracy at 512,000 <= 45% (tenths)", last(3.5, 4.5),
                   "at least", "120M", "at most");
  };
  claim.mutant = "It has 60%.";
  claim.mutant_checks = [] {
    return between(Role::statement, "55% <= accuracy at 512,000 <= 65%", last(5.5, 6.5), "at least",
                   "120M", "at most");
  };
  claim.implicit = {
      definition_of_printed_numbers(),
      needed("The model is the one with 120M parameters.", "The 431M model has less.", [] {
        return between(Role::statement, "35% <= accuracy of 431M at 512,000 <= 45% (tenths)",
                       last(3.5, 4.5), "at least", "431M", "at most");
      })};
  return claim;
}

}  // namespace plumbline::proofs_checks::bam
