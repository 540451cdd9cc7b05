// SPDX-License-Identifier: Apache-2.0
#include "proofs_checks/bam/normalisers.hpp"

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

void claims_of_norms(Claims& claims) {
  const auto norm_at_most_one = at_least_zero(of_normalisers([]<class R>(const Normalisers<R>& n) {
    return std::vector<R>{R(1.0) - n.content_square(), R(1.0) - n.position_square()};
  }));
  const auto above_uniform =
      at_least_zero(of_normalisers([]<class R>(const Normalisers<R>& n, bool mutant) {
        const R excess = n.content_square() - R(1.0) / R(n.keys());
        return mutant ? -excess : excess;
      }));
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
      .checks = {check("1 - ||p||^2 >= 0", norm_at_most_one, score_pairs(true)),
                 correction("||p||^2 - 1/n >= 0", above_uniform(false), score_pairs(true))},
      .mutant = {"||p||_2^2 <= 1/n.",
                 check("1/n - ||p||^2 >= 0", above_uniform(true), score_pairs(true))},
  });

  // 1 - sum_j p_cont(j) p_pos(j) / cos = 1 - ||p_cont|| ||p_pos||: with the cosine for Z the
  // product does not sum to 1.
  const auto cosine_gap = above_zero(of_normalisers([]<class R>(const Normalisers<R>& n) {
    const R cosine = n.overlap() / (sqrt(n.content_square()) * sqrt(n.position_square()));
    R total(0.0);
    for (int j = 0; j < n.keys(); ++j) total += n.p_cont(j) * n.p_pos(j) / cosine;
    return R(1.0) - total;
  }));
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
      .proof = holds("The sum is ||p_cont|| ||p_pos||, and a softmax vector over two keys or more "
                     "has a norm below 1, because all its components are."),
      .checks = check("1 - sum p_cont p_pos / cos > 0 with 2 keys or more", cosine_gap,
                      score_pairs(false)),
      .mutant = {"sum_j p_cont(j) p_pos(j) / cos = 1.",
                 check("||p_cont|| ||p_pos|| - 1 = 0",
                       equals_zero(of_normalisers([]<class R>(const Normalisers<R>& n) {
                         return sqrt(n.content_square()) * sqrt(n.position_square()) - R(1.0);
                       })),
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
      .proof = holds("Insert F = -ln Z."),
      .checks = check("F_joint - F_cont - F_pos - ln(Z_cont Z_pos / Z_joint) = 0",
                      is_log_ratio(false), score_pairs(true)),
      .mutant = {"The interaction free energy is -ln Z.",
                 check("F_joint - F_cont - F_pos + ln(Z_cont Z_pos / Z_joint) = 0",
                       is_log_ratio(true), score_pairs(true))},
  });
}

}  // namespace plumbline::proofs_checks::bam
