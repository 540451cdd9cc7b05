// SPDX-License-Identifier: Apache-2.0
#include "proofs_checks/bam/claims.hpp"
#include "proofs_checks/bam/source.hpp"
#include "proofs_checks/printed_numbers.hpp"

namespace plumbline::proofs_checks::bam {
namespace {

Sample tokens_of_factor_500(double factor, double count) {
  return Sample{}.with("factor", {factor}).with("context", {512}).with("tokens", {count});
}

}  // namespace

Claim factor_500() {
  Claim claim;
  claim.id = "bam/factor_500";
  claim.title = "250,000 tokens are 500 times the training context";
  claim.source = source(
      "Abstract (\"500x the training context length\"), section 3.1 and section 5 (\"250,000-token "
      "sequences\")");
  claim.statement =
      "Information retrieval at 500x the training context length of 512 is retrieval at 250,000 "
      "tokens.";
  claim.implicit = {"250,000 is exact and not rounded from 256,000."};
  claim.correction = "256,000 tokens; 250,000 are 488 training contexts.";
  claim.derivation =
      "500 x 512 = 256,000, the column 256K of Table 7. 250,000 tokens are 488 times 512.";
  claim.derived = Verdict::refuted;
  claim.checks = [] {
    return together(
        {products(Role::statement, "500 x 512 = 250,000", {tokens_of_factor_500(500, 250000)},
                  {"factor", "context"}, "tokens"),
         products(Role::correction, "500 x 512 = 256,000", {tokens_of_factor_500(500, 256000)},
                  {"factor", "context"}, "tokens")});
  };
  claim.mutant = "It is 512 times.";
  claim.mutant_checks = [] {
    return products(Role::statement, "512 x 512 = 250,000", {tokens_of_factor_500(512, 250000)},
                    {"factor", "context"}, "tokens");
  };
  return claim;
}

}  // namespace plumbline::proofs_checks::bam
