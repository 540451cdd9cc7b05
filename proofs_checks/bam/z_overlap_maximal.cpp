// SPDX-License-Identifier: Apache-2.0
#include "proofs_checks/bam/claims.hpp"
#include "proofs_checks/bam/normalisers.hpp"
#include "proofs_checks/pictures/pictures.hpp"
#include "proofs_checks/samples.hpp"

namespace plumbline::proofs_checks::bam {
namespace {

/// <p_cont, p_cont> - <p_cont, p_pos>: is q = p the best partner of p?
struct MaximalAtCoincidence {
  static constexpr Relation relation = Relation::at_least_zero;
  template <class R>
  std::vector<R> operator()(const Inputs<R>& in) const {
    const Normalisers<R> n(in);
    return {n.content_square() - n.overlap()};
  }
};

/// max_j p_cont(j) - <p_cont, p_pos>, and ||p||^2 ||q||^2 - <p, q>^2.
struct BoundedByPeakAndCosine {
  static constexpr Relation relation = Relation::at_least_zero;
  template <class R>
  std::vector<R> operator()(const Inputs<R>& in) const {
    const Normalisers<R> n(in);
    R peak = n.p_cont(0);
    for (int j = 1; j < n.keys(); ++j) peak = reference::maximum(peak, n.p_cont(j));
    return {peak - n.overlap(),
            n.content_square() * n.position_square() - n.overlap() * n.overlap()};
  }
};

/// The mutant of the correction: Cauchy-Schwarz without the square root.
struct BoundedBySquares {
  static constexpr Relation relation = Relation::at_least_zero;
  template <class R>
  std::vector<R> operator()(const Inputs<R>& in) const {
    const Normalisers<R> n(in);
    return {n.content_square() * n.position_square() - n.overlap()};
  }
};

}  // namespace

Claim z_overlap_maximal() {
  Claim claim;
  claim.id = "bam/z_overlap_maximal";
  claim.title = "The overlap is maximal when content and position coincide";
  claim.source = source("Appendix K.2, first bullet, second half");
  claim.statement =
      "<p_cont, p_pos> is maximal when the two distributions coincide: for a given p_cont, "
      "<p_cont, p_pos> <= <p_cont, p_cont>.";
  claim.hypotheses = {"p_cont and p_pos are softmax vectors over the same keys."};
  claim.implicit = shared_hypotheses();
  claim.implicit.push_back(
      "Read for a given p_cont. Read over all pairs, the supremum is 1, and no pair that coincides "
      "reaches it with two keys or more (bam/z_overlap_range): false as well.");
  claim.correction =
      "For a given p_cont, <p_cont, p_pos> <= max_j p_cont(j), approached as p_pos concentrates on "
      "the largest p_cont(j). What is maximal exactly when they coincide is the cosine: "
      "<p, q>^2 <= ||p||^2 ||q||^2.";
  claim.derivation =
      "q -> <p, q> is linear on the simplex, so its maximum lies at a vertex: max_j p_j, at the "
      "one-hot vector of the largest p_j, and not at q = p unless p is uniform or one-hot itself. "
      "Two "
      "keys, f = (1, 0), g = (2, 0): <p, p> = (e^2 + 1)/(e + 1)^2 = 0.6068 and "
      "<p, q> = (e^3 + 1)/((e + 1)(e^2 + 1)) = 0.6760. Cauchy-Schwarz bounds the cosine by 1; "
      "equality needs q = c p, and both sum to 1, so q = p.";
  claim.derived = Verdict::refuted;
  claim.checks = [] {
    return together(
        {for_all(Role::statement, "<p_cont, p_cont> - <p_cont, p_pos> >= 0", MaximalAtCoincidence{},
                 score_pairs(true)),
         for_all(Role::correction,
                 "max p_cont - <p_cont, p_pos> >= 0 and ||p||^2 ||q||^2 - <p, q>^2 >= 0",
                 BoundedByPeakAndCosine{}, score_pairs(true))});
  };
  claim.pictures = {pictures::overlap_of_mixtures};
  claim.mutant = "<p, q> <= ||p||^2 ||q||^2, the cosine bound without its root.";
  claim.mutant_checks = [] {
    return for_all(Role::statement, "||p||^2 ||q||^2 - <p, q> >= 0", BoundedBySquares{},
                   score_pairs(true));
  };
  return claim;
}

}  // namespace plumbline::proofs_checks::bam
