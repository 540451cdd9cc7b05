// SPDX-License-Identifier: Apache-2.0
#include "proofs_checks/cable/biases.hpp"
#include "proofs_checks/cable/claims.hpp"
#include "proofs_checks/samples.hpp"
#include "reference/core/primitives.hpp"

namespace plumbline::proofs_checks::cable {
namespace {

/// For the last query i and every key j < i: (B_i,j+1 - B_ij) sign > 0; sign -1 is the mutant.
template <int sign>
struct NearerKeyIsBetterOff {
  static constexpr Relation relation = Relation::above_zero;
  template <class R>
  std::vector<R> operator()(const Inputs<R>& in) const {
    const auto bias = published_bias<R>(in["f"], in.number("g"));
    const int last = static_cast<int>(in["f"].size()) - 1;
    std::vector<R> residuals;
    for (int j = 0; j < last; ++j) {
      residuals.push_back(R(static_cast<double>(sign)) * (bias(last, j + 1) - bias(last, j)));
    }
    return residuals;
  }
};

/// The same with the increments Softplus(z), which are positive.
struct NearerKeyIsBetterOffWithSoftplus {
  static constexpr Relation relation = Relation::above_zero;
  template <class R>
  std::vector<Placed<R>> operator()(const Inputs<R>& in) const {
    reference::Vector<R> increments = in["z"];
    for (R& increment : increments) increment = reference::softplus(increment);
    const auto bias = published_bias<R>(increments, in.number("g"));
    const int last = static_cast<int>(increments.size()) - 1;
    std::vector<Placed<R>> residuals;
    for (int j = 0; j < last; ++j) {
      residuals.push_back({bias(last, j + 1) - bias(last, j), "j = " + std::to_string(j)});
    }
    return residuals;
  }
};

struct LaterKeyIsBetterOff {
  static constexpr Relation relation = Relation::above_zero;
  template <class R>
  std::vector<R> operator()(const Inputs<R>& in) const {
    const auto bias = published_bias<R>(in["f"], in.number("g"));
    return {bias(0, 1) - bias(0, 0)};
  }
};

}  // namespace

Claim penalties_increase() {
  Claim claim;
  claim.id = "cable/penalties_increase";
  claim.title = "The penalties increase with distance";
  claim.source = source("Section 3, paragraph after eq. 7");
  claim.statement =
      "With the sign of the published code, the penalty increases with every step of distance: "
      "B_ij < B_i,j+1 for j < i.";
  claim.condition = "Every token's ReLU is active: f_k > 0 for all k.";
  claim.derivation =
      "B_i,j+1 - B_ij = g_i f_{j+1} and g_i > 0, so the inequality is strict exactly where "
      "f_{j+1} > 0. A ReLU gives 0 on half of its domain: f = (1, 0), g = 1 has B_10 = B_11 = 0, "
      "and "
      "a head whose increments are all 0 is NoPE.";
  claim.derived = Verdict::holds_under_condition;
  claim.checks = [] {
    return together({for_all(Role::statement, "B_i,j+1 - B_ij > 0 for increments >= 0",
                             NearerKeyIsBetterOff<+1>{}, increments_and_gains(false)),
                     for_all(Role::condition, "B_i,j+1 - B_ij > 0 for increments > 0",
                             NearerKeyIsBetterOff<+1>{}, increments_and_gains(true))});
  };
  claim.mutant = "For increments > 0 the penalty decreases with distance.";
  claim.mutant_checks = [] {
    return for_all(Role::statement, "B_ij - B_i,j+1 > 0 for increments > 0",
                   NearerKeyIsBetterOff<-1>{}, increments_and_gains(true));
  };
  claim.hypotheses = {
      not_needed("f = ReLU(X w_c) (eq. 2).",
                 "Of it the derivation uses f_k > 0 only, the condition, which a softplus meets "
                 "always.",
                 [] {
                   return for_all(Role::statement, "B_i,j+1 - B_ij > 0 with f = Softplus(z)",
                                  NearerKeyIsBetterOffWithSoftplus{},
                                  {Sample{}.with("z", {1, -3, 0, 2, -8}).with("g", {0.5}),
                                   Sample{}.with("z", {-1, -2}).with("g", {4})});
                 }),
      needed("g = Softplus(X w_s) (eq. 6), so g > 0.", "With a weight of 0 no key is penalised.",
             [] {
               return for_all(Role::statement, "B_i,j+1 - B_ij > 0 with g = 0",
                              NearerKeyIsBetterOff<+1>{},
                              {Sample{}.with("f", {1, 1}).with("g", {0})});
             })
          .where("g", above(0))};
  claim.implicit = {
      needed("Increments are negated (cable/penalises_distance).",
             "The printed sign rewards the farther key.", claim.mutant_checks),
      needed("Attention is causal: j <= i.", "Beyond the query, j + 1 is the farther key.", [] {
        return for_all(Role::statement, "B_0,j+1 - B_0j > 0: keys after the query",
                       LaterKeyIsBetterOff{}, {Sample{}.with("f", {1, 1}).with("g", {0.5})});
      })};
  return claim;
}

}  // namespace plumbline::proofs_checks::cable
