// SPDX-License-Identifier: Apache-2.0
#include "proofs_checks/bam/claims.hpp"
#include "proofs_checks/bam/normalisers.hpp"
#include "proofs_checks/samples.hpp"

namespace plumbline::proofs_checks::bam {
namespace {

/// sum_j p_joint ln(p_joint / (p_cont p_pos)) - ln(Z_cont Z_pos / Z_joint).
struct InformationIsLogRatio {
  static constexpr Relation relation = Relation::equals_zero;
  template <class R>
  std::vector<R> operator()(const Inputs<R>& in) const {
    const Normalisers<R> n(in);
    return {n.information() - n.log_ratio()};
  }
};

/// The mutant: Z_pos forgotten on the right.
struct InformationWithoutPosition {
  static constexpr Relation relation = Relation::equals_zero;
  template <class R>
  std::vector<R> operator()(const Inputs<R>& in) const {
    const Normalisers<R> n(in);
    return {n.information() - (n.content.lse - n.joint.lse)};
  }
};

struct InformationOfProduct {
  static constexpr Relation relation = Relation::equals_zero;
  template <class R>
  std::vector<R> operator()(const Inputs<R>& in) const {
    const Normalisers<R> n(in, product_of(in));
    return {n.information() - n.log_ratio()};
  }
};

}  // namespace

Claim z_information_identity() {
  Claim claim;
  claim.id = "bam/z_information_identity";
  claim.title = "The sum of K.3 equals ln(Z_cont Z_pos / Z_joint)";
  claim.source = source("Appendix K.3, displayed formulas of I(cont; pos), first equality");
  claim.statement =
      "I = sum_j p_joint(j) ln[p_joint(j) / (p_cont(j) p_pos(j))] = ln(Z_cont Z_pos / Z_joint).";
  claim.derivation =
      "p_joint(j) / (p_cont(j) p_pos(j)) = Z_cont Z_pos / Z_joint for every j (bam/theorem_1 with "
      "bam/z_sum), so the sum is its logarithm times sum_j p_joint(j) = 1. As the quotient does "
      "not "
      "depend on j, averaging over any other distribution gives the same number. By bam/z_sum, "
      "I = -ln <p_cont, p_pos>.";
  claim.derived = Verdict::holds;
  claim.checks = [] {
    return for_all(Role::statement, "I - ln(Z_cont Z_pos / Z_joint) = 0", InformationIsLogRatio{},
                   score_pairs(true));
  };
  claim.mutant = "I = ln(Z_cont / Z_joint).";
  claim.mutant_checks = [] {
    return for_all(Role::statement, "I - ln(Z_cont / Z_joint) = 0", InformationWithoutPosition{},
                   score_pairs(true));
  };
  claim.implicit = shared_hypotheses();
  claim.hypotheses = {
      needed("p_joint = softmax(f + g): the score is additive.",
             "The exponential of another score, here the product f_j g_j, does not factorise.",
             [] {
               return for_all(Role::statement,
                              "p_joint = softmax(f g): I - ln(Z_cont Z_pos / Z_joint) = 0",
                              InformationOfProduct{}, {scores({1, 0}, {2, 0})});
             }),
      definition("p_cont = softmax(f), p_pos = softmax(g).", "It says what they are.")};
  return claim;
}

}  // namespace plumbline::proofs_checks::bam
