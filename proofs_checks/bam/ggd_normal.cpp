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

std::vector<Sample> points() {
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

}  // namespace

Claim ggd_normal() {
  Claim claim;
  claim.id = "bam/ggd_normal";
  claim.title = "beta = 2 gives a normal distribution";
  claim.source = source("Appendix A, after the three distributions");
  claim.statement = "When beta = 2, exp(-|(x - mu)/alpha|^beta) becomes Normal.";
  claim.hypotheses = {"alpha > 0."};
  claim.implicit = {"Up to the factor that normalises; over integers, the normal density at them."};
  claim.correction = "Its mean is mu and its standard deviation alpha/sqrt(2), not alpha.";
  claim.derivation = "((x - mu)/alpha)^2 = (x - mu)^2 / (2 sigma^2) for sigma^2 = alpha^2/2.";
  claim.derived = Verdict::holds;
  claim.checks = [] {
    return for_all(Role::statement, "(x - mu)^2/(2 sigma^2) - |(x - mu)/alpha|^2 = 0",
                   ExponentsAgree<false>{}, points());
  };
  claim.mutant = "The standard deviation is alpha.";
  claim.mutant_checks = [] {
    return for_all(Role::statement, "sigma = alpha: the same", ExponentsAgree<true>{}, points());
  };
  return claim;
}

}  // namespace plumbline::proofs_checks::bam
