// SPDX-License-Identifier: Apache-2.0
#include "proofs_checks/cable/claims.hpp"
#include "proofs_checks/cable/settings.hpp"
#include "proofs_checks/cable/source.hpp"
#include "proofs_checks/rounded_numbers.hpp"
#include "proofs_checks/tables.hpp"

namespace plumbline::proofs_checks::cable {

Claim parameters_small() {
  Claim claim;
  claim.id = "cable/parameters_small";
  claim.title = "GPT-2 Small has 124M parameters";
  claim.source = source("Section 4.2");
  claim.statement =
      "The small version (12 layers, width 768, vocabulary 50304) has 124M parameters.";
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
  claim.implicit = {
      definition(gpt2_parameters_counted, "It says what is counted."),
      not_needed("CABLE adds 2 L (C H + H), as in the published code.",
                 "As printed it adds 2 L C = 18,432, which changes nothing in the millions.",
                 [] {
                   return between(Role::statement, "123.5M <= parameters <= 124.5M with 2 L C",
                                  {Sample{}
                                       .with("at least", {123.5e6})
                                       .with("parameters", {123689472 + 18432})
                                       .with("at most", {124.5e6})},
                                  "at least", "parameters", "at most");
                 }),
      definition_of_printed_numbers(),
      not_needed("12 heads (cable/ten_heads); the count of GPT-2 itself does not depend on it.",
                 "What CABLE adds depends on it, but not in the millions.",
                 [] {
                   return for_all(Role::statement, "10 heads: 123.5M <= parameters <= 124.5M",
                                  ParametersLieIn{123.5e6, 124.5e6}, {model(12, 10, 768, 0, 1)});
                 })
          .where("H", exactly(12))};
  return claim;
}

}  // namespace plumbline::proofs_checks::cable
