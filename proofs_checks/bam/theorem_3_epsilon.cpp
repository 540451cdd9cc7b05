// SPDX-License-Identifier: Apache-2.0
#include "proofs_checks/bam/claims.hpp"
#include "proofs_checks/bam/source.hpp"
#include "proofs_checks/pictures/pictures.hpp"
#include "proofs_checks/statement.hpp"
#include "reference/bias/ggd.hpp"

namespace plumbline::proofs_checks::bam {
namespace {

/// 1/100 - p_ii / p_i,i-1 for equal contents, with the bias of appendix C.
struct OwnKeyIsIgnored {
  static constexpr Relation relation = Relation::at_least_zero;
  template <class R>
  std::vector<R> operator()(const Inputs<R>& in) const {
    const reference::Ggd<R> bias(in.number("theta_alpha"), in.number("theta_beta"), R(0.0),
                                 R(1e-5));
    return {R(1.0) / R(100.0) - reference::exp(bias(1, 1) - bias(1, 0))};
  }
};

std::vector<Sample> parameters_of_theorem_3_epsilon(
    const std::vector<std::pair<double, double>>& pairs) {
  std::vector<Sample> samples;
  for (const auto& [alpha, beta] : pairs) {
    samples.push_back(Sample{}.with("theta_alpha", {alpha}).with("theta_beta", {beta}));
  }
  return samples;
}

/// Boxes on which e^theta_alpha (epsilon^theta_beta - (1 + epsilon)^theta_beta) >= ln 100.
std::vector<Sample> strong_of_theorem_3_epsilon() {
  std::vector<Sample> samples;
  for (double alpha : {-4.0, -2.0, 0.0}) {
    for (double beta = -2; beta < -0.6; beta += 0.0625) {
      samples.push_back(Sample{}
                            .within("theta_alpha", alpha, alpha + 2)
                            .within("theta_beta", beta, beta + 0.0625));
    }
  }
  samples.push_back(Sample{}.within("theta_alpha", 0, 0.25).within("theta_beta", -0.25, -0.1875));
  return samples;
}

struct ConditionFailsOfTheorem3Epsilon {
  static constexpr Relation relation = Relation::above_zero;
  template <class R>
  std::vector<R> operator()(const Inputs<R>& in) const {
    const R epsilon(1e-5), &beta = in.number("theta_beta");
    const R left = reference::exp(in.number("theta_alpha")) *
                   (reference::power(epsilon, beta) - reference::power(R(1.0) + epsilon, beta));
    return {reference::log(R(100.0)) - left};
  }
};

struct OwnKeyIsIgnoredWith {
  static constexpr Relation relation = Relation::at_least_zero;
  template <class R>
  std::vector<R> operator()(const Inputs<R>& in) const {
    const reference::Ggd<R> bias(in.number("theta_alpha"), in.number("theta_beta"),
                                 in.number("theta_mu"), in.number("epsilon"));
    return {R(1.0) / R(100.0) - reference::exp(bias(1, 1) - bias(1, 0))};
  }
};

}  // namespace

Claim theorem_3_epsilon() {
  Claim claim;
  claim.id = "bam/theorem_3_epsilon";
  claim.title = "The implemented prior ignores the own key for every beta < 0";
  claim.source = source("Theorem 3 with b_ij as appendix C implements it, epsilon = 10^-5");
  claim.statement =
      "GGD-BAM ignores local context for any beta < 0 and alpha > 0, also with the bias of "
      "appendix "
      "C, b_ij = -e^theta_alpha (|j - i| + epsilon)^theta_beta. Checked as: with equal contents "
      "the "
      "own key gets at most a hundredth of its neighbour's weight.";
  claim.condition =
      "e^theta_alpha (epsilon^theta_beta - (1 + epsilon)^theta_beta) >= ln 100; with theta_alpha = "
      "0 "
      "this is about theta_beta <= -0.15.";
  claim.correction =
      "p_ii / p_i,i-1 = exp(-e^theta_alpha (epsilon^theta_beta - (1 + epsilon)^theta_beta)) is "
      "never "
      "0 and tends to 1 as theta_beta -> 0.";
  claim.derivation =
      "epsilon keeps the own bias finite: theta_alpha = 0, theta_beta = -0.05 has b_ii = "
      "-(10^-5)^-0.05 = -1.778 and a neighbour with b = -1.000, so the ratio is 0.459. Of the "
      "retrieval heads that appendix H.8 describes, -0.6 <= theta_beta <= 0, those near 0 attend "
      "to "
      "themselves almost as to any other key.";
  claim.derived = Verdict::holds_under_condition;
  claim.checks = [] {
    return together(
        {for_all(Role::statement,
                 "1/100 - p_ii / p_i,i-1 >= 0, the quotient being e^(b(0) - b(1)), b(d) = "
                 "-e^theta_alpha (d + 10^-5)^theta_beta",
                 OwnKeyIsIgnored{},
                 parameters_of_theorem_3_epsilon({{0, -0.05}, {-3, -0.1}, {0, -0.6}})),
         for_all(Role::condition, "1/100 - p_ii / p_i,i-1 >= 0 on boxes that meet the condition",
                 OwnKeyIsIgnored{}, strong_of_theorem_3_epsilon())});
  };
  claim.pictures = {pictures::own_key_weight};
  claim.mutant = "theta_beta <= -0.1 is enough for theta_alpha = 0.";
  claim.mutant_checks = [] {
    return for_all(Role::statement, "theta_beta = -0.1: 1/100 - p_ii / p_i,i-1 >= 0",
                   OwnKeyIsIgnored{}, parameters_of_theorem_3_epsilon({{0, -0.1}}));
  };
  claim.hypotheses = {
      not_needed("theta_beta < 0.",
                 "The condition implies it: for theta_beta >= 0 its left side is not positive.",
                 [] {
                   return for_all(
                       Role::statement,
                       "theta_beta in [0, 2]: ln 100 - e^theta_alpha (epsilon^theta_beta - "
                       "(1 + epsilon)^theta_beta) > 0",
                       ConditionFailsOfTheorem3Epsilon{},
                       {Sample{}.within("theta_alpha", -4, 4).within("theta_beta", 0, 2)});
                 })
          .where("theta_beta", below(0)),
      needed("theta_mu = 0.", "Another mu puts the own key away from the one that is removed.",
             [] {
               return for_all(Role::statement, "1/100 - p_ii / p_i,i-1 >= 0 with theta_mu = 1/2",
                              OwnKeyIsIgnoredWith{},
                              {Sample{}
                                   .with("theta_alpha", {0})
                                   .with("theta_beta", {-1})
                                   .with("theta_mu", {0.5})
                                   .with("epsilon", {0x1p-16})});
             })
          .where("theta_mu", exactly(0)),
      not_needed("epsilon = 10^-5.", "The condition is in terms of epsilon.", [] {
        return for_all(Role::statement, "epsilon = 2^-8: 1/100 - p_ii / p_i,i-1 >= 0",
                       OwnKeyIsIgnoredWith{},
                       {Sample{}
                            .with("theta_alpha", {0})
                            .with("theta_beta", {-1})
                            .with("theta_mu", {0})
                            .with("epsilon", {0x1p-8})});
      })};
  claim.implicit = {definition("Theorem 3 is about the method that the experiments use.",
                               "Otherwise appendix C has no bearing on it."),
                    definition("A hundredth stands for any threshold below 1.",
                               "Without a number there is nothing to check.")};
  return claim;
}

}  // namespace plumbline::proofs_checks::bam
