// SPDX-License-Identifier: Apache-2.0
#include "proofs_checks/cable/claims.hpp"
#include "proofs_checks/cable/settings.hpp"
#include "proofs_checks/cable/source.hpp"
#include "proofs_checks/rounded_numbers.hpp"
#include "proofs_checks/tables.hpp"

namespace plumbline::proofs_checks::cable {

Claim parameters_tiny() {
  Claim claim;
  claim.id = "cable/parameters_tiny";
  claim.title = "GPT-2 Tiny has 44M parameters";
  claim.source = source("Section 4.2");
  claim.statement = "The tiny version (6 layers, width 512, vocabulary 50304) has 44M parameters.";
  claim.condition = "The count is cut off, not rounded, and there is no table of positions.";
  claim.derivation =
      "25,755,648 for the embeddings, 6 * 3,152,384 = 18,914,304 for the layers, 1,024 for the "
      "last LayerNorm: 44,670,976, which rounds to 45M; 45,195,264 with a table of positions. With "
      "the digits after 44 cut off, and without a table, it is 44M (with CABLE 44,720,224). The "
      "124M of the small version is rounded, not cut (cable/parameters_small).";
  claim.derived = Verdict::holds_under_condition;
  claim.checks = [] {
    return together(
        {for_all(Role::statement, "43.5M <= parameters <= 44.5M", ParametersLieIn{43.5e6, 44.5e6},
                 {model(6, 8, 512, 0, 0), model(6, 8, 512, 1024, 0)}),
         for_all(Role::condition, "44M <= parameters < 45M without a table of positions",
                 ParametersLieIn{44e6, 45e6 - 1},
                 {model(6, 8, 512, 0, 0), model(6, 8, 512, 0, 1)})});
  };
  claim.mutant = "With a table of positions, 44M <= parameters < 45M.";
  claim.mutant_checks = [] {
    return for_all(Role::statement, "44M <= parameters < 45M with a table",
                   ParametersLieIn{44e6, 45e6 - 1}, {model(6, 8, 512, 1024, 0)});
  };
  claim.implicit = {
      definition(gpt2_parameters_counted, "It says what is counted."),
      not_needed("CABLE adds 2 L (C H + H), as in the published code.",
                 "As printed it adds 2 L C = 6,144, which changes nothing in the millions.",
                 [] {
                   return between(Role::statement, "44M <= parameters <= 45M - 1 with 2 L C",
                                  {Sample{}
                                       .with("at least", {44e6})
                                       .with("parameters", {44670976 + 6144})
                                       .with("at most", {45e6 - 1})},
                                  "at least", "parameters", "at most");
                 }),
      definition_of_printed_numbers()};
  claim.conditions = {
      needed("The count is cut off, not rounded.", "44,670,976 rounds to 45M.",
             [] {
               return for_all(Role::statement, "43.5M <= parameters <= 44.5M without a table",
                              ParametersLieIn{43.5e6, 44.5e6}, {model(6, 8, 512, 0, 0)});
             }),
      needed("There is no table of positions.", "A table makes it 45,195,264.", claim.mutant_checks)
          .where("P", exactly(0))};
  return claim;
}

}  // namespace plumbline::proofs_checks::cable
