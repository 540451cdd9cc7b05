// SPDX-License-Identifier: Apache-2.0
#include "proofs_checks/cable/claims.hpp"
#include "proofs_checks/cable/source.hpp"
#include "proofs_checks/statement.hpp"
#include "reference/core/primitives.hpp"

namespace plumbline::proofs_checks::cable {
namespace {

struct Definite {
  static constexpr Relation relation = Relation::at_least_zero;
  template <class R>
  std::vector<R> operator()(const Inputs<R>& in) const {
    const auto &c = in["c"], &x = in["x"];
    R total(0.0);
    for (int i = 0; i < c.size(); ++i) {
      for (int j = 0; j < i; ++j) {
        const R penalty = in.number("r_1") *
                          reference::power(reference::absolute(R(x[i] - x[j])), in.number("r_2"));
        total -= R(2.0) * c[i] * c[j] * penalty;
      }
    }
    return {total};
  }
};

std::vector<Sample> quadratic_forms(const std::vector<double>& powers) {
  std::vector<Sample> samples;
  for (double r_2 : powers) {
    const auto form = [&](std::vector<double> x, std::vector<double> c) {
      samples.push_back(Sample{}
                            .with("x", std::move(x))
                            .with("c", std::move(c))
                            .with("r_1", {1})
                            .with("r_2", {r_2}));
    };
    form({-1, 0, 1}, {1, -2, 1});
    form({0, 1, 2, 3}, {1, -1, -1, 1});
    form({0, 1, 5, 9, 10}, {2, -3, 0.5, 1, -0.5});
  }
  return samples;
}

}  // namespace

Claim kerple_kernel() {
  Claim claim;
  claim.id = "cable/kerple_kernel";
  claim.title = "The power form of Kerple is a kernel for all parameters";
  claim.source = source("Section 2, Kerple");
  claim.statement =
      "-r_1 |i - j|^r_2 with r_1, r_2 > 0 is a shift-invariant kernel: conditionally positive "
      "definite, sum c_i c_j b(i, j) >= 0 whenever the c_i sum to 0.";
  claim.condition = "r_2 <= 2.";
  claim.derivation =
      "At -1, 0, 1 with c = (1, -2, 1) the sum is r_1 (8 - 2 * 2^r_2): for r_2 = 3 it is -8 r_1. "
      "For 0 < r_2 <= 2, -|x|^r_2 is conditionally positive definite (Schoenberg), as Kerple "
      "states. That b depends on i - j only holds for all parameters.";
  claim.derived = Verdict::holds_under_condition;
  claim.checks = [] {
    return together({for_all(Role::statement, "sum c_i c_j b(i, j) >= 0 for r_2 = 1, 3", Definite{},
                             quadratic_forms({1, 3})),
                     for_all(Role::condition, "sum c_i c_j b(i, j) >= 0 for r_2 <= 2", Definite{},
                             quadratic_forms({0.25, 0.5, 1, 1.5, 2}))});
  };
  claim.mutant = "It holds up to r_2 = 2.25.";
  claim.mutant_checks = [] {
    return for_all(Role::statement, "sum c_i c_j b(i, j) >= 0 for r_2 = 2.25", Definite{},
                   quadratic_forms({2.25}));
  };
  claim.hypotheses = {
      needed(
          "r_1 > 0.", "A negative r_1 turns the sign of the form.",
          [] {
            return for_all(
                Role::statement, "sum c_i c_j b(i, j) >= 0 with r_1 = -1", Definite{},
                {Sample{}.with("x", {0, 1}).with("c", {1, -1}).with("r_1", {-1}).with("r_2", {1})});
          })
          .where("r_1", above(0)),
      definition("r_2 > 0.", "0^r_2, the bias of a token on itself, has no value for r_2 < 0.")};
  claim.implicit = {
      definition("\"Kernel\" is meant as in Kerple, conditionally positive definite; shift "
                 "invariance alone would be true of every function of i - j.",
                 "It says what a kernel is."),
      needed("The c_i sum to 0.", "With two equal c the form is -2 r_1 |x_1 - x_0|^r_2.", [] {
        return for_all(
            Role::statement, "sum c_i c_j b(i, j) >= 0 with c = (1, 1)", Definite{},
            {Sample{}.with("x", {0, 1}).with("c", {1, 1}).with("r_1", {1}).with("r_2", {1})});
      })};
  return claim;
}

}  // namespace plumbline::proofs_checks::cable
