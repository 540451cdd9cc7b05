// SPDX-License-Identifier: Apache-2.0
#include "proofs_checks/cable/claims.hpp"
#include "proofs_checks/cable/source.hpp"
#include "proofs_checks/pictures/pictures.hpp"
#include "proofs_checks/statement.hpp"
#include "reference/bias/alibi.hpp"
#include "reference/core/primitives.hpp"

namespace plumbline::proofs_checks::cable {
namespace {

struct BiasShrinks {
  static constexpr Relation relation = Relation::above_zero;
  template <class R>
  std::vector<Placed<R>> operator()(const Inputs<R>& in) const {
    const reference::Alibi<R> b{in.number("r")};
    std::vector<Placed<R>> residuals;
    for (int d = 1; d < 8; ++d)
      residuals.push_back({reference::absolute(b(d, 0)) - reference::absolute(b(d + 1, 0)),
                           "d = " + std::to_string(d)});
    return residuals;
  }
};

template <int divisor>
struct FactorShrinks {
  static constexpr Relation relation = Relation::at_least_zero;
  template <class R>
  std::vector<R> operator()(const Inputs<R>& in) const {
    const reference::Alibi<R> b{in.number("r")};
    std::vector<R> residuals;
    for (int d : {0, 1, 2, 3, 10, 100}) {
      const R factor = reference::exp(b(d, 0));
      residuals.push_back(factor - reference::exp(b(d + 1, 0)));
      residuals.push_back(
          R(1.0) / (R(static_cast<double>(divisor)) * (R(1.0) + in.number("r") * R(d))) - factor);
    }
    return residuals;
  }
};

std::vector<Sample> slopes_of_alibi_approaches_zero() {
  std::vector<Sample> samples;
  for (double r : {0.5, 0.0625, 0x1p-8, 1.0}) samples.push_back(Sample{}.with("r", {r}));
  return samples;
}

}  // namespace

Claim alibi_approaches_zero() {
  Claim claim;
  claim.id = "cable/alibi_approaches_zero";
  claim.title = "ALiBi's function approaches zero";
  claim.source = source("Section 2, ALiBi");
  claim.statement =
      "b(i, j) = -r |i - j|, r > 0: the function rapidly approaches the zero point as the distance "
      "grows.";
  claim.implicit = {
      "\"The function\" is the kernel function b(i, j) that the sentence before defines."};
  claim.correction =
      "e^b(i,j), the factor by which ALiBi multiplies a key's weight, approaches zero "
      "geometrically, and is at most 1/(1 + r |i - j|).";
  claim.derivation =
      "|b| = r |i - j| starts at 0 and grows without bound: |b(1)| = r < |b(2)| = 2r. What "
      "approaches zero is e^b = e^(-r |i - j|), the factor on the attention weight, and that "
      "geometrically: e^(-x) <= 1/(1 + x) encloses the limit.";
  claim.derived = Verdict::refuted;
  claim.checks = [] {
    return together(
        {for_all(Role::statement, "|b(d)| - |b(d + 1)| > 0, b(d) = -r d", BiasShrinks{},
                 slopes_of_alibi_approaches_zero()),
         for_all(Role::correction, "e^b(d) - e^b(d + 1) > 0 and 1/(1 + r d) - e^b(d) >= 0",
                 FactorShrinks<1>{}, slopes_of_alibi_approaches_zero())});
  };
  claim.pictures = {pictures::exponential_weights};
  claim.mutant = "The factor e^b is below half of that enclosure.";
  claim.mutant_checks = [] {
    return for_all(Role::statement, "1/(2 + 2 r d) - e^b(d) >= 0", FactorShrinks<2>{},
                   slopes_of_alibi_approaches_zero());
  };
  return claim;
}

}  // namespace plumbline::proofs_checks::cable
