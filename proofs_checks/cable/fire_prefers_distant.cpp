// SPDX-License-Identifier: Apache-2.0
#include "proofs_checks/cable/claims.hpp"
#include "proofs_checks/cable/source.hpp"
#include "proofs_checks/statement.hpp"
#include "reference/bias/alibi.hpp"
#include "reference/bias/fire.hpp"
#include "reference/bias/kerple.hpp"
#include "reference/core/primitives.hpp"

namespace plumbline::proofs_checks::cable {
namespace {

template <class R>
int query_of(const Inputs<R>& in) {
  return static_cast<int>(reference::representative(in.number("i")));
}

struct FireRises {
  static constexpr Relation relation = Relation::above_zero;
  template <class R>
  std::vector<R> operator()(const Inputs<R>& in) const {
    const reference::Vector<R> one = reference::Vector<R>::Constant(1, R(1.0)),
                               zero = reference::zeros<R>(1);
    const reference::Fire<R> bias({one, zero, one, R(0.0), in.number("c"), R(1.0)}, in.number("L"));
    const int i = query_of(in);
    std::vector<R> residuals;
    for (int j = 0; j < i; ++j) residuals.push_back(bias(i, j) - bias(i, j + 1));
    return residuals;
  }
};

template <int sign>
struct OthersFall {
  static constexpr Relation relation = Relation::above_zero;
  template <class R>
  std::vector<R> operator()(const Inputs<R>& in) const {
    const reference::Alibi<R> alibi{in.number("c")};
    const reference::KerpleLog<R> kerple(in.number("c"), in.number("c"));
    const int i = query_of(in);
    std::vector<R> residuals;
    for (int j = 0; j < i; ++j) {
      residuals.push_back(R(static_cast<double>(sign)) * (alibi(i, j + 1) - alibi(i, j)));
      residuals.push_back(R(static_cast<double>(sign)) * (kerple(i, j + 1) - kerple(i, j)));
    }
    return residuals;
  }
};

std::vector<Sample> queries() {
  std::vector<Sample> samples;
  for (double c : {0.125, 1.0, 8.0}) {
    for (double i : {1.0, 7.0})
      samples.push_back(Sample{}.with("i", {i}).with("c", {c}).with("L", {4}));
  }
  return samples;
}

/// -r d and -r_1 ln(1 + r_2 d) with r = r_1 = r_2 = c, outside of what the published code allows.
struct FormulasFall {
  static constexpr Relation relation = Relation::above_zero;
  template <class R>
  std::vector<Placed<R>> operator()(const Inputs<R>& in) const {
    const R& c = in.number("c");
    const auto kerple = [&](int d) { return -(c * reference::log1p(R(c * R(d)))); };
    std::vector<Placed<R>> residuals;
    for (int d = 1; d <= query_of(in); ++d) {
      residuals.push_back({-(c * R(d - 1)) + c * R(d), "ALiBi, i - j = " + std::to_string(d)});
      residuals.push_back({kerple(d - 1) - kerple(d), "Kerple, i - j = " + std::to_string(d)});
    }
    return residuals;
  }
};

}  // namespace

Claim fire_prefers_distant() {
  Claim claim;
  claim.id = "cable/fire_prefers_distant";
  claim.title = "FIRE can assign more attention to distant pairs, ALiBi and Kerple cannot";
  claim.source = source("Section 2, Fire");
  claim.statement =
      "The formulation allows Fire to assign more attention to distant query-key pairs, contrary "
      "to ALiBi and Kerple, which tend to focus on nearby tokens: some f gives a bias that grows "
      "with distance, while no slope of ALiBi and no r_1, r_2 > 0 of Kerple does.";
  claim.derivation =
      "With f the identity on [0, 1], one ReLU with weights 1, the bias is psi(i - j)/psi(max(L, "
      "i)), which grows with i - j as psi does. -r |i - j| and -r_1 ln(1 + r_2 |i - j|) fall in "
      "every step for positive parameters.";
  claim.derived = Verdict::holds;
  claim.checks = [] {
    return together({for_all(Role::statement, "FIRE, f the identity: b(i, j) - b(i, j + 1) > 0",
                             FireRises{}, queries()),
                     for_all(Role::statement, "ALiBi and Kerple: b(i, j + 1) - b(i, j) > 0",
                             OthersFall<+1>{}, queries())});
  };
  claim.mutant = "Kerple can as well.";
  claim.mutant_checks = [] {
    return for_all(Role::statement, "ALiBi and Kerple: b(i, j) - b(i, j + 1) > 0", OthersFall<-1>{},
                   queries());
  };
  claim.hypotheses = {
      needed("The parameters of Kerple, and ALiBi's slope, are positive.",
             "With negative ones the bias rises with the distance.",
             [] {
               return for_all(Role::statement, "ALiBi and Kerple: b(i, j + 1) - b(i, j) > 0, c < 0",
                              FormulasFall{}, {Sample{}.with("i", {7}).with("c", {-0.0625})});
             })
          .where("c", above(0))};
  claim.implicit = {
      definition("Attention is causal: j <= i.",
                 "FIRE's psi(i - j)/psi(max(L, i)) is defined there."),
      not_needed("The parameters of Kerple are at least 0.01, as in its code.",
                 "The logarithm increases for every positive parameter.", [] {
                   return for_all(Role::statement,
                                  "ALiBi and Kerple: b(i, j + 1) - b(i, j) > 0, c = 2^-10",
                                  FormulasFall{}, {Sample{}.with("i", {7}).with("c", {0x1p-10})});
                 })};
  return claim;
}

}  // namespace plumbline::proofs_checks::cable
