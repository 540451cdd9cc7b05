// SPDX-License-Identifier: Apache-2.0
#include "proofs_checks/cable/claims.hpp"
#include "proofs_checks/cable/settings.hpp"
#include "proofs_checks/cable/source.hpp"

namespace plumbline::proofs_checks::cable {

Claim parameters_small() {
  Claim claim;
  claim.id = "cable/parameters_small";
  claim.title = "GPT-2 Small has 124M parameters";
  claim.source = source("Section 4.2");
  claim.statement =
      "The small version (12 layers, width 768, vocabulary 50304) has 124M parameters.";
  claim.implicit = {
      "GPT-2 with a vocabulary of 50304, tied embeddings, linear maps and LayerNorms with bias "
      "terms: V C + P C + L (12 C^2 + 13 C) + 2 C parameters, P = 1024 positions or, for the "
      "relative encodings, none.",
      "CABLE adds 2 L (C H + H), as in the published code.",
      "A printed number stands for all that round to it (half a unit of its last digit).",
      "12 heads (cable/ten_heads); the count of GPT-2 itself does not depend on it."};
  claim.derivation =
      "123,689,472 without a table of positions, 124,475,904 with one, 123,910,944 with CABLE: all "
      "round to 124M.";
  claim.derived = Verdict::holds;
  claim.checks = [] {
    return for_all(
        Role::statement, "123.5M <= parameters <= 124.5M", ParametersLieIn{123.5e6, 124.5e6},
        {model(12, 12, 768, 0, 0), model(12, 12, 768, 1024, 0), model(12, 12, 768, 0, 1)});
  };
  claim.mutant = "The small version has 123M parameters.";
  claim.mutant_checks = [] {
    return for_all(Role::statement, "122.5M <= parameters <= 123.5M",
                   ParametersLieIn{122.5e6, 123.5e6}, {model(12, 12, 768, 0, 0)});
  };
  return claim;
}

}  // namespace plumbline::proofs_checks::cable
