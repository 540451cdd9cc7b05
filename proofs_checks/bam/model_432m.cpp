// SPDX-License-Identifier: Apache-2.0
#include "proofs_checks/bam/claims.hpp"
#include "proofs_checks/bam/source.hpp"
#include "proofs_checks/bam/tables.hpp"
#include "proofs_checks/rounded_numbers.hpp"
#include "proofs_checks/tables.hpp"

namespace plumbline::proofs_checks::bam {
namespace {

enum class PartOfModel432m { layers, layers_and_head, everything };

/// Without bias terms: attention 4 C^2, SwiGLU of hidden size h C with three maps, two RMSNorms per
/// layer and a last one, embeddings and an untied head of 32768 x C each.
double parameters_of_model_432m(PartOfModel432m part, double C, double layers, double h) {
  const double body = layers * ((4 + 3 * h) * C * C + 2 * C) + C, table = 32768 * C;
  return part == PartOfModel432m::layers            ? body
         : part == PartOfModel432m::layers_and_head ? body + table
                                                    : body + 2 * table;
}

Sample model_of_model_432m(PartOfModel432m part, double C, double layers, double h, double lower,
                           double upper) {
  return Sample{}
      .with("C", {C})
      .with("layers", {layers})
      .with("parameters", {parameters_of_model_432m(part, C, layers, h)})
      .with("at least", {lower})
      .with("at most", {upper});
}

}  // namespace

Claim model_432m() {
  Claim claim;
  claim.id = "bam/model_432m";
  claim.title = "The second model has 432M parameters";
  claim.source = source("Table 1; Table 7 calls it 431M, Table 8 430M");
  claim.statement =
      "The model of 14 layers, width 1536 and feed-forward 2 x 1536 has 432M parameters.";
  claim.implicit = {"The architecture of bam/transformer_layers.", printed_numbers_are_rounded};
  claim.correction = "It has 431.0M, as Table 7 says.";
  claim.derivation =
      "2 x 32768 x 1536 + 14 (10 x 1536^2 + 2 x 1536) + 1536 = 431,009,280; BAM adds 1008 at most. "
      "Of the three names 431M is right.";
  claim.derived = Verdict::refuted;
  claim.checks = [] {
    return together(
        {between(Role::statement, "431.5M <= parameters <= 432.5M",
                 {model_of_model_432m(PartOfModel432m::everything, 1536, 14, 2, 431.5e6, 432.5e6)},
                 "at least", "parameters", "at most"),
         between(Role::correction, "430.5M <= parameters <= 431.5M",
                 {model_of_model_432m(PartOfModel432m::everything, 1536, 14, 2, 430.5e6, 431.5e6)},
                 "at least", "parameters", "at most")});
  };
  claim.mutant = "It has 430M.";
  claim.mutant_checks = [] {
    return between(
        Role::statement, "429.5M <= parameters <= 430.5M",
        {model_of_model_432m(PartOfModel432m::everything, 1536, 14, 2, 429.5e6, 430.5e6)},
        "at least", "parameters", "at most");
  };
  return claim;
}

}  // namespace plumbline::proofs_checks::bam
