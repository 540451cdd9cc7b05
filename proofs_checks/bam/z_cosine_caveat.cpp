// SPDX-License-Identifier: Apache-2.0
#include "proofs_checks/bam/claims.hpp"
#include "proofs_checks/bam/normalisers.hpp"
#include "proofs_checks/samples.hpp"

namespace plumbline::proofs_checks::bam {
namespace {

/// 1 - sum_j p_cont(j) p_pos(j) / cos = 1 - ||p_cont|| ||p_pos||: with the cosine for Z the product
/// does not sum to 1.
struct CosineLeavesAGap {
  static constexpr Relation relation = Relation::above_zero;
  template <class R>
  std::vector<R> operator()(const Inputs<R>& in) const {
    const Normalisers<R> n(in);
    const R norms = reference::sqrt(n.content_square()) * reference::sqrt(n.position_square());
    const R cosine = n.overlap() / norms;
    R total(0.0);
    for (int j = 0; j < n.keys(); ++j) total += n.p_cont(j) * n.p_pos(j) / cosine;
    return {R(1.0) - total};
  }
};

struct CosineNormalises {
  static constexpr Relation relation = Relation::equals_zero;
  template <class R>
  std::vector<R> operator()(const Inputs<R>& in) const {
    const Normalisers<R> n(in);
    return {reference::sqrt(n.content_square()) * reference::sqrt(n.position_square()) - R(1.0)};
  }
};

/// 1 - ||p||^2 ||q||^2, which is above 0 exactly where 1 - ||p|| ||q|| is.
struct NormsBelowOne {
  static constexpr Relation relation = Relation::above_zero;
  template <class R>
  std::vector<R> operator()(const Inputs<R>& in) const {
    return {R(1.0) - reference::dot(in["p"], in["p"]) * reference::dot(in["q"], in["q"])};
  }
};

}  // namespace

Claim z_cosine_caveat() {
  Claim claim;
  claim.id = "bam/z_cosine_caveat";
  claim.title = "The cosine in place of the dot product would destroy the normalisation";
  claim.source = source("Appendix K.2, fourth bullet");
  claim.statement =
      "With cos = <p_cont, p_pos> / (||p_cont|| ||p_pos||) in place of <p_cont, p_pos>, the "
      "re-normalisation fails: sum_j p_cont(j) p_pos(j) / cos is not 1.";
  claim.derivation =
      "The sum is ||p_cont|| ||p_pos||, and a softmax vector over two keys or more has a norm "
      "below "
      "1, because all its components are.";
  claim.derived = Verdict::holds;
  claim.checks = [] {
    return for_all(Role::statement, "1 - sum p_cont p_pos / cos > 0 with 2 keys or more",
                   CosineLeavesAGap{}, score_pairs(false));
  };
  claim.mutant = "sum_j p_cont(j) p_pos(j) / cos = 1.";
  claim.mutant_checks = [] {
    return for_all(Role::statement, "||p_cont|| ||p_pos|| - 1 = 0", CosineNormalises{},
                   score_pairs(false));
  };
  claim.implicit = shared_hypotheses();

  claim.hypotheses = {needed("p_cont and p_pos are softmax vectors: they have no zeros.",
                             "For (1, 0) and itself the cosine is 1 and the sum 1.",
                             [] {
                               return for_all(
                                   Role::statement, "1 - ||p|| ||q|| > 0 for p = q = (1, 0)",
                                   NormsBelowOne{}, {Sample{}.with("p", {1, 0}).with("q", {1, 0})});
                             })
                          .where("p", above(0)),
                      definition("Over the same keys.", "Otherwise there is no product.")};
  claim.implicit.push_back(
      needed("At least two keys.", "With one key the cosine is 1 and nothing fails.", [] {
        return for_all(Role::statement, "1 - sum p_cont p_pos / cos > 0 with one key",
                       CosineLeavesAGap{}, {scores({1.5}, {-3})});
      }));
  return claim;
}

}  // namespace plumbline::proofs_checks::bam
