// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "proofs_checks/bam/priors.hpp"
#include "proofs_checks/pictures/pictures.hpp"
#include "reference/bias/ggd.hpp"

namespace plumbline::proofs_checks::bam {

void claims_of_negative_beta(Claims& claims) {
  // delta holds the content of the keys at distances 1, 2, ... less that of the own key, at x -> 0.
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
                with(priors, {{{"keys", keys}}}));
  };
  const auto own_vanishes = at_least_zero<"alpha", "beta", "mu", "content of the own key", "x">(
      []<class R>(R alpha, R beta, R mu, R content, R x) {
        const R one(1.0);
        const auto bias = [&](const R& d) { return -power((d + mu) / alpha, beta); };
        const R own = content + bias(x);
        return one / R(100.0) - one / (one + exp(bias(one) - own));
      });
  const auto own_key = numbers_of({"alpha", "beta", "mu", "x", "content of the own key"});
  claims["bam/theorem_3"] = Claim({
      .title = "With beta < 0 the weight of the query's own key is 0",
      .source = source("Theorem 3, section 2.4, and appendix B.6"),
      .statement = "For all beta < 0 and alpha >= 0 (section 2.4; alpha > 0 in B.6), if p_ij = "
                   "softmax(q_i K^T + M_i + B_i) then lim p_ij = 0 as |j - i| -> 0.",
      .hypotheses =
          {needed({"beta < 0.", "beta", below(0)},
                  "For beta > 0 the own key has the largest prior.",
                  check("2 keys of equal content: 1/100 - p_ii >= 0 at x = 2^-20", own_vanishes,
                        {own_key(1, 0.5, 0, 0x1p-20, 0)})),
           definition(
               "alpha > 0.",
               "With alpha = 0 every other key has b = 0 and the own one 0/0 (bam/alpha_zero)."),
           needed({"mu = 0 (B.6).", "mu", exactly(0)},
                  "Otherwise the own key is not the one that the prior removes.",
                  check("2 keys of equal content: 1/100 - p_ii >= 0 at x = 2^-20", own_vanishes,
                        {own_key(1, -1, 1, 0x1p-20, 0)}))},
      .implicit = {definition("The limit: distances are integers, and the proof says that |j - i| "
                              "-> 0 means j = i. It is read as the bias -|x/alpha|^beta of the own "
                              "key for x -> 0 (x = epsilon in appendix C).",
                              "Integers have no limit at 0."),
                   needed({"The content scores are finite and do not depend on x.",
                           "content of the own key", exactly(0)},
                          "A content of (alpha/x)^|beta| makes up for the bias at every x.",
                          check("own content 2^20: 1/100 - p_ii >= 0 at x = 2^-20", own_vanishes,
                                {own_key(1, -1, 0, 0x1p-20, 0x1p20)}))},
      .condition = "The query sees at least one other key: it is not the first token.",
      .correction =
          "Rate: p_ii <= e^(2 F + alpha^|beta| - (alpha/x)^|beta|) if |f| <= F. The first token's "
          "weight on itself is 1 for every x, and 0/0 where its only score is minus infinity.",
      .proof = holds_under_condition(
          "The nearest other key has b = -alpha^|beta|, so the denominator is at least e^(-F - "
          "alpha^|beta|) and p_ii at most the rate, which tends to 0 as x -> 0. A softmax over one "
          "key is 1 whatever its score: every text has a first token, and there the theorem fails. "
          "The last manipulation in B.6 prints the wrong exponent (bam/inversion_exponent)."),
      .theorem = "negative_beta.theorem_3",
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
  const auto thetas = numbers_of({"theta_alpha", "theta_beta", "theta_mu", "epsilon"});
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
                        {thetas(0, -1, 0.5, 0x1p-16)})),
           not_needed("epsilon = 10^-5.", "The condition is in terms of epsilon.",
                      check("epsilon = 2^-8: 1/100 - p_ii / p_i,i-1 >= 0", own_is_ignored_with,
                            {thetas(0, -1, 0, 0x1p-8)}))},
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
      .theorem = "negative_beta.theorem_3_epsilon",
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
      .condition = "alpha^|beta| (1 - D^-|beta|) > ln 10: alpha^|beta| is large.",
      .correction = "p_i,i-1 / p_i,i-D = exp(-alpha^|beta| (1 - D^-|beta|)), at least e^-1 = 0.37 "
                    "for alpha <= 1 and any beta < 0.",
      .proof = holds_under_condition(
          "b(1) = -alpha^|beta| and b(D) = -(alpha/D)^|beta|. For alpha = 1 (theta_alpha = 0) the "
          "neighbour keeps more than e^-1 of the weight of the farthest key; only the own key, at "
          "distance 0, has an infinite penalty. How local the blind zone is, alpha decides and not "
          "the sign of beta."),
      .theorem = "negative_beta.theorem_3_neighbours",
      .checks = {check("alpha = 1: 1/10 - p_i,i-1 / p_i,i-D > 0, the quotient being e^(b(1) - "
                       "b(D)), b(d) = -(d/alpha)^beta",
                       is_ignored, points(1)),
                 condition("alpha in [8, 64], beta in [-2, -1]: 1/10 - the ratio > 0", is_ignored,
                           grid({within("alpha", 8, 64), boxes("beta", evenly(-2, -1, 8)),
                                 within("D", 8, 1 << 20)}))},
      .mutant = {"alpha = 2 is enough for every beta < 0.",
                 check("alpha = 2: 1/10 - p_i,i-1 / p_i,i-D > 0", is_ignored, points(2))},
  });

  // From n = 2.75/c on, above e/c, the weight of the farthest key is below c.
  const auto far_stays_above =
      at_least_zero<"n", "alpha", "beta", "c">([]<class R>(int n, R alpha, R beta, R c) {
        const GgdBias<R> bias{alpha, beta};
        const Vector<R> f = zeros<R>(n + 1);
        return exp(bias(n)) / mass(f, bias, 1, n + 1) - c;
      });
  // f[0] is the content of the own key, which has weight 0.
  const auto not_damped = at_least_zero<"f", "alpha", "beta">(
      []<class R>(const Vector<R>& f, R alpha, R beta, bool mutant) {
        const int n = static_cast<int>(f.size()) - 1;
        const GgdBias<R> bias{alpha, beta};
        const auto with = softmax_of<R>(n, [&](int k) { return f[k + 1] + bias(k + 1); });
        const auto without = softmax(f).probability;
        return at_each("d", 1, n + 1, [&](int d) {
          return with[d - 1] - (mutant ? R(1.0) : exp(bias(d))) * without[d];
        });
      });
  const auto unbounded_far =
      at_least_zero<"n", "alpha", "beta">([]<class R>(int n, R alpha, R beta) {
        const GgdBias<R> bias{alpha, beta};
        const Vector<R> f = zeros<R>(n + 1);
        const R far = R(n - 1) * exp(bias(n));
        return exp(-bias(1)) / R(n) - far / (far + mass(f, bias, 1, n));
      });
  const auto factor_tends_to_one =
      at_least_zero<"alpha", "beta", "d">([]<class R>(R alpha, R beta, R d) {
        const R bias = -power(d / alpha, beta);
        return exp(bias) - R(1.0) + power(alpha / d, absolute(beta));
      });
  // The query's own key first, all keys with the bias of a mu that is at no key.
  const auto not_damped_with_mu = at_least_zero<"f", "alpha", "beta", "mu">(
      []<class R>(const Vector<R>& f, R alpha, R beta, R mu) {
        const GgdBias<R> bias{alpha, beta, mu};
        const auto with = weights(f, bias), without = softmax(f).probability;
        return at_each("d", 1, f.size(),
                       [&](int d) { return with[d] - exp(bias(d)) * without[d]; });
      });
  const auto any_contents =
      with(contents(false, 20), grid({{"alpha", {1, 4}}, {"beta", {-0.5, -2}}}));
  claims["bam/theorem_4"] = Claim({
      .title = "With beta < 0 the weight of a key does not tend to 0 with its distance",
      .source = source("Theorem 4, section 2.4, and appendix B.7"),
      .statement = "For all beta < 0 and alpha > 0, if p_ij = softmax(q_i K^T + M_i + B_i) then "
                   "lim p_ij is not 0 as |j - i| -> infinity.",
      .hypotheses = {"beta < 0, alpha > 0 (B.7; section 2.4 has alpha >= 0), mu = 0.",
                     "\"A fixed query q_i\"."},
      .implicit = {"The length grows with the distance, as in Lemmas 3 and 4, whose proofs this "
                   "one repeats. At a fixed length the statement is empty: every softmax weight is "
                   "positive, ALiBi's as well."},
      .correction =
          "With |f| <= F: p_ij <= e^(2 F + alpha^|beta|) / (i - 1) -> 0. What beta < 0 gives is "
          "relative: p_ij >= e^(b_ij) p_ij^NoPE with e^(b_ij) -> 1, for every content and length, "
          "so a distant key gets in the limit at least what it gets without any positional score.",
      .correction_hypotheses =
          {needed("The content scores are bounded, |f| <= F (for the rate).",
                  "The farthest of n keys keeps 1/2 if its content is ln(n - 1) more and alpha is "
                  "small.",
                  check("e^(alpha^|beta|)/n - p_far >= 0 with f_far = ln 1024", unbounded_far,
                        {{{"alpha", 0.125}, {"beta", -1}, {"n", 1025}}})),
           needed({"beta < 0 (for e^(b_ij) -> 1; the bound itself holds for every bias <= 0).",
                   "beta", below(0)},
                  "For beta > 0 the factor e^(b_ij) tends to 0.",
                  check("e^(b(d)) - 1 + (alpha/d)^|beta| >= 0 with beta = 1", factor_tends_to_one,
                        {{{"alpha", 1}, {"beta", 1}, {"d", 10}}})),
           not_needed({"mu = 0.", "mu", exactly(0)},
                      "For every mu all biases are at most 0, so NoPE's denominator is at least "
                      "BAM's and p_d >= e^(b_d) p_d^NoPE.",
                      check("mu = 1, -5/2: p_d - e^(b_d) p_d^NoPE >= 0", not_damped_with_mu,
                            {{{"alpha", 1}, {"beta", -1}, {"mu", 1}, {"f", {1, 0, -2, 3}}},
                             {{"alpha", 1}, {"beta", -1}, {"mu", -2.5}, {"f", {1, 0, -2, 3}}}}))},
      .proof = refuted(
          "b_ij -> 0, but the limit is taken inside a softmax whose length is held fixed while the "
          "distance grows beyond it. The denominator has i - 1 terms of at least e^(-F - "
          "alpha^|beta|): the weight falls like 1/i. With equal contents and alpha = 1, p <= e/(i "
          "- 1): below any c at i = 1 + e/c. B.7 ends with softmax(q_i K^T + M_i), \"not "
          "necessarily zero\": that is NoPE's weight, which tends to 0 as well. NoPE's denominator "
          "has every term of BAM's divided by e^b <= 1, and the own key's: the relative bound. "
          "(The sentence \"plug 0 back ... minus infinity ... 0\" in B.7 is left over from B.6.)"),
      .theorem = "negative_beta.theorem_4_fails",
      .checks =
          {check("equal contents, alpha = 1: p_far - c >= 0 at every length n, p_far = e^(b(n)) / "
                 "sum_{d=1..n} e^(b(d)), b(d) = -(d/alpha)^beta",
                 far_stays_above,
                 with(grid({{"alpha", 1}, {"beta", {-1, -0.25}}}), {{{"c", 0.1}, {"n", 28}},
                                                                    {{"c", 0.01}, {"n", 275}},
                                                                    {{"c", 0.001}, {"n", 2750}}})),
           check("and it comes back above c at some longer one: e/n - c >= 0, e/n >= p_far",
                 at_least_zero<"n", "c">([]<class R>(R n, R c) { return exp(R(1.0)) / n - c; }),
                 {{{"c", 0.1}, within("n", 28, 0x1p60)},
                  {{"c", 0.01}, within("n", 275, 0x1p60)},
                  {{"c", 0.001}, within("n", 2750, 0x1p60)},
                  {{"c", 1e-9}, within("n", 2.75e9, 0x1p60)}}),
           correction("e^(2 F + alpha^|beta|)/n - p_far >= 0 on all contents in [-F, F]",
                      far_weight_below_rate(),
                      with(bounded_contents({0, 2}, {1, 15, 255}),
                           grid({{"alpha", {0.5, 4}}, {"beta", {-0.25, -2}}}))),
           correction("p_ij - e^(b_ij) p_ij^NoPE >= 0", not_damped(false), any_contents)},
      .mutant = {"p_ij >= p_ij^NoPE at every distance.",
                 check("p_ij - p_ij^NoPE >= 0", not_damped(true), any_contents)},
      .pictures = {pictures::negative_beta_decay},
  });

  const auto inverted_power =
      equals_zero<"alpha", "beta", "x">([]<class R>(R alpha, R beta, R x, int s) {
        return power(alpha / x, R(s) * beta) - power(x / alpha, beta);
      });
  const auto quotients = grid(
      {{"x", {2.0, 100.0, 0x1p-4}}, {"alpha", {1.0, 0.5, 3.0}}, {"beta", {-1.0, -0.25, -2.0}}});
  claims["bam/inversion_exponent"] = Claim({
      .title = "Inverting the quotient keeps the exponent",
      .source = source("Appendices B.6 and B.7, \"the following manipulation\""),
      .statement = "When beta < 0, -|(j - i)/alpha|^beta = -|alpha/(j - i)|^beta.",
      .hypotheses = {"beta < 0, alpha > 0, j is not i."},
      .implicit =
          {"The exponent is beta in both places, as both copies in the extracted text have it."},
      .correction = "-|x/alpha|^beta = -|alpha/x|^(-beta) = -|alpha/x|^|beta|.",
      .proof = refuted("x = 2, alpha = 1, beta = -1: 1/2 on the left and 2 on the right. With the "
                       "printed exponent the two limits of the proofs would change places: "
                       "|alpha/x|^beta -> 0 as x -> 0 and -> infinity as x -> infinity. With -beta "
                       "the limits are those that the proofs state."),
      .theorem = "negative_beta.inversion_exponent_fails",
      .checks = {check("|alpha/x|^beta - |x/alpha|^beta = 0", inverted_power(1), quotients),
                 correction("|alpha/x|^(-beta) - |x/alpha|^beta = 0", inverted_power(-1),
                            quotients)},
      .mutant = {"|alpha/x|^(-2 beta) = |x/alpha|^beta.",
                 check("|alpha/x|^(-2 beta) - |x/alpha|^beta = 0", inverted_power(-2), quotients)},
  });

  // At beta = 0 it is exactly 0 in every reading: D^0 = exp(0) = 1.
  const auto far_favoured = above_zero<"D", "beta">([]<class R>(R D, R beta, bool mutant) {
    return R(1.0) - power(D, beta) - R(mutant ? 0.5 : 0.0);
  });
  claims["bam/beta_nonpositive"] = Claim({
      .title = "For beta <= 0 the prior suppresses weights near the query",
      .source = source("Section 3.2: heading, text after Figure 4 and its caption"),
      .statement = "Theorems 3 and 4 \"show that for beta <= 0, the GGD-BAM prior suppresses "
                   "attention weights near the query token\": b_i,i-D > b_i,i-1 for D >= 2.",
      .hypotheses =
          {not_needed({"beta <= 0.", "beta", at_most(0)}, "The condition implies it.",
                      check("beta in [2^-10, 4] fails the condition: beta >= 0",
                            at_least_zero<"beta">([]<class R>(R beta) { return beta; }),
                            {{within("beta", 0x1p-10, 4)}})),
           definition("alpha > 0.", "It is a scale, the unit of the bias."),
           needed({"mu = 0.", "mu", exactly(0)},
                  "With mu = -8 the key at distance 9 is nearer to the pole than the neighbour.",
                  check("|1 + mu|^beta - |D + mu|^beta > 0 with mu = -8",
                        above_zero<"mu", "beta", "D">([]<class R>(R mu, R beta, R D) {
                          return power(absolute(R(1.0) + mu), beta) - power(absolute(D + mu), beta);
                        }),
                        {{{"beta", -1}, {"D", 9}, {"mu", -8}}}))},
      .implicit = {definition("The theorems themselves require beta < 0.",
                              "It says what they are.")},
      .condition = "beta < 0.",
      .proof = holds_under_condition("In units of e^theta_alpha = alpha^-beta, b(D) - b(1) = 1 - "
                                     "D^beta, which is 0 at beta = 0, where the prior is uniform "
                                     "(bam/beta_zero_uniform), and positive for beta < 0, D >= 2."),
      .theorem = "negative_beta.beta_nonpositive",
      .checks = {check("beta = 0: 1 - D^beta > 0", far_favoured(false),
                       {{{"beta", 0}, {"D", 512}}, {{"beta", 0}, {"D", 2}}}),
                 condition(
                     "all beta in [-4, -2^-10], D in [2, 2^20]: 1 - D^beta > 0",
                     far_favoured(false),
                     grid({boxes("beta", growing(-4, -0x1p-10, 0.5)), within("D", 2, 0x1p20)}))},
      .mutant = {"The far key gains at least half of the penalty at distance 1.",
                 check("beta = -1/16: 1 - D^beta - 1/2 > 0", far_favoured(true),
                       {{{"beta", -0.0625}, {"D", 2}}})},
  });
}

}  // namespace plumbline::proofs_checks::bam
