// SPDX-License-Identifier: Apache-2.0
#include "proofs_checks/cable/claims.hpp"
#include "proofs_checks/cable/settings.hpp"
#include "proofs_checks/cable/source.hpp"
#include "proofs_checks/rounded_numbers.hpp"

namespace plumbline::proofs_checks::cable {

Claim parameters_medium() {
  Claim claim;
  claim.id = "cable/parameters_medium";
  claim.title = "GPT-2 Medium has 334M parameters";
  claim.source = source("Abstract; section 4.2");
  claim.statement =
      "The medium version (24 layers, width 1024, vocabulary 50304) has 334M parameters.";
  claim.implicit = {gpt2_parameters_counted, "CABLE adds 2 L (C H + H), as in the published code.",
                    printed_numbers_are_rounded};
  claim.correction = "354M parameters; 355M with CABLE or with a table of 1024 positions.";
  claim.derivation =
      "51,511,296 for the embeddings, 24 * 12,596,224 = 302,309,376 for the layers, 2,048 for the "
      "last LayerNorm: 353,822,720; with a table of positions 354,871,296, with CABLE 354,609,920. "
      "No choice of these gives 334M. (334,092,288 is the encoder of BERT large, with the same "
      "layers and a vocabulary of 30,522.)";
  claim.derived = Verdict::refuted;
  claim.checks = [] {
    const std::vector<Sample> counts = {model(24, 16, 1024, 0, 0), model(24, 16, 1024, 1024, 0),
                                        model(24, 16, 1024, 0, 1)};
    return together({for_all(Role::statement, "333.5M <= parameters <= 334.5M",
                             ParametersLieIn{333.5e6, 334.5e6}, counts),
                     for_all(Role::correction, "353.5M <= parameters <= 355.5M",
                             ParametersLieIn{353.5e6, 355.5e6}, counts)});
  };
  claim.mutant = "The medium version has 345M parameters.";
  claim.mutant_checks = [] {
    return for_all(Role::statement, "344.5M <= parameters <= 345.5M",
                   ParametersLieIn{344.5e6, 345.5e6}, {model(24, 16, 1024, 1024, 0)});
  };
  return claim;
}

}  // namespace plumbline::proofs_checks::cable
