// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "proofs_checks/bam/priors.hpp"
#include "proofs_checks/pictures/pictures.hpp"
#include "reference/bias/ggd.hpp"

namespace plumbline::proofs_checks::bam {

void claims_of_theorem_3(Claims& claims) {
  // The query's own key, at distance x -> 0 of itself, among other keys at distances 1, 2, ...:
  // e^(2 F + alpha^|beta| - (alpha/x)^|beta|) - p for every content within [-F, F], where delta
  // holds the other keys' content less the own one. For the mutant without alpha^|beta|.
  const auto own_below_rate = at_least_zero<"alpha", "beta", "F", "keys", "x", "delta">(
      []<class R>(R alpha, R beta, R F, int keys, R x, const Vector<R>& delta, bool mutant) {
        const auto bias = [&](const R& d) { return -power(d / alpha, beta); };
        const R own = bias(x);
        R others(0.0);
        for (int d = 1; d < keys; ++d) others += exp(delta[d - 1] + (bias(R(d)) - own));
        const R spread = F + F - (mutant ? R(0.0) : bias(R(1.0)));
        return exp(spread + own) - R(1.0) / (R(1.0) + others);
      });
  // (alpha/x)^|beta| is at most 600, as its exponential must be a double.
  const auto rows = [](double keys) {
    const auto priors =
        joined({grid({{"alpha", {0.5, 1, 8}}, {"beta", {-0.5, -1}}, {"x", {0x1p-4, 0x1p-6}}}),
                grid({{"alpha", {0.5, 1}}, {"beta", -2}, {"x", 0x1p-4}})});
    return with(bounded_contents({0, 2}, {std::max(1, static_cast<int>(keys) - 1)}),
                with(priors, {"keys", keys}));
  };
  // 1/100 - p_ii of two keys, the own one at x = 2^-20 and one at distance 1.
  const auto own_vanishes = at_least_zero<"alpha", "beta", "mu", "content of the own key", "x">(
      []<class R>(R alpha, R beta, R mu, R content, R x) {
        const R one(1.0);
        const auto bias = [&](const R& d) { return -power((d + mu) / alpha, beta); };
        const R own = content + bias(x);
        return one / R(100.0) - one / (one + exp(bias(one) - own));
      });
  const auto own_key = [](double alpha, double beta, double mu, double content) {
    return Sample{{"alpha", alpha},
                  {"beta", beta},
                  {"mu", mu},
                  {"x", 0x1p-20},
                  {"content of the own key", content}};
  };
  claims["bam/theorem_3"] = Claim({
      .title = "With beta < 0 the weight of the query's own key is 0",
      .source = source("Theorem 3, section 2.4, and appendix B.6"),
      .statement = "For all beta < 0 and alpha >= 0 (section 2.4; alpha > 0 in B.6), if p_ij = "
                   "softmax(q_i K^T + M_i + B_i) then lim p_ij = 0 as |j - i| -> 0.",
      .hypotheses =
          {needed({"beta < 0.", "beta", below(0)},
                  "For beta > 0 the own key has the largest prior.",
                  check("2 keys of equal content: 1/100 - p_ii >= 0 at x = 2^-20", own_vanishes,
                        {own_key(1, 0.5, 0, 0)})),
           definition(
               "alpha > 0.",
               "With alpha = 0 every other key has b = 0 and the own one 0/0 (bam/alpha_zero)."),
           needed({"mu = 0 (B.6).", "mu", exactly(0)},
                  "Otherwise the own key is not the one that the prior removes.",
                  check("2 keys of equal content: 1/100 - p_ii >= 0 at x = 2^-20", own_vanishes,
                        {own_key(1, -1, 1, 0)}))},
      .implicit = {definition("The limit: distances are integers, and the proof says that |j - i| "
                              "-> 0 means j = i. It is read as the bias -|x/alpha|^beta of the own "
                              "key for x -> 0 (x = epsilon in appendix C).",
                              "Integers have no limit at 0."),
                   needed({"The content scores are finite and do not depend on x.",
                           "content of the own key", exactly(0)},
                          "A content of (alpha/x)^|beta| makes up for the bias at every x.",
                          check("own content 2^20: 1/100 - p_ii >= 0 at x = 2^-20", own_vanishes,
                                {own_key(1, -1, 0, 0x1p20)}))},
      .condition = "The query sees at least one other key: it is not the first token.",
      .correction =
          "Rate: p_ii <= e^(2 F + alpha^|beta| - (alpha/x)^|beta|) if |f| <= F. The first token's "
          "weight on itself is 1 for every x, and 0/0 where its only score is minus infinity.",
      .proof = holds_under_condition(
          "The nearest other key has b = -alpha^|beta|, so the denominator is at least e^(-F - "
          "alpha^|beta|) and p_ii at most the rate, which tends to 0 as x -> 0. A softmax over one "
          "key is 1 whatever its score: every text has a first token, and there the theorem fails. "
          "The last manipulation in B.6 prints the wrong exponent (bam/inversion_exponent)."),
      .checks = {check("1, 2 and 3 keys: e^(2 F + alpha^|beta| - (alpha/x)^|beta|) - p_ii >= 0, "
                       "delta the other keys' content less the own one's",
                       own_below_rate(false), joined({rows(1), rows(2), rows(3)})),
                 condition("2, 5 and 64 keys: the same on all contents in [-F, F]",
                           own_below_rate(false), joined({rows(2), rows(5), rows(64)}))},
      .mutant =
          {"The rate is e^(2 F - (alpha/x)^|beta|).",
           check("e^(2 F - (alpha/x)^|beta|) - p_ii >= 0", own_below_rate(true),
                 {{{"F", 1}, {"delta", -2}, {"alpha", 8}, {"beta", -1}, {"x", 0.5}, {"keys", 2}}})},
  });

  const auto own_is_ignored =
      at_least_zero<"theta_alpha", "theta_beta">([]<class R>(R theta_alpha, R theta_beta) {
        const reference::Ggd<R> bias(theta_alpha, theta_beta, R(0.0), R(1e-5));
        return R(1.0) / R(100.0) - exp(bias(1, 1) - bias(1, 0));
      });
  const auto condition_fails =
      above_zero<"theta_beta", "theta_alpha">([]<class R>(R beta, R theta_alpha) {
        const R epsilon(1e-5);
        const R left = exp(theta_alpha) * (power(epsilon, beta) - power(R(1.0) + epsilon, beta));
        return log(R(100.0)) - left;
      });
  const auto own_is_ignored_with =
      at_least_zero<"theta_alpha", "theta_beta", "theta_mu", "epsilon">(
          []<class R>(R theta_alpha, R theta_beta, R theta_mu, R epsilon) {
            const reference::Ggd<R> bias(theta_alpha, theta_beta, theta_mu, epsilon);
            return R(1.0) / R(100.0) - exp(bias(1, 1) - bias(1, 0));
          });
  const auto meeting_the_condition = joined(
      {grid({boxes("theta_alpha", evenly(-4, 2, 3)), boxes("theta_beta", evenly(-2, -0.5625, 23))}),
       {{within("theta_alpha", 0, 0.25), within("theta_beta", -0.25, -0.1875)}}});
  claims["bam/theorem_3_epsilon"] = Claim({
      .title = "The implemented prior ignores the own key for every beta < 0",
      .source = source("Theorem 3 with b_ij as appendix C implements it, epsilon = 10^-5"),
      .statement =
          "GGD-BAM ignores local context for any beta < 0 and alpha > 0, also with the bias of "
          "appendix C, b_ij = -e^theta_alpha (|j - i| + epsilon)^theta_beta. Checked as: with "
          "equal contents the own key gets at most a hundredth of its neighbour's weight.",
      .hypotheses =
          {not_needed(
               {"theta_beta < 0.", "theta_beta", below(0)},
               "The condition implies it: for theta_beta >= 0 its left side is not positive.",
               check("theta_beta in [0, 2]: ln 100 - e^theta_alpha (epsilon^theta_beta - (1 + "
                     "epsilon)^theta_beta) > 0",
                     condition_fails,
                     {{within("theta_alpha", -4, 4), within("theta_beta", 0, 2)}})),
           needed({"theta_mu = 0.", "theta_mu", exactly(0)},
                  "Another mu puts the own key away from the one that is removed.",
                  check("1/100 - p_ii / p_i,i-1 >= 0 with theta_mu = 1/2", own_is_ignored_with,
                        {{{"theta_alpha", 0},
                          {"theta_beta", -1},
                          {"theta_mu", 0.5},
                          {"epsilon", 0x1p-16}}})),
           not_needed("epsilon = 10^-5.", "The condition is in terms of epsilon.",
                      check("epsilon = 2^-8: 1/100 - p_ii / p_i,i-1 >= 0", own_is_ignored_with,
                            {{{"theta_alpha", 0},
                              {"theta_beta", -1},
                              {"theta_mu", 0},
                              {"epsilon", 0x1p-8}}}))},
      .implicit = {definition("Theorem 3 is about the method that the experiments use.",
                              "Otherwise appendix C has no bearing on it."),
                   definition("A hundredth stands for any threshold below 1.",
                              "Without a number there is nothing to check.")},
      .condition = "e^theta_alpha (epsilon^theta_beta - (1 + epsilon)^theta_beta) >= ln 100; with "
                   "theta_alpha = 0 this is about theta_beta <= -0.15.",
      .correction = "p_ii / p_i,i-1 = exp(-e^theta_alpha (epsilon^theta_beta - (1 + "
                    "epsilon)^theta_beta)) is never 0 and tends to 1 as theta_beta -> 0.",
      .proof = holds_under_condition(
          "epsilon keeps the own bias finite: theta_alpha = 0, theta_beta = -0.05 has b_ii = "
          "-(10^-5)^-0.05 = -1.778 and a neighbour with b = -1.000, so the ratio is 0.459. Of the "
          "retrieval heads that appendix H.8 describes, -0.6 <= theta_beta <= 0, those near 0 "
          "attend to themselves almost as to any other key."),
      .checks = {check("1/100 - p_ii / p_i,i-1 >= 0, the quotient being e^(b(0) - b(1)), b(d) = "
                       "-e^theta_alpha (d + 10^-5)^theta_beta",
                       own_is_ignored,
                       {{{"theta_alpha", 0}, {"theta_beta", -0.05}},
                        {{"theta_alpha", -3}, {"theta_beta", -0.1}},
                        {{"theta_alpha", 0}, {"theta_beta", -0.6}}}),
                 condition("1/100 - p_ii / p_i,i-1 >= 0 on boxes that meet the condition",
                           own_is_ignored, meeting_the_condition)},
      .mutant = {"theta_beta <= -0.1 is enough for theta_alpha = 0.",
                 check("theta_beta = -0.1: 1/100 - p_ii / p_i,i-1 >= 0", own_is_ignored,
                       {{{"theta_alpha", 0}, {"theta_beta", -0.1}}})},
      .pictures = {pictures::own_key_weight},
  });

  const auto is_ignored = above_zero<"alpha", "beta", "D">([]<class R>(R alpha, R beta, R D) {
    const R one(1.0);
    const R scale = power(one / alpha, beta);  // alpha^|beta|
    const R gap = scale * (one - power(D, beta));
    return one / R(10.0) - exp(-gap);
  });
  const auto points = [](double alpha) {
    return grid({{"alpha", alpha}, {"beta", {-1.0, -0.25, -4.0}}, {"D", {512, 1 << 20}}});
  };
  const auto is_ignored_with_mu =
      above_zero<"mu", "alpha", "beta", "D">([]<class R>(R mu, R alpha, R beta, R D) {
        const auto bias = [&](const R& d) { return -power((d + mu) / alpha, beta); };
        return R(1.0) / R(10.0) - exp(bias(R(1.0)) - bias(D));
      });
  claims["bam/theorem_3_neighbours"] = Claim({
      .title = "With beta < 0 the local context is ignored",
      .source = source("Theorem 3, first sentence; section 2.5, \"effectively zero in the vicinity "
                       "of the query position\""),
      .statement = "GGD-BAM ignores local context for any beta < 0 and alpha > 0. Checked at the "
                   "nearest neighbour: with equal contents its weight is below a tenth of that of "
                   "a key at distance D = 512 or 2^20.",
      .hypotheses = {needed({"beta < 0.", "beta", below(0)},
                            "For beta > 0 the neighbour has the larger prior.",
                            check("beta = 1: 1/10 - p_i,i-1 / p_i,i-D > 0", is_ignored,
                                  {{{"alpha", 8}, {"beta", 1}, {"D", 512}}})),
                     definition("alpha > 0.", "It is a scale: x/0 has no value."),
                     needed({"mu = 0.", "mu", exactly(0)}, "Another mu removes another key.",
                            check("1/10 - p_i,i-1 / p_i,i-D > 0 with mu = 100", is_ignored_with_mu,
                                  {{{"alpha", 8}, {"beta", -1}, {"D", 512}, {"mu", 100}}}))},
      .implicit = {definition("Local context is more than the token itself: Theorem 3 and its "
                              "proof speak of j = i only.",
                              "It says what the words mean."),
                   definition("A tenth stands for any threshold below e^-1.",
                              "Without a number there is nothing to check.")},
      .condition = "alpha^|beta| (1 - D^-|beta|) >= ln 10: alpha^|beta| is large.",
      .correction = "p_i,i-1 / p_i,i-D = exp(-alpha^|beta| (1 - D^-|beta|)), at least e^-1 = 0.37 "
                    "for alpha <= 1 and any beta < 0.",
      .proof = holds_under_condition(
          "b(1) = -alpha^|beta| and b(D) = -(alpha/D)^|beta|. For alpha = 1 (theta_alpha = 0) the "
          "neighbour keeps more than e^-1 of the weight of the farthest key; only the own key, at "
          "distance 0, has an infinite penalty. How local the blind zone is, alpha decides and not "
          "the sign of beta."),
      .checks = {check("alpha = 1: 1/10 - p_i,i-1 / p_i,i-D > 0, the quotient being e^(b(1) - "
                       "b(D)), b(d) = -(d/alpha)^beta",
                       is_ignored, points(1)),
                 condition("alpha in [8, 64], beta in [-2, -1]: 1/10 - the ratio > 0", is_ignored,
                           grid({within("alpha", 8, 64), boxes("beta", evenly(-2, -1, 8)),
                                 within("D", 8, 1 << 20)}))},
      .mutant = {"alpha = 2 is enough for every beta < 0.",
                 check("alpha = 2: 1/10 - p_i,i-1 / p_i,i-D > 0", is_ignored, points(2))},
  });
}

}  // namespace plumbline::proofs_checks::bam
