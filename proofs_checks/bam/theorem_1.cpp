// SPDX-License-Identifier: Apache-2.0
#include "proofs_checks/bam/claims.hpp"
#include "proofs_checks/bam/normalisers.hpp"
#include "proofs_checks/samples.hpp"

namespace plumbline::proofs_checks::bam {
namespace {

/// p_joint(j) - p_cont(j) p_pos(j) / Z, Z = sum_z p_cont(z) p_pos(z), for every key j.
struct JointIsProductOverZ {
  static constexpr Relation relation = Relation::equals_zero;
  template <class R>
  std::vector<R> operator()(const Inputs<R>& in) const {
    const Normalisers<R> n(in);
    std::vector<R> residuals;
    for (int j = 0; j < n.keys(); ++j) {
      residuals.push_back(n.p_joint(j) - n.p_cont(j) * n.p_pos(j) / n.overlap());
    }
    return residuals;
  }
};

/// The mutant: Z forgotten.
struct JointIsProduct {
  static constexpr Relation relation = Relation::equals_zero;
  template <class R>
  std::vector<R> operator()(const Inputs<R>& in) const {
    const Normalisers<R> n(in);
    std::vector<R> residuals;
    for (int j = 0; j < n.keys(); ++j) {
      residuals.push_back(n.p_joint(j) - n.p_cont(j) * n.p_pos(j));
    }
    return residuals;
  }
};

struct ProductScoreFactorises {
  static constexpr Relation relation = Relation::equals_zero;
  template <class R>
  std::vector<R> operator()(const Inputs<R>& in) const {
    const Normalisers<R> n(in, product_of(in));
    return {n.p_joint(0) - n.p_cont(0) * n.p_pos(0) / n.overlap()};
  }
};

}  // namespace

Claim theorem_1() {
  Claim claim;
  claim.id = "bam/theorem_1";
  claim.title = "An additive score factorises the attention weights";
  claim.source = source("Theorem 1 and its proof, section 2.1");
  claim.statement =
      "If the score is f_j + g_j, then p_ij = softmax(f + g)_j = p(f_j) p(g_j) / Z with "
      "p(f) = softmax(f), p(g) = softmax(g), Z = sum_z p(f_z) p(g_z).";
  claim.derivation =
      "exp(f_j + g_j) = exp(f_j) exp(g_j) = Z_cont p(f_j) Z_pos p(g_j). Dividing by "
      "Z_joint = sum_z exp(f_z + g_z) = Z_cont Z_pos sum_z p(f_z) p(g_z) leaves "
      "p(f_j) p(g_j) / Z. Z > 0 because every term is positive. This is an identity in the reals; "
      "no other hypothesis is used.";
  claim.derived = Verdict::holds;
  claim.checks = [] {
    return for_all(Role::statement, "p_joint - p_cont p_pos / Z = 0 at every key",
                   JointIsProductOverZ{}, score_pairs(true));
  };
  claim.mutant = "p_joint = p_cont p_pos, without Z.";
  claim.mutant_checks = [] {
    return for_all(Role::statement, "p_joint - p_cont p_pos = 0 at every key", JointIsProduct{},
                   score_pairs(true));
  };
  claim.implicit = shared_hypotheses();
  claim.hypotheses = {
      needed("The score is additive: f_cont(q_i, k_j) + g_pos(i, j).",
             "The exponential of another score, here the product f_j g_j, does not factorise.", [] {
               return for_all(Role::statement, "softmax(f g)_j - p_cont p_pos / Z = 0",
                              ProductScoreFactorises{}, {scores({1, 0}, {2, 0})});
             })};
  claim.implicit.push_back(definition(
      "\"Marginal probability\" names softmax(f) and softmax(g); they are not the marginals of "
      "p_ij, which is a distribution over the single index j (see bam/z_mutual_information).",
      "It says what the words mean."));
  return claim;
}

}  // namespace plumbline::proofs_checks::bam
