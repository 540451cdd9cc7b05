// SPDX-License-Identifier: Apache-2.0
#include "proofs_checks/bam/claims.hpp"
#include "proofs_checks/bam/source.hpp"
#include "proofs_checks/statement.hpp"
#include "reference/core/primitives.hpp"

namespace plumbline::proofs_checks::bam {
namespace {

enum class Scale { printed, mutant };

/// -e^theta_alpha (x + epsilon)^theta_beta + |x/alpha|^beta with beta = theta_beta and alpha =
/// e^(-theta_alpha/theta_beta); the mutant has e^(-theta_alpha). x = |j - i - mu| > 0.
template <Scale scale>
struct BiasIsGgd {
  static constexpr Relation relation = Relation::equals_zero;
  template <class R>
  std::vector<R> operator()(const Inputs<R>& in) const {
    const R &a = in.number("theta_alpha"), &beta = in.number("theta_beta"), &x = in.number("x");
    const R alpha = reference::exp(scale == Scale::printed ? -(a / beta) : -a);
    return {reference::power(x / alpha, beta) -
            reference::exp(a) * reference::power(x + in.number("epsilon"), beta)};
  }
};

/// (1 + epsilon/x)^|beta| - 1 less the relative difference of the two biases, either sign.
struct RelativeErrorOfEpsilon {
  static constexpr Relation relation = Relation::at_least_zero;
  template <class R>
  std::vector<R> operator()(const Inputs<R>& in) const {
    const R &beta = in.number("theta_beta"), &x = in.number("x"), one(1.0);
    const R stretch = one + in.number("epsilon") / x;
    const R error = reference::absolute(reference::power(stretch, beta) - one);
    return {reference::power(stretch, reference::absolute(beta)) - one - error};
  }
};

std::vector<Sample> parameters_of_theta_parametrisation(double epsilon) {
  std::vector<Sample> samples;
  for (double x : {1.0, 2.0, 300.0}) {
    for (double alpha : {0.5, -1.0, 0.0}) {
      for (double beta : {1.0, 0.5, -0.25, -1.0}) {
        samples.push_back(Sample{}
                              .with("x", {x})
                              .with("theta_alpha", {alpha})
                              .with("theta_beta", {beta})
                              .with("epsilon", {epsilon}));
      }
    }
  }
  return samples;
}

}  // namespace

Claim theta_parametrisation() {
  Claim claim;
  claim.id = "bam/theta_parametrisation";
  claim.title = "The bias of appendix C is the GGD with alpha = exp(-theta_alpha/theta_beta)";
  claim.source = source("Appendix C, b_ij and the sentence after it, against section 2.3");
  claim.statement =
      "b_ij = -e^theta_alpha (|(j - i) - mu| + epsilon)^theta_beta is the GGD -|(j - i - "
      "mu)/alpha|^beta with beta = theta_beta and alpha = e^(-theta_alpha/theta_beta).";
  claim.condition = "epsilon = 0 (and theta_beta is not 0).";
  claim.correction =
      "With epsilon the bias is stretched by (1 + epsilon/x)^beta, x = |j - i - mu|: relatively by "
      "about 10^-5 |beta|/x. At x = 0 it is a different function: -e^theta_alpha epsilon^beta in "
      "place of 0 (beta > 0; -0.32 for beta = 0.1) or minus infinity (beta < 0).";
  claim.derivation =
      "|x/alpha|^beta = |x|^beta e^(theta_alpha). The implemented power is (x + epsilon)^beta.";
  claim.derived = Verdict::holds_under_condition;
  claim.checks = [] {
    return together(
        {for_all(Role::statement, "epsilon = 10^-5: |x/alpha|^beta + b_ij = 0",
                 BiasIsGgd<Scale::printed>{}, parameters_of_theta_parametrisation(1e-5)),
         for_all(Role::condition, "epsilon = 0: |x/alpha|^beta + b_ij = 0",
                 BiasIsGgd<Scale::printed>{}, parameters_of_theta_parametrisation(0)),
         for_all(Role::correction, "(1 + epsilon/x)^|beta| - 1 - |(1 + epsilon/x)^beta - 1| >= 0",
                 RelativeErrorOfEpsilon{}, parameters_of_theta_parametrisation(1e-5))});
  };
  claim.mutant = "alpha = e^(-theta_alpha).";
  claim.mutant_checks = [] {
    return for_all(Role::statement, "epsilon = 0, alpha = e^-theta_alpha: the same",
                   BiasIsGgd<Scale::mutant>{}, parameters_of_theta_parametrisation(0));
  };
  claim.hypotheses = {definition("mu = e^theta_mu - e^(-theta_mu).",
                                 "It says what mu is (bam/mu_parametrisation)."),
                      definition("epsilon = 10^-5.", "The condition replaces it.")};
  claim.implicit = {definition(
      "j - i is not mu.", "There both are 0^beta: 0 for beta > 0, without a value for beta < 0.")};
  claim.conditions = {needed("epsilon = 0.", "The implemented power is that of x + epsilon.", {}),
                      definition("theta_beta is not 0.",
                                 "-theta_alpha/theta_beta divides by 0 "
                                 "(bam/theta_alpha_positive).")};
  return claim;
}

}  // namespace plumbline::proofs_checks::bam
