// SPDX-License-Identifier: Apache-2.0
#include "proofs_checks/bam/source.hpp"
#include "proofs_checks/pictures/pictures.hpp"
#include "reference/bias/ggd.hpp"

namespace plumbline::proofs_checks::bam {

void claims_of_causal_mask(Claims& claims) {
  // u_j = 1/i for j <= i and 0 beyond; p_cont is taken over all L keys, Z = sum_z p_cont(z) u_z.
  const auto mask_is_uniform =
      equals_zero<"f", "i">([]<class R>(const Vector<R>& f, int i, bool mutant) {
        const int L = static_cast<int>(f.size());
        const Vector<R> content = softmax(f).probability;
        const auto causal = softmax(Vector<R>(f.head(i))).probability;
        const auto mask = softmax(Vector<R>(zeros<R>(i))).probability;
        Vector<R> uniform(L);
        for (int j = 0; j < L; ++j) {
          uniform[j] = mutant ? R(1.0) / R(L) : j < i ? R(1.0) / R(i) : R(0.0);
        }
        const R Z = dot(content, uniform);
        std::vector<R> residuals;
        for (int j = 0; j < L; ++j) {
          residuals.push_back((j < i ? mask[j] : R(0.0)) - uniform[j]);
          residuals.push_back((j < i ? causal[j] : R(0.0)) - content[j] * uniform[j] / Z);
        }
        return residuals;
      });
  const auto finite_mask_is_uniform =
      equals_zero<"L", "i", "M for j > i">([]<class R>(int L, int i, R beyond) {
        return softmax_of<R>(L, [&](int j) { return j < i ? R(0.0) : beyond; })[0] - R(1.0) / R(i);
      });
  Samples causal_rows;
  for (const Sample& content : contents(true, 8)) {
    const Quantity& f = content.quantities[0];
    for (std::size_t i = 1; i <= f.lower.size(); ++i) causal_rows.push_back({f, {"i", double(i)}});
  }
  claims["bam/lemma_1"] = Claim({
      .title = "The causal mask is a uniform prior",
      .source = source("Lemma 1, section 2.2, and its proof, appendix B.1"),
      .statement =
          "Causal mask => p(g_pos(i, j)) = Uniform(1, i, j): softmax(M_i)_j = 1/i for j <= i and 0 "
          "otherwise, and softmax(q_i K^T + M_i) is the content's softmax times this prior over Z.",
      .hypotheses = {definition("M_ij = 0 for j <= i.", "It is the causal mask."),
                     needed("M_ij is minus infinity for j > i.",
                            "A finite score leaves weight on the keys after the query.",
                            check("softmax(M)_j - u_j = 0 with M_ij = -8 for j > i",
                                  finite_mask_is_uniform,
                                  {{{"L", 3}, {"i", 2}, {"M for j > i", -8}}})),
                     needed("Positions are counted from 1, as Uniform(1, i, j) says: the first "
                            "query sees one key.",
                            "Counted from 0, query i sees i + 1 keys.",
                            check("softmax(M)_j - 1/i = 0, the query sees i + 1 keys",
                                  equals_zero<"i">([]<class R>(int i) {
                                    const auto mask = softmax(Vector<R>(zeros<R>(i + 1)));
                                    return mask.probability[0] - R(1.0) / R(i);
                                  }),
                                  {{{"i", 1}}}))},
      .implicit = {definition(
          "The content scores are finite, also those of the keys after the query.",
          "inf - inf, a content and its mask, has no value.")},
      .proof =
          holds("e^0 = 1 for i keys and e^(-inf) = 0 for the others, so softmax(M_i) is 1/i on the "
                "visible keys. p_cont over all L keys times the prior over its sum is e^(f_j) / "
                "sum_{z <= i} e^(f_z): what p_cont spends on keys after the query cancels in Z."),
      .theorem = "causal_mask.lemma_1",
      .checks =
          check("softmax(M)_j - u_j = 0 and softmax(f + M)_j - p_cont u_j / Z = 0 for all L keys",
                mask_is_uniform(false), causal_rows),
      .mutant = {"The prior is 1/L for each of the L keys.",
                 check("the same with u_j = 1/L", mask_is_uniform(true), causal_rows)},
      .pictures = {pictures::prior_curves},
  });

  const auto uniform_without = equals_zero<"i">([]<class R>(int i, int without) {
    const int n = i - without;
    const auto mask = softmax(Vector<R>(zeros<R>(i))).probability;
    return at_each("j", 1, i + 1,
                   [&](int j) { return mask[j - 1] - (j <= n ? R(1.0) / R(n) : R(0.0)); });
  });
  const auto queries = [](int first, int last) {
    return grid({{"i", evenly(first, last, last - first)}});
  };
  claims["bam/uniform_prior_positions"] = Claim({
      .title = "The uniform prior covers the positions before the current token",
      .source = source("Appendix A, \"Positional Priors\", first item"),
      .statement = "The uniform distribution \"assigns equal probability mass to all valid "
                   "positions before the current token\": 1/(i - 1) for j < i and 0 for j = i.",
      .hypotheses = {"The prior is the one that the causal mask gives (Lemma 1)."},
      .implicit = {"\"Before\" leaves the current token out; the first token has no prior then."},
      .correction = "Up to and including the current token: 1/i for 1 <= j <= i, as the formula "
                    "beside the sentence, I[a <= x <= b], and Lemma 1 have it.",
      .proof = refuted("M_ii = 0, so the query sees its own key: i keys with 1/i each. i = 2: "
                       "(1/2, 1/2) and not (1, 0). For i = 1 no position is before the token, "
                       "while the mask gives it all the mass."),
      .theorem = "causal_mask.uniform_prior_positions_fails",
      .checks = {check("prior_j - 1/(i - 1) = 0 for j < i, prior_i = 0", uniform_without(1),
                       queries(2, 9)),
                 correction("prior_j - 1/i = 0 for j <= i", uniform_without(0), queries(1, 9))},
      .mutant = {"The last two of the visible keys get nothing.",
                 check("prior_j - 1/(i - 2) = 0 for j < i - 1, else 0", uniform_without(2),
                       queries(3, 9))},
  });

  const auto same_at_distance = equals_zero<"theta_alpha", "theta_beta", "theta_mu">(
      []<class R>(R theta_alpha, R theta_beta, R theta_mu) {
        const reference::Ggd<R> bias(theta_alpha, theta_beta, theta_mu, R(1e-5));
        return at_each("d", 1, 5, [&](int d) { return bias(8, 8 + d) - bias(8, 8 - d); });
      });
  const auto same_at_offset = equals_zero<"theta_alpha", "theta_beta", "theta_mu">(
      []<class R>(R theta_alpha, R theta_beta, R theta_mu, bool mutant) {
        const reference::Ggd<R> bias(theta_alpha, theta_beta, theta_mu, R(1e-5));
        return at_each("j", 0, 5, [&](int j) { return bias(9, mutant ? j : j + 5) - bias(4, j); });
      });
  const auto parameters = [](const std::vector<double>& theta_mus) {
    return grid({{"theta_alpha", 0},
                 {"theta_beta", {1, 0.5, -0.25}},
                 {"theta_mu", theta_mus},
                 {"epsilon", 1e-5}});
  };
  claims["bam/relative_distance"] = Claim({
      .title = "The prior is a distribution over the distance |j - i|",
      .source = source("Appendix A, \"Positional Priors\", first sentence, against section 2.3"),
      .statement = "\"The prior over positions is modeled using parametric distributions over "
                   "relative positions |j - i|\": keys at the same distance before and after the "
                   "query have the same bias.",
      .hypotheses = {definition("b_ij as in section 2.3 or appendix C.",
                                "It is the prior in question.")},
      .implicit = {not_needed("No causal mask.",
                              "The condition says \"or the mask is causal\": under it only one "
                              "side is visible, and any function of j - i is one of |j - i|.",
                              check("j <= i, mu not 0: b(i + 5, j + 5) - b(i, j) = 0",
                                    same_at_offset(false), parameters({0.5, -1})))},
      .condition = "mu = 0, or the mask is causal.",
      .correction = "It is a function of the offset j - i, whose sign matters where mu is not 0.",
      .proof = holds_under_condition(
          "|d - mu| = |-d - mu| for all d only if mu = 0. theta_mu = 1/2 gives mu = 1.04: d = 1 is "
          "0.04 from it on one side and 2.04 on the other."),
      .theorem = "causal_mask.relative_distance",
      .checks = {check("b(i, i + d) - b(i, i - d) = 0, b = -e^theta_alpha (|j - i - mu| + "
                       "epsilon)^theta_beta, mu = e^theta_mu - e^-theta_mu",
                       same_at_distance, parameters({0.5, -1, 0})),
                 condition("mu = 0: b(i, i + d) - b(i, i - d) = 0", same_at_distance,
                           parameters({0})),
                 correction("b(i + 5, j + 5) - b(i, j) = 0", same_at_offset(false),
                            parameters({0.5, -1, 0}))},
      .mutant = {"The bias of a key does not depend on where the query is.",
                 check("b(i + 5, j) - b(i, j) = 0", same_at_offset(true), parameters({0}))},
  });

  // Means of the values that queries 1, 2, ... see, all scores being equal.
  const auto outputs_differ = above_zero<"v">([]<class R>(const Vector<R>& v, bool masked) {
    const int n = static_cast<int>(v.size());
    const auto output = [&](int i) {
      const int seen = masked ? i : n;
      return dot(softmax(Vector<R>(zeros<R>(seen))).probability, Vector<R>(v.head(seen)));
    };
    return at_each("i", 1, n, [&](int i) {
      return absolute(output(i) - output(i + 1)) - R(1.0) / R(2.0 * (i + 1) * (i + 1));
    });
  });
  const auto start_token =
      vectors("v", {{1, 0}, {1, 0, 0, 0}, {1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}});
  claims["bam/nope_positions"] = Claim({
      .title = "The causal mask suffices to derive positions",
      .source = source("Section 4, \"No Positional Encoding (NoPE)\""),
      .statement = "The causal mask \"in decoder-based transformers is sufficient to derive both "
                   "absolute and relative PE\": some head has outputs that differ from position to "
                   "position.",
      .hypotheses = {needed_as_the_mutant_shows("The causal mask.",
                                                "Without it all queries see the same keys."),
                     definition("No positional score.", "It is NoPE.")},
      .implicit = {definition("Positions are derived where outputs differ; a distance is then a "
                              "function of two positions.",
                              "It says what the word means."),
                   definition("Neighbours differ by more than 1/(2 (i + 1)^2).",
                              "The sentence has no bound; this one is half the difference that a "
                              "start token makes, and any other stands for it."),
                   definition("It is said of any tokens.",
                              "The sentence names none; the condition replaces it.")},
      .condition = "The first token differs from all others (a start token).",
      .proof = holds_under_condition(
          "A text of one token repeated has the same output at every position, whatever the "
          "weights of the head are: a mean of equal values is that value, in this layer and in all "
          "others. With the value 1 for a start token, 0 for the others and equal scores the "
          "output "
          "is 1/i, which tells i; 1/i - 1/(i + 1) = 1/(i (i + 1))."),
      .checks = {check("equal tokens: |o_i - o_(i+1)| - 1/(2 (i + 1)^2) > 0", outputs_differ(true),
                       grid({vectors("v", {{1, 1, 1, 1}, {0, 0}})})),
                 condition("a start token: |o_i - o_(i+1)| - 1/(2 (i + 1)^2) > 0",
                           outputs_differ(true), grid({start_token}))},
      .mutant = {"It holds without the mask.",
                 check("a start token, no mask: |o_i - o_(i+1)| - 1/(2 (i + 1)^2) > 0",
                       outputs_differ(false), grid({start_token}))},
  });
}

}  // namespace plumbline::proofs_checks::bam
