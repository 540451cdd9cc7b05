// SPDX-License-Identifier: Apache-2.0
#include "proofs_checks/bam/claims.hpp"
#include "proofs_checks/bam/source.hpp"
#include "proofs_checks/tables.hpp"

namespace plumbline::proofs_checks::bam {
namespace {

enum class PartOfTransformerLayers { layers, layers_and_head, everything };

/// Without bias terms: attention 4 C^2, SwiGLU of hidden size h C with three maps, two RMSNorms per
/// layer and a last one, embeddings and an untied head of 32768 x C each.
double parameters_of_transformer_layers(PartOfTransformerLayers part, double C, double layers,
                                        double h) {
  const double body = layers * ((4 + 3 * h) * C * C + 2 * C) + C, table = 32768 * C;
  return part == PartOfTransformerLayers::layers            ? body
         : part == PartOfTransformerLayers::layers_and_head ? body + table
                                                            : body + 2 * table;
}

Sample model_of_transformer_layers(PartOfTransformerLayers part, double C, double layers, double h,
                                   double lower, double upper) {
  return Sample{}
      .with("C", {C})
      .with("layers", {layers})
      .with("parameters", {parameters_of_transformer_layers(part, C, layers, h)})
      .with("at least", {lower})
      .with("at most", {upper});
}

}  // namespace

Claim transformer_layers() {
  Claim claim;
  claim.id = "bam/transformer_layers";
  claim.title = "The transformer layers of the 120M model have about 95M parameters";
  claim.source = source("Section 3, second paragraph; Table 1, \"Parameters transformer\"");
  claim.statement =
      "\"Approximately 120M parameters, including ~25M for input embeddings and ~95M for the "
      "transformer layers\"; Table 1 has ~380M for the 432M model.";
  claim.condition = "The output head is counted with the layers.";
  claim.derivation =
      "A layer has 4 C^2 + 3 (2 C) C = 10 C^2 parameters and two RMSNorms. 12 layers of C = 768: "
      "70.8M; 14 of 1536: 330.3M. The head adds 25.2M and 50.3M: 96.0M and 380.7M.";
  claim.derived = Verdict::holds_under_condition;
  claim.checks = [] {
    return together(
        {between(Role::statement, "layers alone: 92.5M to 97.5M, 375M to 385M",
                 {model_of_transformer_layers(PartOfTransformerLayers::layers, 768, 12, 2, 92.5e6,
                                              97.5e6),
                  model_of_transformer_layers(PartOfTransformerLayers::layers, 1536, 14, 2, 375e6,
                                              385e6)},
                 "at least", "parameters", "at most"),
         between(Role::condition, "layers and output head: 92.5M to 97.5M, 375M to 385M",
                 {model_of_transformer_layers(PartOfTransformerLayers::layers_and_head, 768, 12, 2,
                                              92.5e6, 97.5e6),
                  model_of_transformer_layers(PartOfTransformerLayers::layers_and_head, 1536, 14, 2,
                                              375e6, 385e6)},
                 "at least", "parameters", "at most")});
  };
  claim.mutant = "A feed-forward hidden size of 4 C gives about 95M with the head.";
  claim.mutant_checks = [] {
    return between(Role::statement, "h = 4: 92.5M to 97.5M",
                   {model_of_transformer_layers(PartOfTransformerLayers::layers_and_head, 768, 12,
                                                4, 92.5e6, 97.5e6)},
                   "at least", "parameters", "at most");
  };
  claim.hypotheses = {
      needed("Table 1: C = 768, 12 layers, feed-forward 2 x 768; C = 1536, 14 layers, 2 x 1536.",
             "A hidden size of 4 C gives 138M.", claim.mutant_checks)};
  claim.implicit = {
      needed("Llama-style layers without bias terms, three feed-forward maps (SwiGLU), an untied "
             "output head, the 32,768 tokens of the tokenizer: the published code.",
             "With two maps a layer has 8 C^2, and layers and head 81.8M.",
             [] {
               const double C = 768, body = 12 * (8 * C * C + 2 * C) + C + 32768 * C;
               return between(Role::statement, "two feed-forward maps: 92.5M to 97.5M",
                              {Sample{}
                                   .with("C", {C})
                                   .with("layers", {12})
                                   .with("parameters", {body})
                                   .with("at least", {92.5e6})
                                   .with("at most", {97.5e6})},
                              "at least", "parameters", "at most");
             }),
      definition("\"~\" leaves 2.5M and 5M to each side.",
                 "Without a number there is nothing to check.")};
  return claim;
}

}  // namespace plumbline::proofs_checks::bam
