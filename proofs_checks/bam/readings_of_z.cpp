// SPDX-License-Identifier: Apache-2.0
#include "proofs_checks/bam/normalisers.hpp"
#include "proofs_checks/pictures/pictures.hpp"

namespace plumbline::proofs_checks::bam {
namespace {

/// F = -ln Z from sums of plain exponentials.
template <class R>
R free_energy(const Vector<R>& scores) {
  R total(0.0);
  for (const R& score : scores) total += exp(score);
  return -log(total);
}

/// F_joint - F_cont - F_pos.
template <class R>
R interaction(const Inputs<R>& in) {
  return free_energy(Vector<R>(in["f"] + in["g"])) - free_energy(in["f"]) - free_energy(in["g"]);
}

}  // namespace

void claims_of_readings_of_z(Claims& claims) {
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
      .theorem = "readings_of_z.temperature",
      .checks = check("max p at gamma + 1/8 - max p at gamma >= 0", largest_grows(false), rows),
      .mutant = {"Every key's weight grows with gamma.",
                 check("p_0 at gamma + 1/8 - p_0 at gamma >= 0", largest_grows(true), rows)},
  });

  const auto sums_to_one = []<class R>(const Normalisers<R>& n) {
    return n.overlap() / exp(-n.log_ratio()) - R(1.0);
  };
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
                     equals_zero(of_product(sums_to_one)), {scores({1, 0}, {2, 0})}))},
      .implicit = shared_hypotheses(),
      .proof = holds("sum_j p_cont(j) p_pos(j) = sum_j exp(f_j + g_j) / (Z_cont Z_pos) = Z_joint / "
                     "(Z_cont Z_pos), which is positive; dividing a positive number by Z gives 1 "
                     "for Z equal to it and for no other."),
      .theorem = "readings_of_z.z_sum",
      .checks = check("sum p_cont p_pos / (Z_joint / (Z_cont Z_pos)) - 1 = 0",
                      equals_zero(sums_to_one), score_pairs(true)),
      .mutant = {"Z = Z_joint / Z_cont.",
                 check("sum p_cont p_pos / (Z_joint / Z_cont) - 1 = 0",
                       equals_zero([]<class R>(const Normalisers<R>& n) {
                         return n.overlap() / exp(n.joint.lse - n.content.lse) - R(1.0);
                       }),
                       score_pairs(true))},
  });

  const auto ratio_is_overlap = equals_zero([]<class R>(const Normalisers<R>& n, int sign) {
    return exp(R(sign) * n.log_ratio()) - n.overlap();
  });
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
      .theorem = "readings_of_z.z_ratio_as_printed_fails",
      .checks = {check("Z_cont Z_pos / Z_joint - sum p_cont p_pos = 0", ratio_is_overlap(1),
                       score_pairs(false)),
                 correction("Z_joint / (Z_cont Z_pos) - sum p_cont p_pos = 0", ratio_is_overlap(-1),
                            score_pairs(true))},
      .mutant = {"Z_joint / Z_cont = sum_j softmax(f)_j softmax(g)_j.",
                 check("Z_joint / Z_cont - sum p_cont p_pos = 0",
                       equals_zero([]<class R>(const Normalisers<R>& n) {
                         return exp(n.joint.lse - n.content.lse) - n.overlap();
                       }),
                       score_pairs(true))},
      .pictures = {pictures::z_random_pairs},
  });

  const auto dot_at_most_one =
      at_least_zero<"p", "q">([]<class R>(const Vector<R>& p, const Vector<R>& q) {
        const R product = dot(p, q);
        return std::vector<Placed<R>>{{product, "<p, q>"}, {R(1.0) - product, "1 - <p, q>"}};
      });
  const auto overlap_and_rest = []<class R>(const Normalisers<R>& n) {
    return std::vector<R>{n.overlap(), R(1.0) - n.overlap()};
  };
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
      .theorem = "readings_of_z.z_overlap_range",
      .checks = {check("<p_cont, p_pos> >= 0 and 1 - <p_cont, p_pos> >= 0",
                       at_least_zero(overlap_and_rest), score_pairs(true)),
                 correction("both inequalities are strict with 2 keys or more",
                            above_zero(overlap_and_rest), score_pairs(false))},
      .mutant = {"<p_cont, p_pos> is at least 1/n, its value for uniform vectors.",
                 check("<p_cont, p_pos> - 1/n >= 0",
                       at_least_zero([]<class R>(const Normalisers<R>& n) {
                         return n.overlap() - R(1.0) / R(n.keys());
                       }),
                       score_pairs(true))},
  });

  const auto bounded = at_least_zero([]<class R>(const Normalisers<R>& n) {
    R peak = n.p_cont(0);
    for (int j = 1; j < n.keys(); ++j) peak = maximum(peak, n.p_cont(j));
    return std::vector<R>{peak - n.overlap(),
                          n.content_square() * n.position_square() - n.overlap() * n.overlap()};
  });
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
      .theorem = "readings_of_z.z_overlap_maximal_fails",
      .checks = {check("<p_cont, p_cont> - <p_cont, p_pos> >= 0",
                       at_least_zero([]<class R>(const Normalisers<R>& n) {
                         return n.content_square() - n.overlap();
                       }),
                       score_pairs(true)),
                 correction("max p_cont - <p_cont, p_pos> >= 0 and ||p||^2 ||q||^2 - <p, q>^2 >= 0",
                            bounded, score_pairs(true))},
      .mutant = {"<p, q> <= ||p||^2 ||q||^2, the cosine bound without its root.",
                 check("||p||^2 ||q||^2 - <p, q> >= 0",
                       at_least_zero([]<class R>(const Normalisers<R>& n) {
                         return n.content_square() * n.position_square() - n.overlap();
                       }),
                       score_pairs(true))},
      .pictures = {pictures::overlap_of_mixtures},
  });

  const auto over_overlap = equals_zero([]<class R>(const Normalisers<R>& n) {
    R total(0.0);
    for (int j = 0; j < n.keys(); ++j) total += n.p_cont(j) * n.p_pos(j) / n.overlap();
    return total - R(1.0);
  });
  const auto over_norms_is_one = equals_zero([]<class R>(const Normalisers<R>& n) {
    return n.overlap() / sqrt(n.content_square() * n.position_square()) - R(1.0);
  });
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
      .theorem = "readings_of_z.z_renormalisation_fails",
      .checks = {check("sum p_cont p_pos Z - 1 = 0",
                       equals_zero([]<class R>(const Normalisers<R>& n) {
                         return n.overlap() * n.overlap() - R(1.0);
                       }),
                       score_pairs(true)),
                 correction("sum p_cont p_pos / Z - 1 = 0", over_overlap, score_pairs(true))},
      .mutant = {"sum_j p_cont(j) p_pos(j) / (||p_cont|| ||p_pos||) = 1.",
                 check("sum p_cont p_pos / (||p_cont|| ||p_pos||) - 1 = 0", over_norms_is_one,
                       score_pairs(true))},
  });

  const auto joint_from_z = equals_zero([]<class R>(const Normalisers<R>& n, int power) {
    const R z = R(1.0) / n.overlap();
    const R factor = power == -1 ? n.overlap() : power == 1 ? z : z * z;
    return at_each("j", 0, n.keys(),
                   [&](int j) { return n.p_joint(j) - n.p_cont(j) * n.p_pos(j) * factor; });
  });
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
      .theorem = "readings_of_z.z_reciprocal_overlap_fails",
      .checks = {check("p_joint - p_cont p_pos / Z = 0, Z = 1/overlap", joint_from_z(-1),
                       score_pairs(true)),
                 correction("p_joint - p_cont p_pos Z = 0, Z = 1/overlap", joint_from_z(1),
                            score_pairs(true))},
      .mutant = {"p_joint = p_cont p_pos Z^2 with Z = 1/<p_cont, p_pos>.",
                 check("p_joint - p_cont p_pos Z^2 = 0, Z = 1/overlap", joint_from_z(2),
                       score_pairs(true))},
  });

  const auto is_log_ratio_of_z = []<class R>(const Normalisers<R>& n) {
    return n.information() - n.log_ratio();
  };
  claims["bam/z_information_identity"] = Claim({
      .title = "The sum of K.3 equals ln(Z_cont Z_pos / Z_joint)",
      .source = source("Appendix K.3, displayed formulas of I(cont; pos), first equality"),
      .statement = "I = sum_j p_joint(j) ln[p_joint(j) / (p_cont(j) p_pos(j))] = ln(Z_cont Z_pos / "
                   "Z_joint).",
      .hypotheses =
          {needed("p_joint = softmax(f + g): the score is additive.",
                  "The exponential of another score, here the product f_j g_j, does not factorise.",
                  check("p_joint = softmax(f g): I - ln(Z_cont Z_pos / Z_joint) = 0",
                        equals_zero(of_product(is_log_ratio_of_z)), {scores({1, 0}, {2, 0})})),
           definition("p_cont = softmax(f), p_pos = softmax(g).", "It says what they are.")},
      .implicit = shared_hypotheses(),
      .proof =
          holds("p_joint(j) / (p_cont(j) p_pos(j)) = Z_cont Z_pos / Z_joint for every j "
                "(bam/theorem_1 with bam/z_sum), so the sum is its logarithm times sum_j "
                "p_joint(j) = 1. As the quotient does not depend on j, averaging over any other "
                "distribution gives the same number. By bam/z_sum, I = -ln <p_cont, p_pos>."),
      .theorem = "readings_of_z.z_information_identity",
      .checks = check("I - ln(Z_cont Z_pos / Z_joint) = 0", equals_zero(is_log_ratio_of_z),
                      score_pairs(true)),
      .mutant = {"I = ln(Z_cont / Z_joint).",
                 check("I - ln(Z_cont / Z_joint) = 0",
                       equals_zero([]<class R>(const Normalisers<R>& n) {
                         return n.information() - (n.content.lse - n.joint.lse);
                       }),
                       score_pairs(true))},
  });

  const auto z_is_exp = equals_zero([]<class R>(const Normalisers<R>& n, int factor) {
    return n.overlap() - exp(R(factor) * n.information());
  });
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
      .theorem = "readings_of_z.z_exp_information_fails",
      .checks = {check("sum p_cont p_pos - exp(I) = 0, I = ln(Z_cont Z_pos / Z_joint)", z_is_exp(1),
                       score_pairs(true)),
                 correction("sum p_cont p_pos - exp(-I) = 0", z_is_exp(-1), score_pairs(true))},
      .mutant = {"Z = exp(-2 I).",
                 check("sum p_cont p_pos - exp(-2 I) = 0", z_is_exp(-2), score_pairs(true))},
      .pictures = {pictures::z_random_pairs},
  });

  const auto minus_log_cosine = equals_zero([]<class R>(const Normalisers<R>& n) {
    return n.information() + log(n.overlap() / sqrt(n.content_square() * n.position_square()));
  });
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
                       at_least_zero([]<class R>(const Normalisers<R>& n) {
                         return log(R(n.keys())) - n.information();
                       }),
                       score_pairs(true)),
                 correction("I + ln <p_cont, p_pos> = 0",
                            equals_zero([]<class R>(const Normalisers<R>& n) {
                              return n.information() + log(n.overlap());
                            }),
                            score_pairs(true))},
      .mutant = {"I is minus the logarithm of the cosine of p_cont and p_pos.",
                 check("I + ln(<p, q> / (||p|| ||q||)) = 0", minus_log_cosine, score_pairs(true))},
  });

  const auto z_counts_keys = equals_zero([]<class R>(const Normalisers<R>& n, int uncounted) {
    return exp(n.log_ratio()) / R(n.keys() - uncounted) - R(1.0);
  });
  // The positional score replaced by a constant.
  Samples constant_position;
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
      .theorem = "readings_of_z.z_one_iff_independent_fails",
      .checks = {check("Z - 1 = 0 where g is constant, Z = Z_cont Z_pos / Z_joint",
                       equals_zero([]<class R>(const Normalisers<R>& n) {
                         return exp(n.log_ratio()) - R(1.0);
                       }),
                       constant_position),
                 correction("Z / n - 1 = 0 where g is constant", z_counts_keys(0),
                            constant_position),
                 correction(
                     "I > 0 with 2 keys or more",
                     above_zero([]<class R>(const Normalisers<R>& n) { return n.log_ratio(); }),
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

  const auto norm_at_most_one = at_least_zero([]<class R>(const Normalisers<R>& n) {
    return std::vector<R>{R(1.0) - n.content_square(), R(1.0) - n.position_square()};
  });
  const auto above_uniform = at_least_zero([]<class R>(const Normalisers<R>& n, bool mutant) {
    const R excess = n.content_square() - R(1.0) / R(n.keys());
    return mutant ? -excess : excess;
  });
  const auto square_at_most_one =
      at_least_zero<"p">([]<class R>(const Vector<R>& p) { return R(1.0) - dot(p, p); });
  claims["bam/z_norms"] = Claim({
      .title = "A probability vector has a Euclidean norm of at most 1",
      .source = source("Appendix K.2, second bullet"),
      .statement = "||p||_2 <= ||p||_1 = 1 for any p in the simplex.",
      .hypotheses = {not_needed("p is a softmax vector.",
                                "Any point of the simplex will do, as the paper says.",
                                check("1 - ||p||^2 >= 0 for p with zeros", square_at_most_one,
                                      {{{"p", {1, 0, 0}}}, {{"p", {0.5, 0.5, 0}}}})),
                     needed({"p lies in the simplex: no component is negative.", "p", at_least(0)},
                            "(2, -1) sums to 1 as well.",
                            check("1 - ||p||^2 >= 0 for p = (2, -1)", square_at_most_one,
                                  {{{"p", {2, -1}}}}))},
      .implicit = shared_hypotheses(),
      .correction = "From below, ||p||_2^2 >= 1/n, with equality for the uniform vector.",
      .proof = holds("p_j^2 <= p_j because 0 <= p_j <= 1; the sum of p_j is 1. Cauchy-Schwarz: 1 = "
                     "(sum p_j)^2 <= n sum p_j^2."),
      .theorem = "readings_of_z.z_norms",
      .checks = {check("1 - ||p||^2 >= 0", norm_at_most_one, score_pairs(true)),
                 correction("||p||^2 - 1/n >= 0", above_uniform(false), score_pairs(true))},
      .mutant = {"||p||_2^2 <= 1/n.",
                 check("1/n - ||p||^2 >= 0", above_uniform(true), score_pairs(true))},
  });

  const auto cosine_gap = above_zero([]<class R>(const Normalisers<R>& n) {
    const R cosine = n.overlap() / (sqrt(n.content_square()) * sqrt(n.position_square()));
    R total(0.0);
    for (int j = 0; j < n.keys(); ++j) total += n.p_cont(j) * n.p_pos(j) / cosine;
    return R(1.0) - total;
  });
  claims["bam/z_cosine_caveat"] = Claim({
      .title = "The cosine in place of the dot product would destroy the normalisation",
      .source = source("Appendix K.2, fourth bullet"),
      .statement = "With cos = <p_cont, p_pos> / (||p_cont|| ||p_pos||) in place of <p_cont, "
                   "p_pos>, the re-normalisation fails: sum_j p_cont(j) p_pos(j) / cos is not 1.",
      .hypotheses =
          {needed({"p_cont and p_pos are softmax vectors: they have no zeros.", "p", above(0)},
                  "For (1, 0) and itself the cosine is 1 and the sum 1.",
                  check("1 - ||p|| ||q|| > 0 for p = q = (1, 0)",
                        above_zero<"p", "q">([]<class R>(const Vector<R>& p, const Vector<R>& q) {
                          return R(1.0) - dot(p, p) * dot(q, q);
                        }),
                        {{{"p", {1, 0}}, {"q", {1, 0}}}})),
           definition("Over the same keys.", "Otherwise there is no product.")},
      .implicit = shared_hypotheses(
          {needed("At least two keys.", "With one key the cosine is 1 and nothing fails.",
                  check("1 - sum p_cont p_pos / cos > 0 with one key", cosine_gap,
                        {scores({1.5}, {-3})}))}),
      .proof = holds_under_condition(
          "The sum is ||p_cont|| ||p_pos||, and a softmax vector over two keys or more "
          "has a norm below 1, because all its components are."),
      .theorem = "readings_of_z.z_cosine_caveat",
      .checks = check("1 - sum p_cont p_pos / cos > 0 with 2 keys or more", cosine_gap,
                      score_pairs(false)),
      .mutant = {"sum_j p_cont(j) p_pos(j) / cos = 1.",
                 check("||p_cont|| ||p_pos|| - 1 = 0",
                       equals_zero([]<class R>(const Normalisers<R>& n) {
                         return sqrt(n.content_square()) * sqrt(n.position_square()) - R(1.0);
                       }),
                       score_pairs(false))},
  });

  const auto is_log_ratio = equals_zero([]<class R>(const Inputs<R>& in, bool mutant) {
    const R log_ratio = Normalisers<R>(in).log_ratio();
    return interaction(in) - (mutant ? -log_ratio : log_ratio);
  });
  const auto at_temperature = equals_zero([]<class R>(const Inputs<R>& in) {
    return in.number("T") * interaction(in) - Normalisers<R>(in).log_ratio();
  });
  claims["bam/z_free_energy"] = Claim({
      .title = "ln Z is the interaction free energy of content and position",
      .source = source("Appendix K.1, \"Its log\""),
      .statement =
          "ln Z = ln Z_cont + ln Z_pos - ln Z_joint is the interaction free energy between the "
          "content and position potentials: F_joint - F_cont - F_pos with F = -ln Z.",
      .hypotheses = {definition("F_joint = -ln Z_joint; F_cont and F_pos likewise.",
                                "It says what F is."),
                     needed_as_the_mutant_shows(
                         "Z = Z_cont Z_pos / Z_joint, the first of the two expressions of K.1.",
                         "The second is its reciprocal, whose logarithm has the other sign.")},
      .implicit = shared_hypotheses(
          {needed({"The temperature is 1.", "T", exactly(1)}, "F = -T ln Z has the factor T.",
                  check("T (F_joint - F_cont - F_pos) - ln(Z_cont Z_pos / Z_joint) = 0",
                        at_temperature, {scores({1, 0}, {2, 0}).with({"T", 2})})),
           definition("The interaction is joint less separate.", "It says what the word means.")}),
      .correction = "This Z is the reciprocal of Theorem 1's (bam/z_ratio_as_printed), whose "
                    "logarithm has the other sign. It is no measure of coupling: a constant "
                    "positional score over n keys has the interaction ln n.",
      .proof = holds_under_condition("Insert F = -ln Z."),
      .theorem = "readings_of_z.z_free_energy",
      .checks = check("F_joint - F_cont - F_pos - ln(Z_cont Z_pos / Z_joint) = 0",
                      is_log_ratio(false), score_pairs(true)),
      .mutant = {"The interaction free energy is -ln Z.",
                 check("F_joint - F_cont - F_pos + ln(Z_cont Z_pos / Z_joint) = 0",
                       is_log_ratio(true), score_pairs(true))},
  });
}

}  // namespace plumbline::proofs_checks::bam
