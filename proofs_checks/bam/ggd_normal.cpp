// SPDX-License-Identifier: Apache-2.0
#include "proofs_checks/bam/claims.hpp"
#include "proofs_checks/bam/source.hpp"
#include "proofs_checks/statement.hpp"
#include "reference/core/primitives.hpp"

namespace plumbline::proofs_checks::bam {
namespace {

/// -|(x - mu)/alpha|^2 + (x - mu)^2 / (2 sigma^2), sigma^2 = alpha^2 / 2 (the mutant: alpha^2).
template <bool mutant>
struct ExponentsAgree {
  static constexpr Relation relation = Relation::equals_zero;
  template <class R>
  std::vector<R> operator()(const Inputs<R>& in) const {
    const R x = in.number("x") - in.number("mu"), &alpha = in.number("alpha");
    const R variance = alpha * alpha / R(mutant ? 1.0 : 2.0);
    return {x * x / (R(2.0) * variance) - reference::power(reference::absolute(x / alpha), R(2.0))};
  }
};

std::vector<Sample> points_of_ggd_normal() {
  std::vector<Sample> samples;
  for (double mu : {0.0, 2.5, -3.25}) {
    for (double alpha : {1.0, 0.5, 12.0}) {
      for (double x : {-1.0, -7.0, 100.0}) {
        samples.push_back(Sample{}.with("x", {x}).with("mu", {mu}).with("alpha", {alpha}));
      }
    }
  }
  return samples;
}

struct PowerIsSquare {
  static constexpr Relation relation = Relation::equals_zero;
  template <class R>
  std::vector<R> operator()(const Inputs<R>& in) const {
    const R y = in.number("x - mu") / in.number("alpha");
    return {y * y - reference::power(reference::absolute(y), in.number("beta"))};
  }
};

/// At x = mu.
struct KernelIsDensity {
  static constexpr Relation relation = Relation::equals_zero;
  template <class R>
  std::vector<R> operator()(const Inputs<R>& in) const {
    const R sigma = in.number("alpha") / reference::sqrt(R(2.0));
    return {R(1.0) - R(1.0) / (sigma * reference::sqrt(R(2.0) * reference::pi<R>()))};
  }
};

}  // namespace

Claim ggd_normal() {
  Claim claim;
  claim.id = "bam/ggd_normal";
  claim.title = "beta = 2 gives a normal distribution";
  claim.source = source("Appendix A, after the three distributions");
  claim.statement = "When beta = 2, exp(-|(x - mu)/alpha|^beta) becomes Normal.";
  claim.correction = "Its mean is mu and its standard deviation alpha/sqrt(2), not alpha.";
  claim.derivation = "((x - mu)/alpha)^2 = (x - mu)^2 / (2 sigma^2) for sigma^2 = alpha^2/2.";
  claim.derived = Verdict::holds;
  claim.checks = [] {
    return for_all(Role::statement, "(x - mu)^2/(2 sigma^2) - |(x - mu)/alpha|^2 = 0",
                   ExponentsAgree<false>{}, points_of_ggd_normal());
  };
  claim.mutant = "The standard deviation is alpha.";
  claim.mutant_checks = [] {
    return for_all(Role::statement, "sigma = alpha: the same", ExponentsAgree<true>{},
                   points_of_ggd_normal());
  };
  claim.hypotheses = {
      definition("alpha > 0.", "x/0 has no value, and a negative scale gives the same function."),
      needed("beta = 2.", "Another power is not a square.", [] {
        return for_all(
            Role::statement, "beta = 1: (x - mu)^2/(2 sigma^2) - |(x - mu)/alpha|^beta = 0",
            PowerIsSquare{}, {Sample{}.with("x - mu", {2}).with("alpha", {1}).with("beta", {1})});
      }).where("beta", exactly(2))};
  claim.implicit = {needed(
      "Up to the factor that normalises; over integers, the normal density at them.",
      "The density at its mean is 1/(sigma sqrt(2 pi)) and not 1.", [] {
        return for_all(Role::statement, "e^0 - 1/(sigma sqrt(2 pi)) = 0, sigma^2 = alpha^2/2",
                       KernelIsDensity{}, {Sample{}.with("alpha", {1})});
      })};
  return claim;
}

}  // namespace plumbline::proofs_checks::bam
