// SPDX-License-Identifier: Apache-2.0
#include "proofs_checks/bam/claims.hpp"
#include "proofs_checks/bam/normalisers.hpp"
#include "proofs_checks/samples.hpp"

namespace plumbline::proofs_checks::bam {
namespace {

/// ln n - I: no mutual information of variables with at most n values exceeds ln n.
struct InformationWithinEntropy {
  static constexpr Relation relation = Relation::at_least_zero;
  template <class R>
  std::vector<R> operator()(const Inputs<R>& in) const {
    const Normalisers<R> n(in);
    return {reference::log(R(static_cast<double>(n.keys()))) - n.information()};
  }
};

/// I + ln <p_cont, p_pos>.
struct InformationIsMinusLogOverlap {
  static constexpr Relation relation = Relation::equals_zero;
  template <class R>
  std::vector<R> operator()(const Inputs<R>& in) const {
    const Normalisers<R> n(in);
    return {n.information() + reference::log(n.overlap())};
  }
};

/// The mutant: I as minus the logarithm of the cosine of p_cont and p_pos.
struct InformationIsMinusLogCosine {
  static constexpr Relation relation = Relation::equals_zero;
  template <class R>
  std::vector<R> operator()(const Inputs<R>& in) const {
    const Normalisers<R> n(in);
    return {n.information() + reference::log(n.overlap() / reference::sqrt(n.content_square() *
                                                                           n.position_square()))};
  }
};

}  // namespace

Claim z_mutual_information() {
  Claim claim;
  claim.id = "bam/z_mutual_information";
  claim.title = "I is the mutual information between content and position";
  claim.source = source("Appendix K.3, definition of I(cont; pos)");
  claim.statement =
      "I = sum_j p_joint(j) ln[p_joint(j) / (p_cont(j) p_pos(j))] is the mutual information of "
      "content and position under the joint distribution p_joint. Checked through a consequence: "
      "content and position are functions of the key j, so each has at most n values, and a mutual "
      "information of such variables is at most their entropy: I <= ln n.";
  claim.hypotheses = {"p_joint = softmax(f + g); p_cont and p_pos are called its marginals."};
  claim.implicit = shared_hypotheses();
  claim.implicit.push_back("There are n keys; the sum runs over them.");
  claim.correction =
      "I = -ln <p_cont, p_pos>, the negative logarithm of the overlap: positive with two keys or "
      "more, and unbounded as content and position favour different keys.";
  claim.derivation =
      "A mutual information needs a joint law of two variables and its own two marginals. p_joint "
      "is "
      "a law of one index j; p_cont and p_pos are other laws of the same index and not marginals "
      "of "
      "it (if (j, j) is taken as the pair, both marginals are p_joint, and the mutual information "
      "is "
      "the entropy of p_joint). The reference p_cont p_pos sums to <p_cont, p_pos> < 1, so I is "
      "not "
      "even a divergence between two probability laws. Two keys, f = (1, 0), g = (0, 1): "
      "<p_cont, p_pos> = 2 e / (1 + e)^2 = 0.3932, so I = 0.9334 > ln 2 = 0.6931; with f = (a, 0), "
      "g = (0, a) I grows without bound. The correction is bam/z_information_identity with "
      "bam/z_sum.";
  claim.derived = Verdict::refuted;
  claim.checks = [] {
    return together(
        {for_all(Role::statement, "ln n - I >= 0, I = ln(Z_cont Z_pos / Z_joint), n keys",
                 InformationWithinEntropy{}, score_pairs(true)),
         for_all(Role::correction, "I + ln <p_cont, p_pos> = 0", InformationIsMinusLogOverlap{},
                 score_pairs(true))});
  };
  claim.mutant = "I is minus the logarithm of the cosine of p_cont and p_pos.";
  claim.mutant_checks = [] {
    return for_all(Role::statement, "I + ln(<p, q> / (||p|| ||q||)) = 0",
                   InformationIsMinusLogCosine{}, score_pairs(true));
  };
  return claim;
}

}  // namespace plumbline::proofs_checks::bam
