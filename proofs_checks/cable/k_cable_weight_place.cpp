// SPDX-License-Identifier: Apache-2.0
#include "proofs_checks/cable/biases.hpp"
#include "proofs_checks/cable/claims.hpp"
#include "proofs_checks/cable/source.hpp"
#include "proofs_checks/samples.hpp"
#include "reference/bias/k_cable.hpp"

namespace plumbline::proofs_checks::cable {
namespace {

struct WeightPlace {
  static constexpr Relation relation = Relation::equals_zero;
  template <class R>
  std::vector<R> operator()(const Inputs<R>& in) const {
    const auto sums = reference::prefix_sum(in["f"]);
    const auto gain = same_gain<R>(in.number("g"), sums.size());
    const int last = static_cast<int>(sums.size()) - 1;
    return {reference::KCable<R>{sums, gain}(last, 0) -
            reference::KCablePaper<R>{sums, gain}(last, 0)};
  }
};

std::vector<Sample> with_gain(double g) {
  std::vector<Sample> samples;
  for (double f : {1.0, 0.25, 8.0})
    samples.push_back(Sample{}.with("f", {1, f, 0.5}).with("g", {g}));
  return samples;
}

}  // namespace

Claim k_cable_weight_place() {
  Claim claim;
  claim.id = "cable/k_cable_weight_place";
  claim.title = "Which relative biases the kernel is applied to does not matter";
  claim.source = source("Section 5.6 against eqs 5 and 7");
  claim.statement =
      "The kernel is applied to \"the relative biases before adding them\": eq. 5 calls S_i - S_j "
      "so, eq. 7 the product with the weight. Both give one formula: -ln(1 + (g d)^2) = -g ln(1 + "
      "d^2) with d = S_i - S_j.";
  claim.condition = "The weight is 1: K-CABLE without weights.";
  claim.derivation =
      "At g = 1 both are -ln(1 + d^2). For d = 1, g = 1/2: ln(1.25) = 0.223 against ln(2)/2 = "
      "0.347. For large d they grow apart: the weight inside adds 2 ln g and leaves the slope of 2 "
      "ln d, the weight outside multiplies that slope by g. The published code has it outside.";
  claim.derived = Verdict::holds_under_condition;
  claim.checks = [] {
    return together(
        {for_all(Role::statement,
                 "ln(1 + (g d)^2) - g ln(1 + d^2) = 0, d = f_1 + f_2 + ... (all but f_0)",
                 WeightPlace{}, increments_and_gains(true, 20)),
         for_all(Role::condition, "the same for g = 1", WeightPlace{}, with_gain(1))});
  };
  claim.mutant = "The same for g = 2.";
  claim.mutant_checks = [] {
    return for_all(Role::statement, "ln(1 + (g d)^2) - g ln(1 + d^2) = 0 for g = 2", WeightPlace{},
                   with_gain(2));
  };
  claim.implicit = {
      definition("The sentence leaves open whether the weight is inside or outside of the kernel.",
                 "It is the question.")};
  return claim;
}

}  // namespace plumbline::proofs_checks::cable
