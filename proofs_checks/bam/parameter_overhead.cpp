// SPDX-License-Identifier: Apache-2.0
#include "proofs_checks/bam/claims.hpp"
#include "proofs_checks/bam/source.hpp"
#include "proofs_checks/printed_numbers.hpp"

namespace plumbline::proofs_checks::bam {
namespace {

/// The three models of Table 1 with what a parameter count is made of.
std::vector<Sample> models(double per_head, const std::vector<double>& printed) {
  const double heads[] = {16, 24, 32}, layers[] = {12, 14, 15};
  std::vector<Sample> samples;
  for (std::size_t k = 0; k < printed.size(); ++k) {
    samples.push_back(Sample{}
                          .with("per head", {per_head})
                          .with("heads", {heads[k]})
                          .with("layers", {layers[k]})
                          .with("printed", {printed[k]}));
  }
  return samples;
}

}  // namespace

Claim parameter_overhead() {
  Claim claim;
  claim.id = "bam/parameter_overhead";
  claim.title = "BAM adds 3 x Heads x Layers parameters";
  claim.source = source("Section 3; Table 1, row \"Parameters BAM\"; appendix H.2");
  claim.statement =
      "The three parameters of each head in each layer amount to 3 x Heads x Layers: 576, 1008 and "
      "1440 for the three models (Table 1); theta_alpha and theta_beta alone to 384 in the 120M "
      "model, theta_beta alone to 192.";
  claim.derivation =
      "3 x 16 x 12 = 576, 3 x 24 x 14 = 1008, 3 x 32 x 15 = 1440, 2 x 16 x 12 = 384, 16 x 12 = "
      "192.";
  claim.derived = Verdict::holds;
  claim.checks = [] {
    return together(
        {products(Role::statement, "3 heads layers = 576, 1008, 1440", models(3, {576, 1008, 1440}),
                  {"per head", "heads", "layers"}, "printed"),
         products(Role::statement, "2 heads layers = 384 in the 120M model", models(2, {384}),
                  {"per head", "heads", "layers"}, "printed"),
         products(Role::statement, "1 heads layers = 192 in the 120M model", models(1, {192}),
                  {"per head", "heads", "layers"}, "printed")});
  };
  claim.mutant = "theta_alpha and theta_beta amount to 576.";
  claim.mutant_checks = [] {
    return products(Role::statement, "2 heads layers = 576", models(2, {576}),
                    {"per head", "heads", "layers"}, "printed");
  };
  claim.implicit = {definition("Heads and layers as in Table 1.", "It says which models.")};
  return claim;
}

}  // namespace plumbline::proofs_checks::bam
