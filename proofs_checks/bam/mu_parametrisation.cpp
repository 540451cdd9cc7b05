// SPDX-License-Identifier: Apache-2.0
#include "proofs_checks/bam/claims.hpp"
#include "proofs_checks/bam/source.hpp"
#include "proofs_checks/statement.hpp"
#include "reference/core/primitives.hpp"

namespace plumbline::proofs_checks::bam {
namespace {

/// mu(theta) - mu at theta = ln(mu/2 + sqrt(mu^2/4 + 1)) (the mutant: without the halves), so every
/// mu is reached, and 0 by 0.
template <bool mutant>
struct EveryMuIsReached {
  static constexpr Relation relation = Relation::equals_zero;
  template <class R>
  std::vector<R> operator()(const Inputs<R>& in) const {
    const R& mu = in.number("mu");
    const R half = mutant ? mu : mu / R(2.0);
    const R theta = reference::log(half + reference::sqrt(half * half + R(1.0)));
    return {reference::exp(theta) - reference::exp(-theta) - mu};
  }
};

/// mu(theta + step) - mu(theta), for every theta in a box.
struct MuIncreases {
  static constexpr Relation relation = Relation::above_zero;
  template <class R>
  std::vector<R> operator()(const Inputs<R>& in) const {
    const R &theta = in.number("theta_mu"), &step = in.number("step"), one(1.0);
    return {reference::exp(theta) * (reference::exp(step) - one) +
            reference::exp(-theta) * (one - reference::exp(-step))};
  }
};

std::vector<Sample> positions() {
  std::vector<Sample> samples;
  for (double mu : {0.0, 1.0, -1.0, -8.0, 0.125}) samples.push_back(Sample{}.with("mu", {mu}));
  return samples;
}

struct MuIs {
  template <class R>
  std::vector<R> operator()(const Inputs<R>& in) const {
    const R& theta = in.number("theta_mu");
    return {reference::exp(theta) - reference::exp(-theta) - in.number("mu")};
  }
};

}  // namespace

Claim mu_parametrisation() {
  Claim claim;
  claim.id = "bam/mu_parametrisation";
  claim.title = "theta_mu = 0 fixes mu = 0, and theta_mu reaches every mu";
  claim.source = source(
      "Section 3, \"fixing theta_mu = 0\"; appendix A, \"we fix mu = 0\"; appendix C, mu = "
      "e^theta_mu - e^-theta_mu");
  claim.statement =
      "mu = e^theta_mu - e^(-theta_mu) is 0 for theta_mu = 0, increases with theta_mu and takes "
      "every "
      "real value.";
  claim.derivation =
      "mu = 2 sinh theta_mu: odd, derivative e^theta + e^-theta >= 2, inverse "
      "theta = ln(mu/2 + sqrt(mu^2/4 + 1)).";
  claim.derived = Verdict::holds;
  claim.checks = [] {
    return together(
        {for_all(Role::statement, "mu(theta(mu)) - mu = 0, mu = 0 among them",
                 EveryMuIsReached<false>{}, positions()),
         for_all(Role::statement,
                 "mu(theta + s) - mu(theta) > 0 for all theta in [-8, 8], s in [2^-20, 1]",
                 MuIncreases{}, {Sample{}.within("theta_mu", -8, 8).within("step", 0x1p-20, 1)})});
  };
  claim.mutant = "theta_mu = ln(mu + sqrt(mu^2 + 1)).";
  claim.mutant_checks = [] {
    return for_all(Role::statement, "the same without the halves", EveryMuIsReached<true>{},
                   positions());
  };
  claim.hypotheses = {
      definition("mu = e^theta_mu - e^(-theta_mu).", "It is what the claim is about.")};
  claim.implicit = {needed(
      "theta_mu is any real number.", "Without negative ones no negative mu is reached.", [] {
        return exists(Role::statement, "some theta_mu in [0, 100] has mu = -1", MuIs{},
                      {Sample{}.with("mu", {-1}).within("theta_mu", 0, 1),
                       Sample{}.with("mu", {-1}).within("theta_mu", 1, 100)});
      })};
  return claim;
}

}  // namespace plumbline::proofs_checks::bam
