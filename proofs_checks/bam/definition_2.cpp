// SPDX-License-Identifier: Apache-2.0
#include "proofs_checks/bam/claims.hpp"
#include "proofs_checks/bam/normalisers.hpp"
#include "proofs_checks/samples.hpp"

namespace plumbline::proofs_checks::bam {
namespace {

/// w_j = e^(f_j) / sum_z p_pos(z) e^(f_z): what takes the prior p_pos to p_ij.
template <class R>
reference::Vector<R> likelihood_ratios(const Inputs<R>& in) {
  const Normalisers<R> n(in);
  reference::Vector<R> weights(n.keys());
  for (int j = 0; j < n.keys(); ++j) weights[j] = reference::exp(in["f"][j]);
  const R evidence = reference::dot(n.position.probability, weights);
  for (R& w : weights) w = w / evidence;
  return weights;
}

/// p_pos(j) - p_ij: nothing is more likely together than one of the two alone.
struct JointAtMostMarginal {
  static constexpr Relation relation = Relation::at_least_zero;
  template <class R>
  std::vector<Placed<R>> operator()(const Inputs<R>& in) const {
    const Normalisers<R> n(in);
    std::vector<Placed<R>> residuals;
    for (int j = 0; j < n.keys(); ++j)
      residuals.push_back({n.p_pos(j) - n.p_joint(j), "j = " + std::to_string(j)});
    return residuals;
  }
};

/// p_ij - w_j p_pos(j), and sum_j w_j p_pos(j) - 1.
struct PosteriorIsRatioTimesPrior {
  static constexpr Relation relation = Relation::equals_zero;
  template <class R>
  std::vector<R> operator()(const Inputs<R>& in) const {
    const Normalisers<R> n(in);
    const reference::Vector<R> w = likelihood_ratios(in);
    std::vector<R> residuals = {reference::dot(n.position.probability, w) - R(1.0)};
    for (int j = 0; j < n.keys(); ++j) residuals.push_back(n.p_joint(j) - w[j] * n.p_pos(j));
    return residuals;
  }
};

struct RatioIsAProbability {
  static constexpr Relation relation = Relation::at_least_zero;
  template <class R>
  std::vector<R> operator()(const Inputs<R>& in) const {
    std::vector<R> residuals;
    for (const R& w : likelihood_ratios(in)) residuals.push_back(R(1.0) - w);
    return residuals;
  }
};

}  // namespace

Claim definition_2() {
  Claim claim;
  claim.id = "bam/definition_2";
  claim.title = "The attention weight is a joint probability of content and position";
  claim.source = source("Definition 2, section 2.1");
  claim.statement =
      "p_ij = p(f_cont(q_i, k_j) | g_pos(i, j)) x p(g_pos(i, j)) is the joint probability of the "
      "content and the position of token j, with p(g_pos) = softmax(g) (Theorem 1). Checked "
      "through "
      "a consequence: a joint probability is at most each of its marginals, p_ij <= p(g_pos(i, "
      "j)).";
  claim.hypotheses = {
      "p_ij is the attention weight, p(g_pos) the softmax of the positional scores."};
  claim.implicit = shared_hypotheses();
  claim.implicit.push_back(
      "The factors are probabilities, as appendix A calls them, and not densities.");
  claim.correction =
      "p_ij is a posterior over the one variable j: p_ij = w_j p_pos(j), "
      "w_j = e^(f_j) / sum_z p_pos(z) e^(f_z), with the mean of w under the prior equal to 1. The "
      "factor w_j, which is p_cont(j) / Z, is a likelihood ratio and may exceed 1.";
  claim.derivation =
      "Theorem 1 leaves p_cont(j) / Z for the conditional factor, and that is above 1 wherever "
      "e^(f_j) exceeds sum_z p_pos(z) e^(f_z); that happens at some key unless f is constant. "
      "f = (1, 0), g = (0, 1) gives p_i0 = 1/2 and "
      "p_pos(0) = 1/(1 + e) = 0.2689. Bayes' rule says what is meant: the prior p_pos(j), a "
      "likelihood proportional to e^(f_j), the evidence sum_z p_pos(z) e^(f_z).";
  claim.derived = Verdict::refuted;
  claim.checks = [] {
    return together({for_all(Role::statement, "p_pos - p_ij >= 0 at every key",
                             JointAtMostMarginal{}, score_pairs(true)),
                     for_all(Role::correction, "p_ij - w p_pos = 0 and sum w p_pos - 1 = 0",
                             PosteriorIsRatioTimesPrior{}, score_pairs(true))});
  };
  claim.mutant = "The factor p_cont(j) / Z is at most 1.";
  claim.mutant_checks = [] {
    return for_all(Role::statement, "1 - w_j >= 0 at every key", RatioIsAProbability{},
                   score_pairs(true));
  };
  claim.correction_hypotheses = shared_hypotheses();
  return claim;
}

}  // namespace plumbline::proofs_checks::bam
