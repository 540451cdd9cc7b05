// SPDX-License-Identifier: Apache-2.0
#include "proofs_checks/bam/claims.hpp"
#include "proofs_checks/bam/normalisers.hpp"
#include "proofs_checks/samples.hpp"

namespace plumbline::proofs_checks::bam {
namespace {

/// A learned bias by distance, in["g"], of n keys: p_joint - p_cont u / Z with u_j = e^(g_j) / sum
/// over the n distances, and sum u - 1. For the mutant u_j = g_j / sum.
template <bool mutant>
struct TableIsAPrior {
  static constexpr Relation relation = Relation::equals_zero;
  template <class R>
  std::vector<R> operator()(const Inputs<R>& in) const {
    const Normalisers<R> n(in);
    reference::Vector<R> prior(n.keys());
    for (int j = 0; j < n.keys(); ++j) {
      prior[j] = mutant ? in["g"][j] : reference::exp(in["g"][j]);
    }
    const R total = reference::sum(prior);
    for (R& p : prior) p = p / total;
    const R Z = reference::dot(n.content.probability, prior);
    std::vector<R> residuals = {reference::sum(prior) - R(1.0)};
    for (int j = 0; j < n.keys(); ++j)
      residuals.push_back(n.p_joint(j) - n.p_cont(j) * prior[j] / Z);
    return residuals;
  }
};

struct MultipliedTableIsAPrior {
  static constexpr Relation relation = Relation::equals_zero;
  template <class R>
  std::vector<R> operator()(const Inputs<R>& in) const {
    const Normalisers<R> n(in, product_of(in));
    return {n.p_joint(0) - n.p_cont(0) * n.p_pos(0) / n.overlap()};
  }
};

}  // namespace

Claim t5_prior() {
  Claim claim;
  claim.id = "bam/t5_prior";
  claim.title = "T5's learned bias is a non-parametric prior over positions";
  claim.source = source("Section 4, \"T5 Relative Bias\"");
  claim.statement =
      "T5's b(i - j), learned for each relative distance and added to the logits, \"could be "
      "viewed "
      "in BAM as an empirical non-parametric distribution over the positions\".";
  claim.correction =
      "Any additive bias of the position is a prior in this sense: Kerple and FIRE as well, and no "
      "bias at all (bam/lemma_1). CABLE's and FoX's depend on the tokens and are no prior of the "
      "position alone.";
  claim.derivation =
      "Theorem 1 asks nothing of g but that it is added: u_j = e^(b(i - j)) / sum_z e^(b(i - z)) "
      "is "
      "positive and sums to 1 over the visible keys.";
  claim.derived = Verdict::holds;
  claim.checks = [] {
    return for_all(Role::statement, "sum u - 1 = 0 and p_joint - p_cont u / Z = 0",
                   TableIsAPrior<false>{}, score_pairs(true));
  };
  claim.mutant = "The prior is the bias itself over its sum.";
  claim.mutant_checks = [] {
    // Constant content: the weights are e^(g)/sum, never g/sum.
    return for_all(Role::statement, "u = g / sum g: the same", TableIsAPrior<true>{},
                   {scores({0, 0}, {1, 2})});
  };
  claim.implicit = shared_hypotheses();
  claim.hypotheses = {
      needed("The score is q_i k_j + b(i - j).",
             "The exponential of another score, here the product f_j g_j, does not factorise.", [] {
               return for_all(Role::statement, "softmax(f g)_0 - p_cont u / Z = 0",
                              MultipliedTableIsAPrior{}, {scores({1, 0}, {2, 0})});
             })};
  claim.implicit.push_back(
      definition("T5 shares one value among the distances of a bucket, and all beyond the last; "
                 "the values are "
                 "any real numbers.",
                 "It says what b is."));
  return claim;
}

}  // namespace plumbline::proofs_checks::bam
