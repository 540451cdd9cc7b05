// SPDX-License-Identifier: Apache-2.0
#include "proofs_checks/bam/claims.hpp"
#include "proofs_checks/bam/source.hpp"
#include "proofs_checks/printed_numbers.hpp"

namespace plumbline::proofs_checks::bam {
namespace {

Sample batch(double gpus, double sequences, double context) {
  return Sample{}
      .with("GPUs", {gpus})
      .with("sequences", {sequences})
      .with("context", {context})
      .with("tokens", {589824});
}

std::vector<Check> fills(const std::string& what, const std::vector<Sample>& samples) {
  return products(Role::statement, what, samples, {"GPUs", "sequences", "context"}, "tokens");
}

}  // namespace

Claim global_batch() {
  Claim claim;
  claim.id = "bam/global_batch";
  claim.title = "The global batch has 589,824 tokens";
  claim.source = source("Appendix C, last paragraph");
  claim.statement =
      "A global batch of 589,824 tokens on six GPUs: a whole number of sequences on each for all "
      "three training contexts, 512, 1024 and 2048.";
  claim.derivation = "589,824 = 6 x 192 x 512 = 6 x 96 x 1024 = 6 x 48 x 2048.";
  claim.derived = Verdict::holds;
  claim.checks = [] {
    return fills("GPUs sequences context = 589,824",
                 {batch(6, 192, 512), batch(6, 96, 1024), batch(6, 48, 2048)});
  };
  claim.mutant = "192 sequences of 1024 tokens on each.";
  claim.mutant_checks = [] { return fills("6 x 192 x 1024 = 589,824", {batch(6, 192, 1024)}); };
  claim.implicit = {
      not_needed("All of the \"up to 6\" GPUs.", "2, 3 and 4 divide the batch as well.", [] {
        return fills("2, 3, 4 GPUs: GPUs sequences context = 589,824",
                     {batch(2, 576, 512), batch(3, 384, 512), batch(4, 288, 512)});
      }).where("GPUs", exactly(6))};
  return claim;
}

}  // namespace plumbline::proofs_checks::bam
