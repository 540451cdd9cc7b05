// SPDX-License-Identifier: Apache-2.0
#include "proofs_checks/bam/normalisers.hpp"
#include "proofs_checks/pictures/pictures.hpp"

namespace plumbline::proofs_checks::bam {

void claims_of_information(Claims& claims) {
  claims["bam/z_information_identity"] = Claim({
      .title = "The sum of K.3 equals ln(Z_cont Z_pos / Z_joint)",
      .source = source("Appendix K.3, displayed formulas of I(cont; pos), first equality"),
      .statement = "I = sum_j p_joint(j) ln[p_joint(j) / (p_cont(j) p_pos(j))] = ln(Z_cont Z_pos / "
                   "Z_joint).",
      .hypotheses =
          {needed("p_joint = softmax(f + g): the score is additive.",
                  "The exponential of another score, here the product f_j g_j, does not factorise.",
                  check("p_joint = softmax(f g): I - ln(Z_cont Z_pos / Z_joint) = 0",
                        equals_zero([]<class R>(const Inputs<R>& in) {
                          const Normalisers<R> n(in, product_of(in));
                          return n.information() - n.log_ratio();
                        }),
                        {scores({1, 0}, {2, 0})})),
           definition("p_cont = softmax(f), p_pos = softmax(g).", "It says what they are.")},
      .implicit = shared_hypotheses(),
      .proof =
          holds("p_joint(j) / (p_cont(j) p_pos(j)) = Z_cont Z_pos / Z_joint for every j "
                "(bam/theorem_1 with bam/z_sum), so the sum is its logarithm times sum_j "
                "p_joint(j) = 1. As the quotient does not depend on j, averaging over any other "
                "distribution gives the same number. By bam/z_sum, I = -ln <p_cont, p_pos>."),
      .checks = check("I - ln(Z_cont Z_pos / Z_joint) = 0",
                      equals_zero(of_normalisers([]<class R>(const Normalisers<R>& n) {
                        return n.information() - n.log_ratio();
                      })),
                      score_pairs(true)),
      .mutant = {"I = ln(Z_cont / Z_joint).",
                 check("I - ln(Z_cont / Z_joint) = 0",
                       equals_zero(of_normalisers([]<class R>(const Normalisers<R>& n) {
                         return n.information() - (n.content.lse - n.joint.lse);
                       })),
                       score_pairs(true))},
  });

  // Z - exp(factor I) with Theorem 1's Z: +1 as printed, -1 corrected, -2 the mutant.
  const auto z_is_exp =
      equals_zero(of_normalisers([]<class R>(const Normalisers<R>& n, int factor) {
        return n.overlap() - exp(R(factor) * n.information());
      }));
  claims["bam/z_exp_information"] = Claim({
      .title = "Z is the exponential of I",
      .source = source("Appendix K.3, Z = exp(I(cont; pos)), against Theorem 1"),
      .statement = "The Z of Theorem 1, sum_j p_cont(j) p_pos(j), equals exp(I), I = sum_j "
                   "p_joint(j) ln[p_joint(j) / (p_cont(j) p_pos(j))].",
      .hypotheses = {"One letter Z names one quantity throughout the paper."},
      .implicit = shared_hypotheses(),
      .correction = "Z = exp(-I) for the Z of Theorem 1. exp(I) is the first expression of K.1, "
                    "Z_cont Z_pos / Z_joint (bam/z_information_identity), which is 1/Z.",
      .proof = refuted("I = ln(Z_cont Z_pos / Z_joint) = -ln Z by bam/z_information_identity and "
                       "bam/z_sum. Two keys with f = g = 0: Z = 1/2, I = ln 2, exp(I) = 2."),
      .checks = {check("sum p_cont p_pos - exp(I) = 0, I = ln(Z_cont Z_pos / Z_joint)", z_is_exp(1),
                       score_pairs(true)),
                 correction("sum p_cont p_pos - exp(-I) = 0", z_is_exp(-1), score_pairs(true))},
      .mutant = {"Z = exp(-2 I).",
                 check("sum p_cont p_pos - exp(-2 I) = 0", z_is_exp(-2), score_pairs(true))},
      .pictures = {pictures::z_random_pairs},
  });

  // The mutant: I as minus the logarithm of the cosine of p_cont and p_pos.
  const auto minus_log_cosine = equals_zero(of_normalisers([]<class R>(const Normalisers<R>& n) {
    return n.information() + log(n.overlap() / sqrt(n.content_square() * n.position_square()));
  }));
  claims["bam/z_mutual_information"] = Claim({
      .title = "I is the mutual information between content and position",
      .source = source("Appendix K.3, definition of I(cont; pos)"),
      .statement =
          "I = sum_j p_joint(j) ln[p_joint(j) / (p_cont(j) p_pos(j))] is the mutual information of "
          "content and position under the joint distribution p_joint. Checked through a "
          "consequence: content and position are functions of the key j, so each has at most n "
          "values, and a mutual information of such variables is at most their entropy: I <= ln n.",
      .hypotheses = {"p_joint = softmax(f + g); p_cont and p_pos are called its marginals."},
      .implicit = shared_hypotheses({"There are n keys; the sum runs over them."}),
      .correction =
          "I = -ln <p_cont, p_pos>, the negative logarithm of the overlap: positive with two keys "
          "or more, and unbounded as content and position favour different keys.",
      .proof = refuted(
          "A mutual information needs a joint law of two variables and its own two marginals. "
          "p_joint is a law of one index j; p_cont and p_pos are other laws of the same index and "
          "not marginals of it (if (j, j) is taken as the pair, both marginals are p_joint, and "
          "the mutual information is the entropy of p_joint). The reference p_cont p_pos sums to "
          "<p_cont, p_pos> < 1, so I is not even a divergence between two probability laws. Two "
          "keys, f = (1, 0), g = (0, 1): <p_cont, p_pos> = 2 e / (1 + e)^2 = 0.3932, so I = 0.9334 "
          "> ln 2 = 0.6931; with f = (a, 0), g = (0, a) I grows without bound. The correction is "
          "bam/z_information_identity with bam/z_sum."),
      .checks = {check("ln n - I >= 0, I = ln(Z_cont Z_pos / Z_joint), n keys",
                       at_least_zero(of_normalisers([]<class R>(const Normalisers<R>& n) {
                         return log(R(n.keys())) - n.information();
                       })),
                       score_pairs(true)),
                 correction("I + ln <p_cont, p_pos> = 0",
                            equals_zero(of_normalisers([]<class R>(const Normalisers<R>& n) {
                              return n.information() + log(n.overlap());
                            })),
                            score_pairs(true))},
      .mutant = {"I is minus the logarithm of the cosine of p_cont and p_pos.",
                 check("I + ln(<p, q> / (||p|| ||q||)) = 0", minus_log_cosine, score_pairs(true))},
  });

  // Z / n - 1 (the correction), or Z / (n - 1) - 1 (the mutant: the own key not counted).
  const auto z_counts_keys =
      equals_zero(of_normalisers([]<class R>(const Normalisers<R>& n, int uncounted) {
        return exp(n.log_ratio()) / R(n.keys() - uncounted) - R(1.0);
      }));
  // The positional score replaced by a constant.
  std::vector<Sample> constant_position;
  for (const Sample& pair : score_pairs(false)) {
    const std::vector<double>& f = pair.quantities[0].lower;
    constant_position.push_back(scores(f, std::vector<double>(f.size(), -0.5)));
  }
  claims["bam/z_one_iff_independent"] = Claim({
      .title = "Z = 1 if and only if content and position are independent",
      .source = source("Appendix K.3, first bullet"),
      .statement =
          "Z = exp(I) = Z_cont Z_pos / Z_joint is 1 if and only if content and position are "
          "statistically independent. Checked through a consequence: if the positional score is "
          "the same for every key, position cannot depend on content, so Z = 1.",
      .hypotheses = {"Z = exp(I), the reading of K.3."},
      .implicit = shared_hypotheses(
          {"There are at least two keys. (With one key everything is constant and Z = 1.)",
           "\"Independent\" is not defined for p_joint, a law of the single index j "
           "(bam/z_mutual_information). A constant is independent of everything under every "
           "definition."}),
      .correction =
          "A constant positional score over n keys gives Z = n. With two keys or more and finite "
          "scores I > 0 always, so Z = exp(I) is never 1 and I = 0 never happens; Z -> 1 only in "
          "the limit where content and position both concentrate on the same key.",
      .proof = refuted("g_j = c gives Z_pos = n e^c and Z_joint = e^c Z_cont, so Z_cont Z_pos / "
                       "Z_joint = n, whatever f is. In general Z = 1/<p_cont, p_pos> (bam/z_sum) "
                       "and <p_cont, p_pos> < 1 with two keys or more (bam/z_overlap_range). \"Z = "
                       "1 iff I = 0\" is true and empty: neither side occurs. With Theorem 1's Z "
                       "in place of exp(I) the constant score gives 1/n instead of n; also not 1."),
      .checks = {check("Z - 1 = 0 where g is constant, Z = Z_cont Z_pos / Z_joint",
                       equals_zero(of_normalisers([]<class R>(const Normalisers<R>& n) {
                         return exp(n.log_ratio()) - R(1.0);
                       })),
                       constant_position),
                 correction("Z / n - 1 = 0 where g is constant", z_counts_keys(0),
                            constant_position),
                 correction("I > 0 with 2 keys or more",
                            above_zero(of_normalisers(
                                []<class R>(const Normalisers<R>& n) { return n.log_ratio(); })),
                            score_pairs(false))},
      .mutant = {"A constant positional score over n keys gives Z = n - 1.",
                 check("Z / (n - 1) - 1 = 0 where g is constant", z_counts_keys(1),
                       constant_position)},
  });

  claims["bam/z_shared_information"] = Claim({
      .title = "Z grows exponentially with the shared information",
      .source = source("Appendix K.3, second bullet"),
      .statement = "Z grows exponentially with the amount of shared information between content "
                   "and position.",
      .hypotheses = {"Z = exp(I), the reading of K.3."},
      .implicit = {"\"Shared information\" has a meaning apart from I."},
      .proof = {"If shared information means I, the sentence repeats the definition Z = exp(I) and "
                "cannot be false; no other measure is defined, so nothing remains to be checked. "
                "The word misleads: I is not a mutual information (bam/z_mutual_information), it "
                "grows without bound as content and position favour different keys, and Theorem "
                "1's Z = exp(-I) falls as I grows (bam/z_exp_information).",
                Verdict::not_mathematical},
  });
}

}  // namespace plumbline::proofs_checks::bam
