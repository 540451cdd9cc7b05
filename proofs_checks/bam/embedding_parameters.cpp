// SPDX-License-Identifier: Apache-2.0
#include "proofs_checks/bam/claims.hpp"
#include "proofs_checks/bam/source.hpp"
#include "proofs_checks/bam/tables.hpp"
#include "proofs_checks/rounded_numbers.hpp"

namespace plumbline::proofs_checks::bam {
namespace {

Sample table(double width, double printed) {
  return Sample{}
      .with("parameters", {32768 * width})
      .with("at least", {printed - 0.5e6})
      .with("at most", {printed + 0.5e6});
}

}  // namespace

Claim embedding_parameters() {
  Claim claim;
  claim.id = "bam/embedding_parameters";
  claim.title = "The embeddings have about 25M, 50M and 67M parameters";
  claim.source = source("Table 1, \"Parameters embedding\"; section 3");
  claim.statement = "Embeddings of ~25M, ~50M and ~67M for widths 768, 1536 and 2048.";
  claim.derivation = "32,768 x 768 = 25.2M, x 1536 = 50.3M, x 2048 = 67.1M.";
  claim.derived = Verdict::holds;
  claim.checks = [] {
    return between(Role::statement, "24.5M to 25.5M, 49.5M to 50.5M, 66.5M to 67.5M",
                   {table(768, 25e6), table(1536, 50e6), table(2048, 67e6)}, "at least",
                   "parameters", "at most");
  };
  claim.mutant = "A vocabulary of 50,304.";
  claim.mutant_checks = [] {
    return between(Role::statement, "50304 x 768: 24.5M to 25.5M",
                   {Sample{}
                        .with("parameters", {50304.0 * 768})
                        .with("at least", {24.5e6})
                        .with("at most", {25.5e6})},
                   "at least", "parameters", "at most");
  };
  claim.implicit = {needed("The vocabulary of the Mistral-7B v0.3 tokenizer, 32,768 tokens.",
                           "That of GPT-2 gives other numbers.", claim.mutant_checks),
                    definition_of_printed_numbers()};
  return claim;
}

}  // namespace plumbline::proofs_checks::bam
