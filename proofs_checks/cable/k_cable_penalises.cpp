// SPDX-License-Identifier: Apache-2.0
#include "proofs_checks/cable/biases.hpp"
#include "proofs_checks/cable/claims.hpp"
#include "proofs_checks/cable/source.hpp"
#include "proofs_checks/samples.hpp"
#include "reference/bias/k_cable.hpp"

namespace plumbline::proofs_checks::cable {
namespace {

template <Relation r>
struct KernelPenalises {
  static constexpr Relation relation = r;
  template <class R>
  std::vector<Placed<R>> operator()(const Inputs<R>& in) const {
    const auto b = printed_bias<R>(in["f"], in.number("g"));
    const int last = static_cast<int>(in["f"].size()) - 1;
    std::vector<Placed<R>> residuals;
    for (int j = 0; j < last; ++j) {
      const std::string place = "i = " + std::to_string(last) + ", j = " + std::to_string(j);
      residuals.push_back({reference::log_kernel<R>(b(last, j)), place});
      residuals.push_back(
          {reference::log_kernel<R>(b(last, j)) - reference::log_kernel<R>(b(last, j + 1)),
           place + ", against j + 1"});
    }
    return residuals;
  }
};

struct LaterKeysArePenalised {
  static constexpr Relation relation = Relation::at_least_zero;
  template <class R>
  std::vector<R> operator()(const Inputs<R>& in) const {
    const auto b = printed_bias<R>(in["f"], in.number("g"));
    std::vector<R> residuals;
    for (int j = 0; j + 1 < static_cast<int>(in["f"].size()); ++j) {
      residuals.push_back(reference::log_kernel<R>(b(0, j + 1)) -
                          reference::log_kernel<R>(b(0, j)));
    }
    return residuals;
  }
};

}  // namespace

Claim k_cable_penalises() {
  Claim claim;
  claim.id = "cable/k_cable_penalises";
  claim.title = "The kernel of the printed bias penalises distance";
  claim.source = source("Section 5.6 with eqs 5 and 7");
  claim.statement =
      "The kernel -log(b^2 + 1), applied to the relative biases b before they are added to the "
      "attention scores, gives penalties that do not decrease with distance, for b of eq. 7 with "
      "its printed, positive sign.";
  claim.derivation =
      "b^2 has no sign: -ln(1 + b^2) <= 0, and b_ij >= b_i,j+1 >= 0 makes it smallest for the "
      "farthest key. So K-CABLE needs no change of sign, while CABLE does "
      "(cable/penalises_distance); in both directions of a bidirectional model as well.";
  claim.derived = Verdict::holds;
  claim.checks = [] {
    return for_all(Role::statement,
                   "ln(1 + b_ij^2) >= 0 and ln(1 + b_ij^2) - ln(1 + b_i,j+1^2) >= 0, j < i",
                   KernelPenalises<Relation::at_least_zero>{}, increments_and_gains(false));
  };
  claim.mutant = "The penalty increases with every step, also where increments are 0.";
  claim.mutant_checks = [] {
    return for_all(Role::statement, "ln(1 + b_ij^2) - ln(1 + b_i,j+1^2) > 0",
                   KernelPenalises<Relation::above_zero>{}, increments_and_gains(false));
  };
  claim.hypotheses = {needed("The increments are not negative (eq. 2).",
                             "Where the sum comes back, the farther key has the smaller b^2.",
                             [] {
                               return for_all(
                                   Role::statement,
                                   "ln(1 + b_ij^2) - ln(1 + b_i,j+1^2) >= 0 with f_2 = -2",
                                   KernelPenalises<Relation::at_least_zero>{},
                                   {Sample{}.with("f", {1, 2, -2}).with("g", {1})});
                             })
                          .where("f", at_least(0))};
  claim.implicit = {not_needed(
      "Attention is causal: j <= i.",
      "b^2 has no sign, so keys after the query are penalised alike.", [] {
        return for_all(Role::statement, "ln(1 + b_0,j+1^2) - ln(1 + b_0j^2) >= 0: later keys",
                       LaterKeysArePenalised{}, increments_and_gains(false, 10));
      })};
  return claim;
}

}  // namespace plumbline::proofs_checks::cable
