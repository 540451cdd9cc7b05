// SPDX-License-Identifier: Apache-2.0
#include "proofs_checks/bam/normalisers.hpp"
#include "proofs_checks/pictures/pictures.hpp"

namespace plumbline::proofs_checks::bam {

void claims_of_overlap(Claims& claims) {
  const auto dot_at_most_one =
      at_least_zero<"p", "q">([]<class R>(const Vector<R>& p, const Vector<R>& q) {
        const R product = dot(p, q);
        return std::vector<Placed<R>>{{product, "<p, q>"}, {R(1.0) - product, "1 - <p, q>"}};
      });
  const auto overlap_and_rest = of_normalisers([]<class R>(const Normalisers<R>& n) {
    return std::vector<R>{n.overlap(), R(1.0) - n.overlap()};
  });
  claims["bam/z_overlap_range"] = Claim({
      .title = "The overlap of content and position lies in [0, 1]",
      .source = source("Appendix K.2, first bullet, first half"),
      .statement = "<p_cont, p_pos> = sum_j p_cont(j) p_pos(j) lies in [0, 1].",
      .hypotheses = {needed({"p_cont and p_pos are not negative and sum to 1.", "p", at_most(1)},
                            "(2, 0) and (1, 0) have the product 2.",
                            check("1 - <p, q> >= 0 with p = (2, 0), not normalised",
                                  dot_at_most_one, {{{"p", {2, 0}}, {"q", {1, 0}}}})),
                     not_needed("They are softmax vectors.", "Zeros do no harm.",
                                check("<p, q> >= 0 and 1 - <p, q> >= 0 for p, q with zeros",
                                      dot_at_most_one,
                                      {{{"p", {1, 0}}, {"q", {0, 1}}},
                                       {{"p", {1, 0}}, {"q", {1, 0}}},
                                       {{"p", {0.5, 0.5, 0}}, {"q", {0.25, 0, 0.75}}}})),
                     definition("Over the same keys.", "Otherwise there is no product.")},
      .implicit = shared_hypotheses(),
      .correction = "Sharper: with two or more keys and finite scores, 0 < <p_cont, p_pos> < 1. "
                    "The paper's \"minimal when they are disjoint\" describes an infimum: softmax "
                    "vectors have no zeros, so they are never disjoint.",
      .proof = holds(
          "All terms are products of non-negative numbers, so the sum is >= 0. Since p_pos(j) <= "
          "1, the sum is <= sum_j p_cont(j) = 1. A softmax is positive in every component, so the "
          "sum is > 0; with two keys or more every p_pos(j) < 1, so it is < 1."),
      .checks = {check("<p_cont, p_pos> >= 0 and 1 - <p_cont, p_pos> >= 0",
                       at_least_zero(overlap_and_rest), score_pairs(true)),
                 correction("both inequalities are strict with 2 keys or more",
                            above_zero(overlap_and_rest), score_pairs(false))},
      .mutant = {"<p_cont, p_pos> is at least 1/n, its value for uniform vectors.",
                 check("<p_cont, p_pos> - 1/n >= 0",
                       at_least_zero(of_normalisers([]<class R>(const Normalisers<R>& n) {
                         return n.overlap() - R(1.0) / R(n.keys());
                       })),
                       score_pairs(true))},
  });

  const auto bounded = at_least_zero(of_normalisers([]<class R>(const Normalisers<R>& n) {
    R peak = n.p_cont(0);
    for (int j = 1; j < n.keys(); ++j) peak = maximum(peak, n.p_cont(j));
    return std::vector<R>{peak - n.overlap(),
                          n.content_square() * n.position_square() - n.overlap() * n.overlap()};
  }));
  claims["bam/z_overlap_maximal"] = Claim({
      .title = "The overlap is maximal when content and position coincide",
      .source = source("Appendix K.2, first bullet, second half"),
      .statement = "<p_cont, p_pos> is maximal when the two distributions coincide: for a given "
                   "p_cont, <p_cont, p_pos> <= <p_cont, p_cont>.",
      .hypotheses = {"p_cont and p_pos are softmax vectors over the same keys."},
      .implicit = shared_hypotheses(
          {"Read for a given p_cont. Read over all pairs, the supremum is 1, and no pair that "
           "coincides reaches it with two keys or more (bam/z_overlap_range): false as well."}),
      .correction = "For a given p_cont, <p_cont, p_pos> <= max_j p_cont(j), approached as p_pos "
                    "concentrates on the largest p_cont(j). What is maximal exactly when they "
                    "coincide is the cosine: <p, q>^2 <= ||p||^2 ||q||^2.",
      .proof = refuted(
          "q -> <p, q> is linear on the simplex, so its maximum lies at a vertex: max_j p_j, at "
          "the one-hot vector of the largest p_j, and not at q = p unless p is uniform or one-hot "
          "itself. Two keys, f = (1, 0), g = (2, 0): <p, p> = (e^2 + 1)/(e + 1)^2 = 0.6068 and <p, "
          "q> = (e^3 + 1)/((e + 1)(e^2 + 1)) = 0.6760. Cauchy-Schwarz bounds the cosine by 1; "
          "equality needs q = c p, and both sum to 1, so q = p."),
      .checks = {check("<p_cont, p_cont> - <p_cont, p_pos> >= 0",
                       at_least_zero(of_normalisers([]<class R>(const Normalisers<R>& n) {
                         return n.content_square() - n.overlap();
                       })),
                       score_pairs(true)),
                 correction("max p_cont - <p_cont, p_pos> >= 0 and ||p||^2 ||q||^2 - <p, q>^2 >= 0",
                            bounded, score_pairs(true))},
      .mutant = {"<p, q> <= ||p||^2 ||q||^2, the cosine bound without its root.",
                 check("||p||^2 ||q||^2 - <p, q> >= 0",
                       at_least_zero(of_normalisers([]<class R>(const Normalisers<R>& n) {
                         return n.content_square() * n.position_square() - n.overlap();
                       })),
                       score_pairs(true))},
      .pictures = {pictures::overlap_of_mixtures},
  });

  const auto over_overlap = equals_zero(of_normalisers([]<class R>(const Normalisers<R>& n) {
    R total(0.0);
    for (int j = 0; j < n.keys(); ++j) total += n.p_cont(j) * n.p_pos(j) / n.overlap();
    return total - R(1.0);
  }));
  // The mutant: the cosine's normaliser ||p_cont|| ||p_pos|| in place of Z.
  const auto over_norms_is_one = equals_zero(of_normalisers([]<class R>(const Normalisers<R>& n) {
    return n.overlap() / sqrt(n.content_square() * n.position_square()) - R(1.0);
  }));
  claims["bam/z_renormalisation"] = Claim({
      .title = "The re-normalization identity",
      .source = source("Appendix K.2, third bullet"),
      .statement = "With Z = sum_j p_cont(j) p_pos(j), sum_j [p_cont(j) p_pos(j)] Z = 1.",
      .hypotheses = {"p_cont and p_pos are softmax vectors over the same keys."},
      .implicit = shared_hypotheses(),
      .correction = "With that Z, sum_j [p_cont(j) p_pos(j)] / Z = 1.",
      .proof = refuted("The left side is Z Z = Z^2, and Z lies in (0, 1) with two keys or more "
                       "(bam/z_overlap_range), so Z^2 < 1; only a single key gives 1. Two keys "
                       "with f = g = 0: Z = 1/2, Z^2 = 1/4. \"Inverting that sum\" in the text "
                       "asks for the factor 1/Z, which gives Z / Z = 1."),
      .checks = {check("sum p_cont p_pos Z - 1 = 0",
                       equals_zero(of_normalisers([]<class R>(const Normalisers<R>& n) {
                         return n.overlap() * n.overlap() - R(1.0);
                       })),
                       score_pairs(true)),
                 correction("sum p_cont p_pos / Z - 1 = 0", over_overlap, score_pairs(true))},
      .mutant = {"sum_j p_cont(j) p_pos(j) / (||p_cont|| ||p_pos||) = 1.",
                 check("sum p_cont p_pos / (||p_cont|| ||p_pos||) - 1 = 0", over_norms_is_one,
                       score_pairs(true))},
  });

  // p_joint(j) - p_cont(j) p_pos(j) Z^power with Z = 1/<p_cont, p_pos>: Theorem 1 has power -1, the
  // correction +1, the mutant +2.
  const auto joint_from_z =
      equals_zero(of_normalisers([]<class R>(const Normalisers<R>& n, int power) {
        const R z = R(1.0) / n.overlap();
        const R factor = power == -1 ? n.overlap() : power == 1 ? z : z * z;
        return at_each("j", 0, n.keys(),
                       [&](int j) { return n.p_joint(j) - n.p_cont(j) * n.p_pos(j) * factor; });
      }));
  claims["bam/z_reciprocal_overlap"] = Claim({
      .title = "Z as one over the overlap",
      .source = source("Appendix K.2, last paragraph, against Theorem 1"),
      .statement = "The Z of Theorem 1, p_joint = p_cont p_pos / Z, is Z = 1/<p_cont, p_pos>.",
      .hypotheses = {"p_cont and p_pos are softmax vectors over the same keys.",
                     "One letter Z names one quantity throughout the paper."},
      .implicit = shared_hypotheses(),
      .correction = "With Z = 1/<p_cont, p_pos> it is p_joint = p_cont p_pos Z: Z multiplies. "
                    "Theorem 1's Z, which divides, is <p_cont, p_pos>.",
      .proof =
          refuted("bam/z_sum: the divisor is unique and equals <p_cont, p_pos>. It equals its own "
                  "reciprocal only at 1, which two keys or more never reach (bam/z_overlap_range). "
                  "Two keys with f = g = 0: p_joint = 1/2, while p_cont p_pos / 2 = 1/8."),
      .checks = {check("p_joint - p_cont p_pos / Z = 0, Z = 1/overlap", joint_from_z(-1),
                       score_pairs(true)),
                 correction("p_joint - p_cont p_pos Z = 0, Z = 1/overlap", joint_from_z(1),
                            score_pairs(true))},
      .mutant = {"p_joint = p_cont p_pos Z^2 with Z = 1/<p_cont, p_pos>.",
                 check("p_joint - p_cont p_pos Z^2 = 0, Z = 1/overlap", joint_from_z(2),
                       score_pairs(true))},
  });
}

}  // namespace plumbline::proofs_checks::bam
