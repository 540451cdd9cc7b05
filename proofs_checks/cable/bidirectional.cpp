// SPDX-License-Identifier: Apache-2.0
#include "proofs_checks/cable/biases.hpp"
#include "proofs_checks/cable/claims.hpp"
#include "proofs_checks/cable/source.hpp"
#include "proofs_checks/pictures/pictures.hpp"
#include "proofs_checks/samples.hpp"

namespace plumbline::proofs_checks::cable {
namespace {

template <bool absolute>
struct OnePenaltyEachSide {
  static constexpr Relation relation = Relation::at_least_zero;
  template <class R>
  std::vector<Placed<R>> operator()(const Inputs<R>& in) const {
    std::vector<Placed<R>> residuals;
    for (int j : {0, 2}) {
      const R bias = absolute ? published_bias<R>(in["f"], in.number("g"))(1, j)
                              : in.number("sign") * printed_bias<R>(in["f"], in.number("g"))(1, j);
      residuals.push_back({-bias, "i = 1, j = " + std::to_string(j)});
    }
    return residuals;
  }
};

struct StrictlyPenalised {
  static constexpr Relation relation = Relation::above_zero;
  template <class R>
  std::vector<R> operator()(const Inputs<R>& in) const {
    const auto bias = published_bias<R>(in["f"], in.number("g"));
    return {-bias(1, 0), -bias(1, 2)};
  }
};

std::vector<Sample> both_signs() {
  std::vector<Sample> samples;
  for (double sign : {1.0, -1.0}) {
    samples.push_back(Sample{}.with("f", {1, 1, 1}).with("g", {1}).with("sign", {sign}));
    samples.push_back(Sample{}.with("f", {0.5, 2, 0.25}).with("g", {3}).with("sign", {sign}));
  }
  return samples;
}

}  // namespace

Claim bidirectional() {
  Claim claim;
  claim.id = "cable/bidirectional";
  claim.title = "CABLE serves bidirectional attention";
  claim.source = source("Section 5.5 with eq. 7");
  claim.statement =
      "In BERT, where j > i occurs, B_ij = g_i (S_i - S_j), up to one sign for the whole bias, "
      "penalises distant pairs: B_ij <= 0 for j before and after i.";
  claim.implicit = {"Eq. 7 is taken as it stands for j > i; the paper gives no other formula."};
  claim.correction = "B_ij = -g_i |S_i - S_j|, as the published code has it.";
  claim.derivation =
      "S does not decrease, so S_i - S_j >= 0 for j < i and <= 0 for j > i: with either sign one "
      "side is rewarded. Three tokens with f = 1 and g = 1, i = 1: B_10 = 1 and B_12 = -1.";
  claim.derived = Verdict::refuted;
  claim.checks = [] {
    return together(
        {for_all(Role::statement, "-B_10 >= 0 and -B_12 >= 0 for B_ij = sign g_i (S_i - S_j)",
                 OnePenaltyEachSide<false>{}, both_signs()),
         for_all(Role::correction, "-B_10 >= 0 and -B_12 >= 0 for B_ij = -g_i |S_i - S_j|",
                 OnePenaltyEachSide<true>{}, both_signs())});
  };
  claim.pictures = {pictures::bidirectional_maps};
  claim.mutant =
      "With -g_i |S_i - S_j| both sides are strictly penalised, also where increments are 0.";
  claim.mutant_checks = [] {
    return for_all(Role::statement, "-B_10 > 0 and -B_12 > 0 for f = (1, 0, 1)",
                   StrictlyPenalised{}, {Sample{}.with("f", {1, 0, 1}).with("g", {1})});
  };
  return claim;
}

}  // namespace plumbline::proofs_checks::cable
