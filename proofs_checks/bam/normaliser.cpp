// SPDX-License-Identifier: Apache-2.0
#include "proofs_checks/bam/normalisers.hpp"
#include "proofs_checks/pictures/pictures.hpp"

namespace plumbline::proofs_checks::bam {

void claims_of_normaliser(Claims& claims) {
  // The largest weight of softmax((gamma + 1/8)(f + g)) less that of softmax(gamma (f + g)); for
  // the mutant the first key's weight, largest or not.
  const auto largest_grows = at_least_zero<"gamma", "f", "g">(
      []<class R>(R gamma, const Vector<R>& f, const Vector<R>& g, bool mutant) {
        const auto weight = [&](const R& factor) {
          Vector<R> logits = f + g;
          for (R& logit : logits) logit = factor * logit;
          const auto p = softmax(logits).probability;
          R largest = p[0];
          for (const R& other : p) {
            if (!mutant) largest = maximum(largest, other);
          }
          return largest;
        };
        return weight(gamma + R(0.125)) - weight(gamma);
      });
  const auto rows = with(score_pairs(true, 20), grid({{"gamma", {0, 0.5, 1, 3}}}));
  claims["bam/temperature"] = Claim({
      .title = "The inverse temperature gamma controls how sharply attention peaks",
      .source = source("Appendix K.1, last formula"),
      .statement = "With p_ij proportional to exp(gamma (f_j + g_j)), gamma controls the "
                   "sharpness: the largest weight does not fall as gamma grows.",
      .hypotheses = {needed(
          {"gamma >= 0.", "gamma", at_least(0)}, "Below 0 a smaller gamma is the sharper one.",
          check("gamma = -1: max p at -7/8 - max p at -1 >= 0", largest_grows(false),
                {scores({1, 0}, {2, 0}).with({"gamma", -1})}))},
      .implicit = shared_hypotheses(),
      .proof = holds("For the key of the largest score x, d ln p/d gamma = x - sum_z p_z x_z >= 0: "
                     "the largest score is at least the mean. From gamma = 0 (uniform) to gamma -> "
                     "infinity (the largest key, or equal shares of several)."),
      .checks = check("max p at gamma + 1/8 - max p at gamma >= 0", largest_grows(false), rows),
      .mutant = {"Every key's weight grows with gamma.",
                 check("p_0 at gamma + 1/8 - p_0 at gamma >= 0", largest_grows(true), rows)},
  });

  claims["bam/z_sum"] = Claim({
      .title = "The Z that normalises",
      .source = source("Theorem 1 (last line of the proof) with the constants of K.1"),
      .statement = "The only Z for which sum_j p_cont(j) p_pos(j) / Z = 1 is Z = sum_j p_cont(j) "
                   "p_pos(j) = Z_joint / (Z_cont Z_pos).",
      .hypotheses =
          {definition("p_cont = softmax(f), p_pos = softmax(g).", "It says what they are."),
           definition("Z_cont = sum_j exp(f_j), Z_pos = sum_j exp(g_j).", "It says what they are."),
           needed(
               "Z_joint = sum_j exp(f_j + g_j): the score is additive.",
               "With another score, here f_j g_j, Z_joint is another number.",
               check("Z_joint = sum exp(f g): sum p_cont p_pos / (Z_joint/(Z_cont Z_pos)) - 1 = 0",
                     equals_zero([]<class R>(const Inputs<R>& in) {
                       const Normalisers<R> n(in, product_of(in));
                       return n.overlap() / exp(-n.log_ratio()) - R(1.0);
                     }),
                     {scores({1, 0}, {2, 0})}))},
      .implicit = shared_hypotheses(),
      .proof = holds("sum_j p_cont(j) p_pos(j) = sum_j exp(f_j + g_j) / (Z_cont Z_pos) = Z_joint / "
                     "(Z_cont Z_pos), which is positive; dividing a positive number by Z gives 1 "
                     "for Z equal to it and for no other."),
      .checks = check("sum p_cont p_pos / (Z_joint / (Z_cont Z_pos)) - 1 = 0",
                      equals_zero(of_normalisers([]<class R>(const Normalisers<R>& n) {
                        return n.overlap() / exp(-n.log_ratio()) - R(1.0);
                      })),
                      score_pairs(true)),
      .mutant = {"Z = Z_joint / Z_cont.",
                 check("sum p_cont p_pos / (Z_joint / Z_cont) - 1 = 0",
                       equals_zero(of_normalisers([]<class R>(const Normalisers<R>& n) {
                         return n.overlap() / exp(n.joint.lse - n.content.lse) - R(1.0);
                       })),
                       score_pairs(true))},
  });

  // (Z_cont Z_pos / Z_joint)^sign - sum_j p_cont(j) p_pos(j): sign +1 as printed, -1 corrected.
  const auto ratio_is_overlap =
      equals_zero(of_normalisers([]<class R>(const Normalisers<R>& n, int sign) {
        return exp(R(sign) * n.log_ratio()) - n.overlap();
      }));
  claims["bam/z_ratio_as_printed"] = Claim({
      .title = "The factorization normalizer of K.1, printed as two expressions",
      .source = source("Appendix K.1, displayed formula of the factorization normalizer"),
      .statement = "Z = Z_cont Z_pos / Z_joint = sum_j softmax(f)_j softmax(g)_j.",
      .hypotheses =
          {"Z_cont = sum_j exp(f_j), Z_pos = sum_j exp(g_j), Z_joint = sum_j exp(f_j + g_j)."},
      .implicit = shared_hypotheses(),
      .correction = "Z_joint / (Z_cont Z_pos) = sum_j softmax(f)_j softmax(g)_j.",
      .proof = refuted(
          "By bam/z_sum the sum is Z_joint / (Z_cont Z_pos): the two printed expressions are each "
          "other's reciprocal. They agree only where both are 1, which takes a sum of products of "
          "1; with two or more keys and finite scores the sum is below 1. Two keys with f = g = 0: "
          "Z_cont = Z_pos = Z_joint = 2, so the left side is 2 and the right side 1/2."),
      .checks = {check("Z_cont Z_pos / Z_joint - sum p_cont p_pos = 0", ratio_is_overlap(1),
                       score_pairs(false)),
                 correction("Z_joint / (Z_cont Z_pos) - sum p_cont p_pos = 0", ratio_is_overlap(-1),
                            score_pairs(true))},
      .mutant = {"Z_joint / Z_cont = sum_j softmax(f)_j softmax(g)_j.",
                 check("Z_joint / Z_cont - sum p_cont p_pos = 0",
                       equals_zero(of_normalisers([]<class R>(const Normalisers<R>& n) {
                         return exp(n.joint.lse - n.content.lse) - n.overlap();
                       })),
                       score_pairs(true))},
      .pictures = {pictures::z_random_pairs},
  });
}

}  // namespace plumbline::proofs_checks::bam
