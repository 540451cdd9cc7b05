// SPDX-License-Identifier: Apache-2.0
#include "proofs_checks/bam/claims.hpp"
#include "proofs_checks/bam/source.hpp"
#include "proofs_checks/statement.hpp"
#include "reference/bias/ggd.hpp"

namespace plumbline::proofs_checks::bam {
namespace {

/// b_ij + e^theta_alpha epsilon^theta_beta for every key of a row of 8; for the mutant
/// b_ij + e^theta_alpha.
template <bool mutant>
struct BiasIsBounded {
  static constexpr Relation relation = Relation::at_least_zero;
  template <class R>
  std::vector<Placed<R>> operator()(const Inputs<R>& in) const {
    const R &a = in.number("theta_alpha"), &beta = in.number("theta_beta");
    const R epsilon(1e-5);
    const reference::Ggd<R> bias(a, beta, in.number("theta_mu"), epsilon);
    const R bound = reference::exp(a) * (mutant ? R(1.0) : reference::power(epsilon, beta));
    std::vector<Placed<R>> residuals;
    for (int j = 0; j < 8; ++j)
      residuals.push_back({bias(7, j) + bound, "i = 7, j = " + std::to_string(j)});
    return residuals;
  }
};

std::vector<Sample> parameters_of_epsilon_division() {
  std::vector<Sample> samples;
  for (double alpha : {0.0, -2.0, 1.0}) {
    for (double beta : {-0.0625, -0.5, -0.6}) {
      for (double mu : {0.0, -1.0}) {
        samples.push_back(Sample{}
                              .with("theta_alpha", {alpha})
                              .with("theta_beta", {beta})
                              .with("theta_mu", {mu}));
      }
    }
  }
  return samples;
}

}  // namespace

Claim epsilon_division() {
  Claim claim;
  claim.id = "bam/epsilon_division";
  claim.title = "epsilon avoids the division by zero of beta < 0";
  claim.source = source("Appendix C, \"epsilon = 10^-5 avoids division by zero when beta < 0\"");
  claim.statement =
      "With epsilon = 10^-5 every b_ij is finite for theta_beta < 0: b_ij >= -e^theta_alpha "
      "epsilon^theta_beta.";
  claim.correction =
      "The price: the own key has a finite bias, so Theorem 3 no longer holds for every beta < 0 "
      "(bam/theorem_3_epsilon).";
  claim.derivation =
      "|j - i - mu| + epsilon >= epsilon > 0, and y^theta_beta decreases in y. Equality where "
      "j - i = mu.";
  claim.derived = Verdict::holds;
  claim.checks = [] {
    return for_all(Role::statement, "b_ij + e^theta_alpha epsilon^theta_beta >= 0",
                   BiasIsBounded<false>{}, parameters_of_epsilon_division());
  };
  claim.mutant = "b_ij >= -e^theta_alpha.";
  claim.mutant_checks = [] {
    return for_all(Role::statement, "b_ij + e^theta_alpha >= 0", BiasIsBounded<true>{},
                   parameters_of_epsilon_division());
  };
  claim.hypotheses = {
      needed("theta_beta < 0.", "For theta_beta > 0 the bias is largest in size far away.", [] {
        return for_all(
            Role::statement,
            "theta_beta = 1/2: b_ij + e^theta_alpha "
            "epsilon^theta_beta >= 0",
            BiasIsBounded<false>{},
            {Sample{}.with("theta_alpha", {0}).with("theta_beta", {0.5}).with("theta_mu", {0})});
      }).where("theta_beta", below(0))};
  claim.implicit = {
      definition("Real numbers. In float32 the bound itself overflows below theta_beta = -7.7 "
                 "(theta_alpha = 0).",
                 "The statement is one about real numbers.")};
  return claim;
}

}  // namespace plumbline::proofs_checks::bam
