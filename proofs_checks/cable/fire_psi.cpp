// SPDX-License-Identifier: Apache-2.0
#include "proofs_checks/cable/claims.hpp"
#include "proofs_checks/cable/source.hpp"
#include "proofs_checks/statement.hpp"
#include "reference/core/primitives.hpp"

namespace plumbline::proofs_checks::cable {
namespace {

template <int sign>
struct Increases {
  static constexpr Relation relation = Relation::above_zero;
  template <class R>
  std::vector<R> operator()(const Inputs<R>& in) const {
    const R &c = in.number("c"), &x = in.number("x");
    return {R(static_cast<double>(sign)) *
            (reference::log1p(c * (x + R(1.0))) - reference::log1p(c * x))};
  }
};

std::vector<Sample> grid(const std::vector<double>& cs) {
  std::vector<Sample> samples;
  for (double c : cs) {
    for (double x : {0.0, 1.0, 7.0}) samples.push_back(Sample{}.with("c", {c}).with("x", {x}));
    if (c > 0) samples.push_back(Sample{}.with("c", {c}).with("x", {15360}));
  }
  return samples;
}

}  // namespace

Claim fire_psi() {
  Claim claim;
  claim.id = "cable/fire_psi";
  claim.title = "FIRE's psi increases monotonically";
  claim.source = source("Section 2, Fire");
  claim.statement =
      "psi : x -> log(c x + 1) is a monotonically increasing function of the distance x >= 0.";
  claim.condition = "c > 0.";
  claim.derivation =
      "psi' = c/(c x + 1), which has the sign of c where psi is defined: for c = 0 psi is 0 "
      "everywhere, for c < 0 it falls and ends at x = -1/c. For c > 0 it increases on all x >= 0.";
  claim.derived = Verdict::holds_under_condition;
  claim.checks = [] {
    return together({for_all(Role::statement, "psi(x + 1) - psi(x) > 0 for c = 1, 0, -1/16",
                             Increases<+1>{}, grid({1, 0, -0.0625})),
                     for_all(Role::condition, "psi(x + 1) - psi(x) > 0 for c > 0", Increases<+1>{},
                             grid({0.1, 1, 8, 0x1p-10}))});
  };
  claim.mutant = "It falls for c > 0.";
  claim.mutant_checks = [] {
    return for_all(Role::statement, "psi(x) - psi(x + 1) > 0 for c > 0", Increases<-1>{},
                   grid({1}));
  };
  claim.hypotheses = {not_needed("x >= 0.", "It increases wherever 1 + c x > 0.", [] {
                        return for_all(Role::statement, "psi(x + 1) - psi(x) > 0, -1/c < x < 0",
                                       Increases<+1>{},
                                       {Sample{}.with("c", {1}).with("x", {-0.5}),
                                        Sample{}.with("c", {8}).with("x", {-0.125 / 2})});
                      }).where("x", at_least(0))};
  claim.implicit = {
      definition("c is any real number; the paper does not restrict it. (The published "
                 "code takes |c|.)",
                 "The condition replaces it.")};
  return claim;
}

}  // namespace plumbline::proofs_checks::cable
