// SPDX-License-Identifier: Apache-2.0
#include "proofs_checks/bam/claims.hpp"
#include "proofs_checks/bam/normalisers.hpp"
#include "proofs_checks/samples.hpp"

namespace plumbline::proofs_checks::bam {
namespace {

struct NormAtMostOne {
  static constexpr Relation relation = Relation::at_least_zero;
  template <class R>
  std::vector<R> operator()(const Inputs<R>& in) const {
    const Normalisers<R> n(in);
    return {R(1.0) - n.content_square(), R(1.0) - n.position_square()};
  }
};

/// ||p||_2^2 - 1/n >= 0; the mutant: 1/n - ||p||_2^2 >= 0.
template <bool mutant>
struct NormAtLeastUniform {
  static constexpr Relation relation = Relation::at_least_zero;
  template <class R>
  std::vector<R> operator()(const Inputs<R>& in) const {
    const Normalisers<R> n(in);
    const R excess = n.content_square() - R(1.0) / R(n.keys());
    return {mutant ? -excess : excess};
  }
};

struct SquareAtMostOne {
  static constexpr Relation relation = Relation::at_least_zero;
  template <class R>
  std::vector<R> operator()(const Inputs<R>& in) const {
    return {R(1.0) - reference::dot(in["p"], in["p"])};
  }
};

}  // namespace

Claim z_norms() {
  Claim claim;
  claim.id = "bam/z_norms";
  claim.title = "A probability vector has a Euclidean norm of at most 1";
  claim.source = source("Appendix K.2, second bullet");
  claim.statement = "||p||_2 <= ||p||_1 = 1 for any p in the simplex.";
  claim.correction = "From below, ||p||_2^2 >= 1/n, with equality for the uniform vector.";
  claim.derivation =
      "p_j^2 <= p_j because 0 <= p_j <= 1; the sum of p_j is 1. Cauchy-Schwarz: 1 = (sum p_j)^2 <= "
      "n sum p_j^2.";
  claim.derived = Verdict::holds;
  claim.checks = [] {
    return together(
        {for_all(Role::statement, "1 - ||p||^2 >= 0", NormAtMostOne{}, score_pairs(true)),
         for_all(Role::correction, "||p||^2 - 1/n >= 0", NormAtLeastUniform<false>{},
                 score_pairs(true))});
  };
  claim.mutant = "||p||_2^2 <= 1/n.";
  claim.mutant_checks = [] {
    return for_all(Role::statement, "1/n - ||p||^2 >= 0", NormAtLeastUniform<true>{},
                   score_pairs(true));
  };
  claim.implicit = shared_hypotheses();

  claim.hypotheses = {
      not_needed("p is a softmax vector.", "Any point of the simplex will do, as the paper says.",
                 [] {
                   return for_all(
                       Role::statement, "1 - ||p||^2 >= 0 for p with zeros", SquareAtMostOne{},
                       {Sample{}.with("p", {1, 0, 0}), Sample{}.with("p", {0.5, 0.5, 0})});
                 }),
      needed("p lies in the simplex: no component is negative.", "(2, -1) sums to 1 as well.", [] {
        return for_all(Role::statement, "1 - ||p||^2 >= 0 for p = (2, -1)", SquareAtMostOne{},
                       {Sample{}.with("p", {2, -1})});
      }).where("p", at_least(0))};
  return claim;
}

}  // namespace plumbline::proofs_checks::bam
