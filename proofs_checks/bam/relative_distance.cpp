// SPDX-License-Identifier: Apache-2.0
#include "proofs_checks/bam/claims.hpp"
#include "proofs_checks/bam/source.hpp"
#include "proofs_checks/statement.hpp"
#include "reference/bias/ggd.hpp"

namespace plumbline::proofs_checks::bam {
namespace {

/// b(i, i + d) - b(i, i - d), d = 1..4: the same distance on either side of the query.
struct DependsOnDistanceOnly {
  static constexpr Relation relation = Relation::equals_zero;
  template <class R>
  std::vector<Placed<R>> operator()(const Inputs<R>& in) const {
    const reference::Ggd<R> bias(in.number("theta_alpha"), in.number("theta_beta"),
                                 in.number("theta_mu"), R(1e-5));
    std::vector<Placed<R>> residuals;
    for (int d = 1; d < 5; ++d)
      residuals.push_back({bias(8, 8 + d) - bias(8, 8 - d), "d = " + std::to_string(d)});
    return residuals;
  }
};

/// b(i + 5, j + 5) - b(i, j) for j <= i; for the mutant b(i + 5, j) - b(i, j).
template <bool mutant>
struct DependsOnOffsetOnly {
  static constexpr Relation relation = Relation::equals_zero;
  template <class R>
  std::vector<R> operator()(const Inputs<R>& in) const {
    const reference::Ggd<R> bias(in.number("theta_alpha"), in.number("theta_beta"),
                                 in.number("theta_mu"), R(1e-5));
    std::vector<R> residuals;
    for (int j = 0; j < 5; ++j) residuals.push_back(bias(9, mutant ? j : j + 5) - bias(4, j));
    return residuals;
  }
};

std::vector<Sample> parameters_of_relative_distance(const std::vector<double>& locations) {
  std::vector<Sample> samples;
  for (double mu : locations) {
    for (double beta : {1.0, 0.5, -0.25}) {
      samples.push_back(Sample{}
                            .with("theta_alpha", {0})
                            .with("theta_beta", {beta})
                            .with("theta_mu", {mu})
                            .with("epsilon", {1e-5}));
    }
  }
  return samples;
}

}  // namespace

Claim relative_distance() {
  Claim claim;
  claim.id = "bam/relative_distance";
  claim.title = "The prior is a distribution over the distance |j - i|";
  claim.source = source("Appendix A, \"Positional Priors\", first sentence, against section 2.3");
  claim.statement =
      "\"The prior over positions is modeled using parametric distributions over relative "
      "positions "
      "|j - i|\": keys at the same distance before and after the query have the same bias.";
  claim.condition = "mu = 0, or the mask is causal.";
  claim.correction = "It is a function of the offset j - i, whose sign matters where mu is not 0.";
  claim.derivation =
      "|d - mu| = |-d - mu| for all d only if mu = 0. theta_mu = 1/2 gives mu = 1.04: d = 1 is "
      "0.04 from it on one side and 2.04 on the other.";
  claim.derived = Verdict::holds_under_condition;
  claim.checks = [] {
    return together(
        {for_all(Role::statement,
                 "b(i, i + d) - b(i, i - d) = 0, b = -e^theta_alpha (|j - i - mu| + "
                 "epsilon)^theta_beta, mu = e^theta_mu - e^-theta_mu",
                 DependsOnDistanceOnly{}, parameters_of_relative_distance({0.5, -1, 0})),
         for_all(Role::condition, "mu = 0: b(i, i + d) - b(i, i - d) = 0", DependsOnDistanceOnly{},
                 parameters_of_relative_distance({0})),
         for_all(Role::correction, "b(i + 5, j + 5) - b(i, j) = 0", DependsOnOffsetOnly<false>{},
                 parameters_of_relative_distance({0.5, -1, 0}))});
  };
  claim.mutant = "The bias of a key does not depend on where the query is.";
  claim.mutant_checks = [] {
    return for_all(Role::statement, "b(i + 5, j) - b(i, j) = 0", DependsOnOffsetOnly<true>{},
                   parameters_of_relative_distance({0}));
  };
  claim.hypotheses = {
      definition("b_ij as in section 2.3 or appendix C.", "It is the prior in question.")};
  claim.implicit = {not_needed(
      "No causal mask.",
      "The condition says \"or the mask is causal\": under it only one side is visible, and "
      "any function of j - i is one of |j - i|.",
      [] {
        return for_all(Role::statement, "j <= i, mu not 0: b(i + 5, j + 5) - b(i, j) = 0",
                       DependsOnOffsetOnly<false>{}, parameters_of_relative_distance({0.5, -1}));
      })};
  return claim;
}

}  // namespace plumbline::proofs_checks::bam
