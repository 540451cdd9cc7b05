// SPDX-License-Identifier: Apache-2.0
#include "proofs_checks/cable/claims.hpp"
#include "proofs_checks/cable/source.hpp"
#include "proofs_checks/statement.hpp"
#include "reference/core/primitives.hpp"

namespace plumbline::proofs_checks::cable {
namespace {

struct Costs {
  static constexpr Relation relation = Relation::above_zero;
  template <class R>
  std::vector<Placed<R>> operator()(const Inputs<R>& in) const {
    const R &T = in.number("T"), &C = in.number("C"), &H = in.number("H");
    const R places = H * T * T;
    const R cable = R(2.0) * T * C * H + places;
    return {{R(96.0) * places - cable, "DAPE"}, {R(288.0) * places - cable, "DAPEv2"}};
  }
};

/// The three models at each length.
std::vector<Sample> sizes_of_dape_cost(const std::vector<double>& lengths) {
  std::vector<Sample> samples;
  for (double T : lengths) {
    const auto model = [&](double C, double H) {
      samples.push_back(Sample{}.with("T", {T}).with("C", {C}).with("H", {H}));
    };
    model(768, 12);
    model(1024, 16);
    model(512, 8);
  }
  return samples;
}

}  // namespace

Claim dape_cost() {
  Claim claim;
  claim.id = "cable/dape_cost";
  claim.title = "CABLE costs less than DAPE";
  claim.source = source("Section 5.3");
  claim.statement =
      "DAPE applies feedforward layers, DAPEv2 convolutions, to the full attention matrix [B, nh, "
      "T, T]; CABLE applies linear maps to [B, T, D], which results in significantly lower "
      "computational overhead: fewer multiplications per layer.";
  claim.condition = "T >= C/32: 16 tokens for Tiny, 24 for Small, 32 for Medium.";
  claim.derivation =
      "DAPE: 2 H -> 32 -> H at each of T^2 places, 96 H T^2 multiplications; DAPEv2 with 1 x 3 "
      "kernels three times that. CABLE: two maps C -> H for T tokens, 2 T C H, and the weight at "
      "T^2 places, H T^2. DAPE exceeds CABLE if 95 T > 2 C. At T = 1, C = 768 CABLE needs more; at "
      "T = 512, H = 12 it needs 12.6M against 302M.";
  claim.derived = Verdict::holds_under_condition;
  claim.checks = [] {
    return together(
        {for_all(
             Role::statement,
             "DAPE - CABLE > 0 and DAPEv2 - CABLE > 0: 96 H T^2 and 288 H T^2 less 2 T C H + H T^2",
             Costs{}, sizes_of_dape_cost({512, 64, 8, 1, 8192})),
         for_all(Role::condition, "the same for T >= C/32", Costs{},
                 sizes_of_dape_cost({32, 64, 512, 1024, 8192}))});
  };
  claim.mutant = "The same for T >= C/128.";
  claim.mutant_checks = [] {
    return for_all(Role::statement, "DAPE - CABLE > 0 for T >= C/128", Costs{},
                   sizes_of_dape_cost({8}));
  };
  claim.implicit = {
      definition("Multiplications of one layer and one sequence, without masks; time on an "
                 "accelerator is another matter.",
                 "It says what is counted."),
      definition(
          "DAPE as its published code has it: a hidden width of 32, the input joins attention "
          "and bias of all heads.",
          "It says what is counted.")};
  return claim;
}

}  // namespace plumbline::proofs_checks::cable
