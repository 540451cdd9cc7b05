// SPDX-License-Identifier: Apache-2.0
#include "proofs_checks/cable/claims.hpp"
#include "proofs_checks/cable/source.hpp"
#include "proofs_checks/statement.hpp"
#include "reference/core/primitives.hpp"

namespace plumbline::proofs_checks::cable {
namespace {

template <Relation r>
struct Relu {
  static constexpr Relation relation = r;
  template <class R>
  std::vector<R> operator()(const Inputs<R>& in) const {
    return {reference::relu(in.number("z"))};
  }
};

struct ReluAboveIdentity {
  static constexpr Relation relation = Relation::above_zero;
  template <class R>
  std::vector<R> operator()(const Inputs<R>& in) const {
    return {reference::relu(in.number("z")) - in.number("z")};
  }
};

Sample point(double z) { return Sample{}.with("z", {z}); }

}  // namespace

Claim relu_positive() {
  Claim claim;
  claim.id = "cable/relu_positive";
  claim.title = "ReLU ensures that the biases are positive";
  claim.source = source("Section 3, after eq. 2");
  claim.statement = "Here ReLU ensures the biases are positive: f_k = ReLU(x_k w_c) > 0.";
  claim.condition = "\"Positive\" means non-negative: f_k >= 0.";
  claim.derivation =
      "ReLU(z) = max(z, 0) is 0 for every z <= 0: f = 0 at z = -1. It is never negative, which is "
      "what R_+ in \"f : R^(t x d) -> R_+^t\" then has to mean. The difference matters: where f = "
      "0, distance costs nothing (cable/penalties_increase).";
  claim.derived = Verdict::holds_under_condition;
  claim.checks = [] {
    return together({for_all(Role::statement, "ReLU(z) > 0 at z = 1, 0, -1",
                             Relu<Relation::above_zero>{}, {point(1), point(0), point(-1)}),
                     for_all(Role::condition, "ReLU(z) >= 0 for all z in [-2^100, 2^100]",
                             Relu<Relation::at_least_zero>{},
                             {Sample{}.within("z", -0x1p100, 0), Sample{}.within("z", 0, 0x1p100),
                              Sample{}.within("z", -1, 1)})});
  };
  claim.mutant = "ReLU(z) - z > 0.";
  claim.mutant_checks = [] {
    return for_all(Role::statement, "ReLU(z) - z > 0 at z = 1", ReluAboveIdentity{}, {point(1)});
  };
  claim.implicit = {
      not_needed("Pre-activations x_k w_c take every real value.",
                 "ReLU is not negative anywhere, so nowhere on a part of the line.", [] {
                   return for_all(Role::statement, "ReLU(z) >= 0 for z in [-2, -1]",
                                  Relu<Relation::at_least_zero>{}, {Sample{}.within("z", -2, -1)});
                 })};
  return claim;
}

}  // namespace plumbline::proofs_checks::cable
