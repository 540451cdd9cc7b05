// SPDX-License-Identifier: Apache-2.0
#include "proofs_checks/bam/claims.hpp"
#include "proofs_checks/bam/normalisers.hpp"
#include "proofs_checks/samples.hpp"

namespace plumbline::proofs_checks::bam {
namespace {

/// sum_j p_cont(j) p_pos(j) / Z - 1 with Z = exp(ln Z_joint - ln Z_cont - ln Z_pos).
struct ZNormalises {
  static constexpr Relation relation = Relation::equals_zero;
  template <class R>
  std::vector<R> operator()(const Inputs<R>& in) const {
    const Normalisers<R> n(in);
    return {n.overlap() / reference::exp(-n.log_ratio()) - R(1.0)};
  }
};

/// The mutant: Z = Z_joint / Z_cont, the positional partition function forgotten.
struct ZWithoutPositionNormalises {
  static constexpr Relation relation = Relation::equals_zero;
  template <class R>
  std::vector<R> operator()(const Inputs<R>& in) const {
    const Normalisers<R> n(in);
    return {n.overlap() / reference::exp(n.joint.lse - n.content.lse) - R(1.0)};
  }
};

struct ZOfProductNormalises {
  static constexpr Relation relation = Relation::equals_zero;
  template <class R>
  std::vector<R> operator()(const Inputs<R>& in) const {
    const Normalisers<R> n(in, product_of(in));
    return {n.overlap() / reference::exp(-n.log_ratio()) - R(1.0)};
  }
};

}  // namespace

Claim z_sum() {
  Claim claim;
  claim.id = "bam/z_sum";
  claim.title = "The Z that normalises";
  claim.source = source("Theorem 1 (last line of the proof) with the constants of K.1");
  claim.statement =
      "The only Z for which sum_j p_cont(j) p_pos(j) / Z = 1 is "
      "Z = sum_j p_cont(j) p_pos(j) = Z_joint / (Z_cont Z_pos).";
  claim.derivation =
      "sum_j p_cont(j) p_pos(j) = sum_j exp(f_j + g_j) / (Z_cont Z_pos) = Z_joint / (Z_cont "
      "Z_pos), "
      "which is positive; dividing a positive number by Z gives 1 for Z equal to it and for no "
      "other.";
  claim.derived = Verdict::holds;
  claim.checks = [] {
    return for_all(Role::statement, "sum p_cont p_pos / (Z_joint / (Z_cont Z_pos)) - 1 = 0",
                   ZNormalises{}, score_pairs(true));
  };
  claim.mutant = "Z = Z_joint / Z_cont.";
  claim.mutant_checks = [] {
    return for_all(Role::statement, "sum p_cont p_pos / (Z_joint / Z_cont) - 1 = 0",
                   ZWithoutPositionNormalises{}, score_pairs(true));
  };
  claim.implicit = shared_hypotheses();

  claim.hypotheses = {
      definition("p_cont = softmax(f), p_pos = softmax(g).", "It says what they are."),
      definition("Z_cont = sum_j exp(f_j), Z_pos = sum_j exp(g_j).", "It says what they are."),
      needed("Z_joint = sum_j exp(f_j + g_j): the score is additive.",
             "With another score, here f_j g_j, Z_joint is another number.", [] {
               return for_all(
                   Role::statement,
                   "Z_joint = sum exp(f g): sum p_cont p_pos / (Z_joint/(Z_cont Z_pos)) - "
                   "1 = 0",
                   ZOfProductNormalises{}, {scores({1, 0}, {2, 0})});
             })};
  return claim;
}

}  // namespace plumbline::proofs_checks::bam
