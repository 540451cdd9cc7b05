// SPDX-License-Identifier: Apache-2.0
#include "proofs_checks/cable/claims.hpp"
#include "proofs_checks/cable/source.hpp"
#include "proofs_checks/statement.hpp"
#include "reference/bias/cable_nw.hpp"
#include "reference/core/primitives.hpp"

namespace plumbline::proofs_checks::cable {
namespace {

template <bool mutant>
struct FoxIsCable {
  static constexpr Relation relation = Relation::equals_zero;
  template <class R>
  std::vector<R> operator()(const Inputs<R>& in) const {
    const auto& z = in["z"];
    reference::Vector<R> increments(z.size());
    for (int k = 0; k < z.size(); ++k)
      increments[k] = mutant ? reference::relu(R(-z[k])) : reference::softplus(R(-z[k]));
    const reference::CableNw<R> bias{reference::prefix_sum(increments)};
    std::vector<R> residuals;
    for (int i = 0; i < z.size(); ++i) {
      R forgotten(0.0);
      for (int j = i - 1; j >= 0; --j) {
        forgotten += reference::log(reference::logistic(z[j + 1]));
        residuals.push_back(forgotten - bias(i, j));
      }
    }
    return residuals;
  }
};

std::vector<Sample> gates() {
  return {Sample{}.with("z", {0, 0}), Sample{}.with("z", {1, -2, 0.5, 3, -0.25}),
          Sample{}.with("z", {-8, 8, -4, 4})};
}

struct PrintedSignIsFox {
  static constexpr Relation relation = Relation::equals_zero;
  template <class R>
  std::vector<R> operator()(const Inputs<R>& in) const {
    const R& z = in.number("z_1");
    return {reference::log(reference::logistic(z)) - reference::softplus(R(-z))};
  }
};

}  // namespace

Claim fox() {
  Claim claim;
  claim.id = "cable/fox";
  claim.title = "FoX is a similar idea";
  claim.source = source("Section 2, NoPE and data-dependent encodings");
  claim.statement =
      "FoX suggested a similar idea, a forgetting gate, without conditioning the slope on the "
      "query: its bias sum_{k=j+1..i} ln f_k with f = logistic(z) is the bias of CABLE_NW with "
      "other increments.";
  claim.derivation =
      "-ln logistic(z) = softplus(-z) >= 0, so the bias of FoX is -(S_i - S_j) with increments "
      "softplus(-z_k) in place of ReLU(z_k): CABLE_NW with the sign of the published code. "
      "Softplus is never 0: FoX cannot be free of penalty, CABLE_NW can.";
  claim.derived = Verdict::holds;
  claim.checks = [] {
    return for_all(Role::statement,
                   "sum ln logistic(z_k) + |S_i - S_j| = 0 with increments softplus(-z_k), j <= i",
                   FoxIsCable<false>{}, gates());
  };
  claim.mutant = "With increments ReLU(-z_k).";
  claim.mutant_checks = [] {
    return for_all(Role::statement,
                   "sum ln logistic(z_k) + |S_i - S_j| = 0 with increments ReLU(-z_k)",
                   FoxIsCable<true>{}, gates());
  };
  claim.implicit = {
      definition("Attention is causal: j <= i.",
                 "FoX's sum over k = j + 1..i is empty for j >= i."),
      needed("The increments of CABLE_NW are negated, as in the published code.",
             "ln f_k is negative; with the printed sign the two biases are opposite.", [] {
               return for_all(Role::statement, "ln logistic(z_1) - Softplus(-z_1) = 0",
                              PrintedSignIsFox{}, {Sample{}.with("z_1", {0})});
             })};
  return claim;
}

}  // namespace plumbline::proofs_checks::cable
