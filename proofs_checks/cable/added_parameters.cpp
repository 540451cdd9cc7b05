// SPDX-License-Identifier: Apache-2.0
#include "proofs_checks/cable/claims.hpp"
#include "proofs_checks/cable/settings.hpp"
#include "proofs_checks/cable/source.hpp"
#include "proofs_checks/rounded_numbers.hpp"

namespace plumbline::proofs_checks::cable {
namespace {

/// thousandths of the parameters, times 1000, minus 1000 times what is added, in both readings.
struct Share {
  static constexpr Relation relation = Relation::above_zero;
  double thousandths;
  template <class R>
  std::vector<R> operator()(const Inputs<R>& in) const {
    const R share = R(thousandths) * parameters_of(in);
    return {share - R(1000.0) * added_parameters_of(in),
            share - R(2000.0) * in.number("L") * in.number("C")};
  }
};

}  // namespace

Claim added_parameters() {
  Claim claim;
  claim.id = "cable/added_parameters";
  claim.title = "CABLE adds minimal parameters";
  claim.source = source("Section 3, last paragraph: \"minimal parameters\"");
  claim.statement =
      "Two additional linear layers in each attention layer add minimal parameters: less than 0.3 "
      "percent of the model, for all three sizes.";
  claim.derivation =
      "2 L (C H + H): 221,472 of 123.9M for Small (0.18 percent), 787,200 of 354.6M for Medium "
      "(0.22), 49,248 of 44.7M for Tiny (0.11). As printed, with w_c and w_s in R^d for each head "
      "of dimension d = C/H, it is 2 L C only: 18,432, 49,152 and 6,144.";
  claim.derived = Verdict::holds;
  claim.checks = [] {
    return for_all(Role::statement, "0.003 parameters - 2 L (C H + H) > 0 and >= that of 2 L C",
                   Share{3},
                   {model(12, 12, 768, 0, 1), model(24, 16, 1024, 0, 1), model(6, 8, 512, 0, 1)});
  };
  claim.mutant = "Less than 0.2 percent.";
  claim.mutant_checks = [] {
    return for_all(Role::statement, "0.002 parameters - 2 L (C H + H) > 0", Share{2},
                   {model(24, 16, 1024, 0, 1)});
  };
  claim.implicit = {
      definition(gpt2_parameters_counted, "It says what is counted."),
      definition("CABLE adds 2 L (C H + H), as in the published code.",
                 "It says what is counted; the reading as printed, 2 L C, is checked beside it."),
      definition_of_printed_numbers(),
      definition("\"Minimal\" is read as less than 0.3 percent.",
                 "Without a number there is nothing to check.")};
  return claim;
}

}  // namespace plumbline::proofs_checks::cable
