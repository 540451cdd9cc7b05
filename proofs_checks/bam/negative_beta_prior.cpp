// SPDX-License-Identifier: Apache-2.0
#include "proofs_checks/bam/priors.hpp"
#include "proofs_checks/pictures/pictures.hpp"

namespace plumbline::proofs_checks::bam {
namespace {

/// The weight of the key at distance 1 whose content exceeds that of n - 1 others, at distances 2,
/// 3, ..., n, by `gap`; the own key has weight 0 (beta < 0).
template <class R>
R neighbour_weight(const GgdBias<R>& bias, int n, const R& gap) {
  R others(0.0);
  for (int d = 2; d <= n; ++d) others += exp(bias(d) - bias(1) - gap);
  return R(1.0) / (R(1.0) + others);
}

}  // namespace

void claims_of_negative_beta_prior(Claims& claims) {
  const auto neighbour_gets = above_zero<"alpha", "beta", "n", "gap">(
      []<class R>(R alpha, R beta, R n, R gap, bool mutant) {
        const GgdBias<R> bias{alpha, beta};
        const R penalty = mutant ? R(0.0) : -bias(1), one(1.0);
        return neighbour_weight(bias, static_cast<int>(reference::representative(n)), gap) -
               one / (one + (n - one) * exp(penalty - gap));
      });
  const auto gaps_of = [](const std::vector<double>& gaps) {
    return grid(
        {{"gap", gaps}, {"alpha", {1.0, 2.0}}, {"beta", {-0.5, -1.0, -2.0}}, {"n", {64, 512}}});
  };
  claims["bam/negative_beta_blind"] = Claim({
      .title = "A head with beta < 0 is unable to attend to local context",
      .source = source("Section 2.5, \"GGD-BAM with beta < 0\", second paragraph"),
      .statement = "\"The parametrization beta < 0 renders the model to be unable to attend to "
                   "local context.\" Checked at the nearest neighbour: whatever the content is, it "
                   "gets less than half of the mass.",
      .hypotheses = {"beta < 0, alpha > 0, mu = 0."},
      .implicit = {"Local context is more than the token itself."},
      .correction = "Only the own key is out of reach. The neighbour pays alpha^|beta|, and "
                    "content can outweigh it: with a gap g over n - 1 other keys p_i,i-1 > 1/(1 + "
                    "(n - 1) e^(alpha^|beta| - g)).",
      .proof = refuted("b(1) = -alpha^|beta| is finite and b(d) < 0, so the others sum to less "
                       "than (n - 1) e^(alpha^|beta| - g) in units of the neighbour. alpha = 1, "
                       "beta = -1/2, n = 64, g = 20: p is above 1 - 4e-7."),
      .checks = {check("content gap 20: 1/2 - p > 0, p = p_i,i-1 = 1/(1 + sum_{d=2..n} e^(b(d) - "
                       "b(1) - gap)), b(d) = -(d/alpha)^beta",
                       above_zero<"alpha", "beta", "n", "gap">(
                           []<class R>(R alpha, R beta, int n, R gap) {
                             return R(0.5) - neighbour_weight<R>({alpha, beta}, n, gap);
                           }),
                       gaps_of({20})),
                 correction("p_i,i-1 - 1/(1 + (n - 1) e^(alpha^|beta| - g)) > 0",
                            neighbour_gets(false), gaps_of({0, 4, 20}))},
      .mutant = {"p_i,i-1 > 1/(1 + (n - 1) e^-g).", check("p_i,i-1 - 1/(1 + (n - 1) e^-g) > 0",
                                                          neighbour_gets(true), gaps_of({0, 4}))},
  });

  const auto far_half = []<class R>(const GgdBias<R>& bias, int D) {
    const Vector<R> f = zeros<R>(D + 1);
    const R far = mass(f, bias, D / 2 + 1, D + 1), near = mass(f, bias, 1, D / 2 + 1);
    return far / (far + near) - R(3.0) / R(4.0);
  };
  const auto far_half_holds =
      at_least_zero<"D", "alpha", "beta">([=]<class R>(int D, R alpha, R beta) {
        return far_half(GgdBias<R>{alpha, beta}, D);
      });
  const auto far_half_with_mu =
      at_least_zero<"D", "alpha", "beta", "mu">([=]<class R>(int D, R alpha, R beta, R mu) {
        return far_half(GgdBias<R>{alpha, beta, mu}, D);
      });
  const auto rises_and_flattens =
      at_least_zero<"D", "alpha", "beta">([]<class R>(int D, R alpha, R beta, bool mutant) {
        const GgdBias<R> bias{alpha, beta};
        std::vector<R> residuals;
        for (int d = 1; d < D; d *= 2) {
          const R step = bias(d + 1) - bias(d);
          residuals.push_back(mutant ? -step : step);
          residuals.push_back(-bias(d) - (bias(D) - bias(d)));
        }
        return residuals;
      });
  const auto shapes_of = [](const std::vector<double>& alphas, const std::vector<double>& betas) {
    return grid({{"alpha", alphas}, {"beta", betas}, {"D", {512, 64}}});
  };
  claims["bam/negative_beta_far_end"] = Claim({
      .title = "With beta < 0 the prior is concentrated at the far end of the context",
      .source =
          source("Section 2.5, \"GGD-BAM with beta < 0\", second sentence; Figure 1, black curve"),
      .statement =
          "With beta < 0 the prior probability is effectively zero in the vicinity of the query "
          "and sharply concentrated at the far end of the context window. Checked as: the farther "
          "half of the context holds at least three quarters of the prior.",
      .hypotheses =
          {needed({"beta < 0.", "beta", below(0)}, "For beta > 0 the nearer half holds more.",
                  check("beta = 1: mass of the farther half - 3/4 >= 0", far_half_holds,
                        shapes_of({2048}, {1}))),
           definition("alpha > 0.", "It is a scale: x/0 has no value."),
           needed({"mu = 0.", "mu", exactly(0)},
                  "With mu = -512.5 it is the far end that the prior removes.",
                  check("mass of the farther half - 3/4 >= 0 with mu = -512.5", far_half_with_mu,
                        {{{"alpha", 2048}, {"beta", -1}, {"D", 512}, {"mu", -512.5}}})),
           definition("The sentence describes one scenario; it is read for every beta < 0.",
                      "It says how the sentence is read.")},
      .implicit = {definition("The context has a length D; alpha is not scaled with it.",
                              "The condition is one on alpha/D; an alpha in proportion to D meets "
                              "it at every D or at none.")},
      .condition = "(2 alpha/D)^|beta| - (4 alpha/(3 D))^|beta| >= ln 6: alpha is large beside D.",
      .correction = "The prior rises with the distance and flattens: from d to D it grows by at "
                    "most the factor e^((alpha/d)^|beta|). For a given alpha it approaches the "
                    "uniform prior as D grows.",
      .proof = holds_under_condition(
          "b(d) = -(alpha/d)^|beta| rises to 0. alpha = 1, beta = -1/2, D = 512: b(256) = -1/16, "
          "b(512) = -0.044, so the farther half holds 52 percent. Under the condition the keys "
          "beyond 3 D/4, a quarter of all, have each at least 6 times the weight of any of the "
          "nearer half: 6/4 against at most 1/2, three quarters."),
      .theorem = "negative_beta.negative_beta_far_end",
      .checks = {check("alpha = 1: mass of the farther half - 3/4 >= 0, e^(b(d)) summed over d > "
                       "D/2 and over d = 1..D, b(d) = -(d/alpha)^beta",
                       far_half_holds, shapes_of({1}, {-0.5, -1, -4})),
                 condition("alpha = 2048, 4096, beta <= -1: mass of the farther half - 3/4 >= 0",
                           far_half_holds, shapes_of({2048, 4096}, {-1, -1.25})),
                 correction("b(d + 1) - b(d) >= 0 and (alpha/d)^|beta| - (b(D) - b(d)) >= 0",
                            rises_and_flattens(false), shapes_of({0.5, 1, 64}, {-0.25, -1, -2}))},
      .mutant = {"The prior falls with the distance.",
                 check("b(d) - b(d + 1) >= 0", rises_and_flattens(true), shapes_of({1}, {-1}))},
      .pictures = {pictures::prior_curves},
  });

  const auto sum_grows_with_n =
      at_least_zero<"N", "alpha", "beta">([]<class R>(int N, R alpha, R beta, bool mutant) {
        const GgdBias<R> bias{alpha, beta};
        const R total = mass(Vector<R>(zeros<R>(N + 1)), bias, 1, N + 1);
        return mutant ? R(100.0) - total : total - R(N) * exp(bias(1));
      });
  const auto sums_up_to =
      grid({{"alpha", {0.5, 1.0, 4.0}}, {"beta", {-0.25, -1.0, -2.0}}, {"N", {1, 8, 512}}});
  const auto sum_reaches = at_least_zero<"N", "alpha", "beta">([]<class R>(int N, R alpha, R beta) {
    const GgdBias<R> bias{alpha, beta};
    return mass(Vector<R>(zeros<R>(N + 1)), bias, 1, N + 1) - R(N);
  });
  claims["bam/negative_beta_not_gaussian"] = Claim({
      .title = "beta < 0 is no parametrisation of a probability distribution",
      .source = source("Section 2.5, \"GGD-BAM with beta < 0\""),
      .statement = "\"beta < 0 is not a valid parametrization of the GGD in a strict probability "
                   "sense\": exp(-|d/alpha|^beta) cannot be normalised over all distances.",
      .hypotheses = {needed(
                         {"beta < 0.", "beta", below(0)},
                         "For beta > 0 the sum over all distances converges.",
                         check("beta = 1: sum_{d <= N} e^b - N e^(-1/alpha) >= 0",
                               sum_grows_with_n(false), {{{"alpha", 1}, {"beta", 1}, {"N", 8}}})),
                     definition("alpha > 0.", "It is a scale: x/0 has no value.")},
      .implicit = {needed(
          "All distances, without an end. Over the keys of one context the softmax normalises it, "
          "and Theorem 1 holds as for every finite score.",
          "Over 512 distances the sum is below 512, and dividing by it gives a distribution.",
          check("sum_{d <= N} e^b - 512 >= 0 for N = 512", sum_reaches,
                {{{"alpha", 1}, {"beta", -1}, {"N", 512}}}))},
      .proof = holds_under_condition(
          "For d >= 1, (alpha/d)^|beta| <= alpha^|beta|, so each term is at least "
          "e^(-alpha^|beta|) and the first N sum to at least N e^(-alpha^|beta|), which "
          "has no bound."),
      .theorem = "negative_beta.negative_beta_not_gaussian",
      .checks =
          check("sum_{d <= N} e^b - N e^(-alpha^|beta|) >= 0", sum_grows_with_n(false), sums_up_to),
      .mutant = {"The sum over 512 distances is at most 100.",
                 check("100 - sum_{d <= N} e^b >= 0", sum_grows_with_n(true), sums_up_to)},
  });

  // Shares of the priors at distances D, ..., n - 1; for beta < 0 the own key has none.
  const auto tail_is_larger = at_least_zero<"alpha", "beta", "alpha'", "beta'", "n", "D">(
      []<class R>(R alpha, R beta, R alpha_2, R beta_2, int n, int D, int times) {
        const Vector<R> f = zeros<R>(n);
        const GgdBias<R> relaxed{alpha, beta}, ggd{alpha_2, beta_2};
        const R tail = mass(f, relaxed, D, n) / mass(f, relaxed, 1, n);
        return tail / R(times) - mass(f, ggd, D, n) / mass(f, ggd, 0, n);
      });
  const auto tails = grid({{"alpha'", {1, 64}},
                           {"beta'", {0.5, 1, 2}},
                           {"alpha", {1, 8}},
                           {"beta", {-1, -0.25}},
                           {"n", {16, 128}},
                           {"D", {2, 1, 8}}});
  claims["bam/larger_tail"] = Claim({
      .title = "beta < 0 increases the size of the prior's tail",
      .source = source("Section 2.4, first paragraph"),
      .statement = "Allowing beta < 0 \"effectively increases the size of the tail of the "
                   "distribution\": at every length and every D the keys at distance D and beyond "
                   "have at least the share of the prior that they have under any GGD, of exponent "
                   "beta' > 0 and scale alpha'.",
      .hypotheses = {needed({"beta < 0.", "beta", below(0)},
                            "Of two positive exponents the larger one has the smaller tail.",
                            check("beta = 2, beta' = 1/2: the tail less that of the GGD >= 0",
                                  tail_is_larger(1),
                                  {{{"alpha", 1},
                                    {"beta", 2},
                                    {"alpha'", 1},
                                    {"beta'", 0.5},
                                    {"n", 16},
                                    {"D", 2}}})),
                     definition("beta' > 0.", "It is what beta < 0 is compared with."),
                     definition("alpha > 0 and alpha' > 0, mu = 0, the causal mask.",
                                "It says which priors.")},
      .implicit = {definition("The size of the tail is the share of the prior at distance D and "
                              "beyond, of finitely many keys.",
                              "Over all distances beta < 0 gives no distribution "
                              "(bam/negative_beta_not_gaussian).")},
      .proof =
          holds("e^(b(d)) rises with d for beta < 0 and falls for beta' > 0, so the quotient of "
                "the two priors rises with the distance. Then the one has at least the other's "
                "share beyond every D, whatever the scales are. (The own key, which has no "
                "weight for beta < 0, is the nearest.)"),
      .checks =
          check("the share at distance D and beyond for beta < 0, less that for beta' > 0, >= 0",
                tail_is_larger(1), tails),
      .mutant = {"It doubles the tail at least.",
                 check("half of the share for beta < 0, less that for beta' > 0, >= 0",
                       tail_is_larger(2), tails)},
  });

  // Figure 4: the last of 841 tokens is the query; the task prompt stands at distances 809 to 840,
  // the passkey at 784 to 808. Contents are equal, and the own key has no weight.
  const auto share_of = []<class R>(const R& alpha, const R& beta, int first, int last) {
    const GgdBias<R> bias{alpha, beta};
    const Vector<R> f = zeros<R>(841);
    return R(mass(f, bias, first, last) / mass(f, bias, 1, 841));
  };
  const auto half_is_far = at_least_zero<"alpha", "beta">(
      [=]<class R>(R alpha, R beta) { return share_of(alpha, beta, 784, 841) - R(1.0) / R(2.0); });
  const auto passkey_below_share = at_least_zero<"alpha", "beta">([=]<class R>(R alpha, R beta) {
    return R(25.0) / R(57.0) - share_of(alpha, beta, 784, 809);
  });
  const auto exponent_and_scale = numbers_of({"alpha", "beta"});
  const Samples steep_priors = {exponent_and_scale(8704, -1), exponent_and_scale(1920, -2),
                                exponent_and_scale(400000, -0.5)};
  const Samples flat_priors = {exponent_and_scale(1, -1), exponent_and_scale(8, -0.25)};
  claims["bam/figure_4_focus"] = Claim({
      .title = "With beta < 0 the prior focuses on the passkey and what stands before it",
      .source =
          source("Section 3.2, text on Figure 4 (a), with the lengths of its second paragraph"),
      .statement =
          "The head \"sharply focuses on distant tokens, including the passkey, as predicted "
          "by our theoretical formulation\": of a prompt of 841 tokens the prior gives the "
          "first 57, task prompt and passkey, at least half, seen from the last.",
      .hypotheses = {definition("beta < 0, alpha > 0, mu = 0.", "It is the prior in question.")},
      .implicit = {definition("The theory is that of the prior: what the contents add, it does not "
                              "say.",
                              "It says what is examined."),
                   definition("Half of the prior on 57 of 840 keys stands for a sharp focus.",
                              "Without a number there is nothing to check.")},
      .condition =
          "|beta| (alpha/840)^|beta| >= 10.3: alpha is about ten times the length for beta "
          "= -1.",
      .correction =
          "The passkey itself has at most 25/57 of the prior of the two, whatever alpha and "
          "beta are: the task prompt before it is farther away. To tell them apart takes "
          "content.",
      .proof = holds_under_condition(
          "b(d) = -(alpha/d)^|beta| rises by at least g = |beta| (alpha/840)^|beta|/840 a step up "
          "to "
          "d = 840, so the keys nearer than 784 have at most e^(-57 g) of the prior: 57 g >= ln 2 "
          "for the condition. With alpha = 1 and beta = -1 the prior is almost uniform, and the 57 "
          "keys have 0.068."),
      .checks = {check("the share of the 57 farthest of 840 keys - 1/2 >= 0", half_is_far,
                       flat_priors),
                 condition("the share of the 57 farthest of 840 keys - 1/2 >= 0", half_is_far,
                           steep_priors),
                 correction("25/57 - the share of the passkey >= 0", passkey_below_share,
                            joined({flat_priors, steep_priors}))},
      .mutant = {"alpha = 840 and beta = -1 are enough.",
                 check("alpha = 840, beta = -1: the share - 1/2 >= 0", half_is_far,
                       {exponent_and_scale(840, -1)})},
  });
}

}  // namespace plumbline::proofs_checks::bam
