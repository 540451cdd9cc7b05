// SPDX-License-Identifier: Apache-2.0
#include "proofs_checks/cable/claims.hpp"
#include "proofs_checks/cable/source.hpp"
#include "proofs_checks/statement.hpp"
#include "reference/core/primitives.hpp"

namespace plumbline::proofs_checks::cable {
namespace {

/// offset + sign Softplus(z) > 0.
template <int offset, int sign>
struct Weight {
  static constexpr Relation relation = Relation::above_zero;
  template <class R>
  std::vector<R> operator()(const Inputs<R>& in) const {
    return {R(static_cast<double>(offset)) +
            R(static_cast<double>(sign)) * reference::softplus(in.number("z"))};
  }
};

}  // namespace

Claim softplus_modulates() {
  Claim claim;
  claim.id = "cable/softplus_modulates";
  claim.title = "The weight can dampen and amplify, and is positive";
  claim.source = source("Section 3, before eq. 6");
  claim.statement =
      "g = Softplus(X w_s) > 0 lets the model dampen (g < 1) or amplify (g > 1) the positional "
      "biases.";
  claim.derivation =
      "ln(1 + e^z) > 0 increases from 0 to infinity and passes 1 at z = ln(e - 1) = 0.541: every "
      "positive weight is reached and no other. So the weight cannot switch a bias off or turn its "
      "sign, and at X = 0 it is ln 2 = 0.693, not 1.";
  claim.derived = Verdict::holds;
  claim.checks = [] {
    return together({for_all(Role::statement, "g(z) > 0 for z in [-30, 30]", Weight<0, 1>{},
                             {Sample{}.within("z", -30, -1), Sample{}.within("z", -1, 1),
                              Sample{}.within("z", 1, 30)}),
                     for_all(Role::statement, "1 - g(z) > 0 for z in [-30, 0.5]", Weight<1, -1>{},
                             {Sample{}.within("z", -30, 0), Sample{}.within("z", 0, 0.5)}),
                     for_all(Role::statement, "g(z) - 1 > 0 for z in [0.625, 30]", Weight<-1, 1>{},
                             {Sample{}.within("z", 0.625, 1), Sample{}.within("z", 1, 30)})});
  };
  claim.mutant = "At X = 0 the weight is 1 or more.";
  claim.mutant_checks = [] {
    return for_all(Role::statement, "g(0) - 1 > 0", Weight<-1, 1>{}, {Sample{}.with("z", {0})});
  };
  claim.implicit = {needed("Pre-activations take every real value; the boxes cover [-30, 30].",
                           "Where they stay negative, the weight cannot amplify.", [] {
                             return for_all(Role::statement, "g(z) - 1 > 0 for z in [-30, -1]",
                                            Weight<-1, 1>{}, {Sample{}.within("z", -30, -1)});
                           })};
  return claim;
}

}  // namespace plumbline::proofs_checks::cable
