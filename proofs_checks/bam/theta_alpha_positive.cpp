// SPDX-License-Identifier: Apache-2.0
#include "proofs_checks/bam/claims.hpp"
#include "proofs_checks/bam/source.hpp"
#include "proofs_checks/statement.hpp"
#include "reference/core/primitives.hpp"

namespace plumbline::proofs_checks::bam {
namespace {

/// Some alpha > 0 makes |x/alpha|^beta equal to e^theta_alpha |x|^beta.
struct SomeAlphaRepresents {
  template <class R>
  std::vector<R> operator()(const Inputs<R>& in) const {
    const R &x = in.number("x"), &beta = in.number("theta_beta");
    return {reference::power(x / in.number("alpha"), beta) -
            reference::exp(in.number("theta_alpha")) * reference::power(x, beta)};
  }
};

/// e^(-theta_alpha/theta_beta) itself; for the mutant less 1.
template <bool mutant>
struct AlphaIsPositive {
  static constexpr Relation relation = Relation::above_zero;
  template <class R>
  std::vector<R> operator()(const Inputs<R>& in) const {
    const R alpha = reference::exp(-(in.number("theta_alpha") / in.number("theta_beta")));
    return {alpha - R(mutant ? 1.0 : 0.0)};
  }
};

/// Some alpha > 0 makes |x/alpha|^beta equal to e^theta_alpha (|x| + epsilon)^beta at every x.
struct SomeAlphaRepresentsWithEpsilon {
  template <class R>
  std::vector<Placed<R>> operator()(const Inputs<R>& in) const {
    const R &beta = in.number("theta_beta"), factor = reference::exp(in.number("theta_alpha"));
    std::vector<Placed<R>> residuals;
    for (double x : {1.0, 2.0}) {
      residuals.push_back({reference::power(R(x) / in.number("alpha"), beta) -
                               factor * reference::power(R(x) + in.number("epsilon"), beta),
                           x < 2 ? "x = 1" : "x = 2"});
    }
    return residuals;
  }
};

/// Every alpha from 2^-200 to 2^200 at theta_beta = 1, theta_alpha = 0 and epsilon = 2^-16. At x =
/// 1 alpha would have to be 1/(1 + epsilon), at x = 2 1/(1 + epsilon/2).
std::vector<Sample> every_alpha_with_epsilon() {
  const Sample parameters =
      Sample{}.with("theta_alpha", {0}).with("theta_beta", {1}).with("epsilon", {0x1p-16});
  const double between = 1 - 0.75 * 0x1p-16;
  return {Sample{parameters}.within("alpha", 0x1p-200, between),
          Sample{parameters}.within("alpha", between, 0x1p200)};
}

/// Every alpha from 2^-200 to 2^200 at theta_beta = 0, where the power is 1 for all of them.
std::vector<Sample> every_alpha() {
  return {Sample{}
              .with("x", {2})
              .with("theta_alpha", {1})
              .with("theta_beta", {0})
              .within("alpha", 0x1p-200, 1),
          Sample{}
              .with("x", {2})
              .with("theta_alpha", {1})
              .with("theta_beta", {0})
              .within("alpha", 1, 0x1p200)};
}

std::vector<Sample> nonzero_beta() {
  std::vector<Sample> samples;
  for (double sign : {-1.0, 1.0}) {
    for (double size = 0x1p-4; size < 4; size *= 2) {
      samples.push_back(
          Sample{}
              .within("theta_alpha", -4, 4)
              .within("theta_beta", sign < 0 ? -2 * size : size, sign < 0 ? -size : 2 * size));
    }
  }
  return samples;
}

}  // namespace

Claim theta_alpha_positive() {
  Claim claim;
  claim.id = "bam/theta_alpha_positive";
  claim.title = "The parametrisation gives an alpha >= 0 for all parameters";
  claim.source = source("Appendix C, \"that ensures alpha >= 0\"");
  claim.statement =
      "alpha = e^(-theta_alpha/theta_beta) ensures alpha >= 0, so the implemented bias is a GGD "
      "with "
      "some alpha >= 0 whatever the learned parameters are.";
  claim.condition = "theta_beta is not 0. Then alpha > 0, never 0.";
  claim.correction =
      "At theta_beta = 0 alpha is not defined, and no alpha gives the bias unless theta_alpha = 0: "
      "the bias is -e^theta_alpha and |x/alpha|^0 = 1. The paper's best results start there "
      "(appendix H.1).";
  claim.derivation =
      "-theta_alpha/theta_beta divides by 0. theta_alpha = 1, theta_beta = 0: the implemented bias "
      "is -e for all keys and every GGD with beta = 0 has -1. The exponential of a finite number "
      "is "
      "positive.";
  claim.derived = Verdict::holds_under_condition;
  claim.checks = [] {
    return together(
        {exists(Role::statement, "some alpha in [2^-200, 2^200] has |x/alpha|^0 = e^1 |x|^0",
                SomeAlphaRepresents{}, every_alpha()),
         for_all(Role::condition, "alpha > 0 on boxes without theta_beta = 0",
                 AlphaIsPositive<false>{}, nonzero_beta())});
  };
  claim.mutant = "alpha > 1 for all parameters.";
  claim.mutant_checks = [] {
    return for_all(Role::statement, "alpha - 1 > 0", AlphaIsPositive<true>{},
                   {Sample{}.with("theta_alpha", {1}).with("theta_beta", {0.5})});
  };
  claim.hypotheses = {
      definition("theta_alpha and theta_beta are any real numbers.", "It says how general it is.")};
  claim.implicit = {needed("epsilon = 0, which is not the point here (bam/theta_parametrisation).",
                           "With epsilon no alpha gives the bias at all distances.",
                           [] {
                             return exists(
                                 Role::statement,
                                 "some alpha in [2^-200, 2^200] has |x/alpha|^theta_beta = "
                                 "e^theta_alpha (|x| + epsilon)^theta_beta at x = 1, 2",
                                 SomeAlphaRepresentsWithEpsilon{}, every_alpha_with_epsilon());
                           })
                        .where("epsilon", exactly(0))};
  return claim;
}

}  // namespace plumbline::proofs_checks::bam
