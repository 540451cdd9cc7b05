// SPDX-License-Identifier: Apache-2.0
#include "proofs_checks/bam/claims.hpp"
#include "proofs_checks/bam/source.hpp"
#include "proofs_checks/printed_numbers.hpp"

namespace plumbline::proofs_checks::bam {
namespace {

Sample tokens_of_factor_64(double factor, double count) {
  return Sample{}.with("factor", {factor}).with("context", {512}).with("tokens", {count});
}

}  // namespace

Claim factor_64() {
  Claim claim;
  claim.id = "bam/factor_64";
  claim.title = "32,000 tokens are 64 times the training context";
  claim.source = source(
      "Captions of Figures 2 and 6 (\"64x\"); section 3.1 and appendix D.2 (\"32,000 tokens\")");
  claim.statement =
      "The evaluation up to 32,000 tokens reaches 64 times the training context length of 512.";
  claim.implicit = {"32,000 is exact and not rounded from 32,768."};
  claim.correction = "62.5 times; 64 times are 32,768 tokens.";
  claim.derivation = "64 x 512 = 32,768.";
  claim.derived = Verdict::refuted;
  claim.checks = [] {
    return together(
        {products(Role::statement, "64 x 512 = 32,000", {tokens_of_factor_64(64, 32000)},
                  {"factor", "context"}, "tokens"),
         products(Role::correction, "62.5 x 512 = 32,000", {tokens_of_factor_64(62.5, 32000)},
                  {"factor", "context"}, "tokens")});
  };
  claim.mutant = "It is 60 times.";
  claim.mutant_checks = [] {
    return products(Role::statement, "60 x 512 = 32,000", {tokens_of_factor_64(60, 32000)},
                    {"factor", "context"}, "tokens");
  };
  return claim;
}

}  // namespace plumbline::proofs_checks::bam
