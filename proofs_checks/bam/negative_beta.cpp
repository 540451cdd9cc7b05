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

void claims_of_negative_beta(Claims& claims) {
  // b(D) - b(1) = 1 - D^beta in units of e^theta_alpha; for the mutant less 1/2. At beta = 0 it is
  // exactly 0 in every reading: D^0 = exp(0) = 1.
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

  const auto neighbour_gets = above_zero<"alpha", "beta", "n", "gap">(
      []<class R>(R alpha, R beta, R n, R gap, bool mutant) {
        const GgdBias<R> bias{alpha, beta};
        const R penalty = mutant ? R(0.0) : -bias(1), one(1.0);
        return neighbour_weight(bias, static_cast<int>(reference::representative(n)), gap) -
               one / (one + (n - one) * exp(penalty - gap));
      });
  const auto rows = [](const std::vector<double>& gaps) {
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
                       rows({20})),
                 correction("p_i,i-1 - 1/(1 + (n - 1) e^(alpha^|beta| - g)) > 0",
                            neighbour_gets(false), rows({0, 4, 20}))},
      .mutant = {"p_i,i-1 > 1/(1 + (n - 1) e^-g).",
                 check("p_i,i-1 - 1/(1 + (n - 1) e^-g) > 0", neighbour_gets(true), rows({0, 4}))},
  });

  // The prior's mass at distances D/2 + 1 .. D of 1 .. D, less 3/4.
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
  // b(d + 1) - b(d) and (alpha/d)^|beta| + b(D), what the whole way from d to D adds at most, with
  // b(d) <= b(D) < 0; for the mutant b(d) - b(d + 1).
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
  const auto shapes = [](const std::vector<double>& alphas, const std::vector<double>& betas) {
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
                        shapes({2048}, {1}))),
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
      .checks = {check("alpha = 1: mass of the farther half - 3/4 >= 0, e^(b(d)) summed over d > "
                       "D/2 and over d = 1..D, b(d) = -(d/alpha)^beta",
                       far_half_holds, shapes({1}, {-0.5, -1, -4})),
                 condition("alpha = 2048, 4096, beta <= -1: mass of the farther half - 3/4 >= 0",
                           far_half_holds, shapes({2048, 4096}, {-1, -1.25})),
                 correction("b(d + 1) - b(d) >= 0 and (alpha/d)^|beta| - (b(D) - b(d)) >= 0",
                            rises_and_flattens(false), shapes({0.5, 1, 64}, {-0.25, -1, -2}))},
      .mutant = {"The prior falls with the distance.",
                 check("b(d) - b(d + 1) >= 0", rises_and_flattens(true), shapes({1}, {-1}))},
      .pictures = {pictures::prior_curves},
  });

  const auto sum_grows_with_n =
      at_least_zero<"N", "alpha", "beta">([]<class R>(int N, R alpha, R beta, bool mutant) {
        const GgdBias<R> bias{alpha, beta};
        const R total = mass(Vector<R>(zeros<R>(N + 1)), bias, 1, N + 1);
        return mutant ? R(100.0) - total : total - R(N) * exp(bias(1));
      });
  const auto parameters =
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
      .proof = holds("For d >= 1, (alpha/d)^|beta| <= alpha^|beta|, so each term is at least "
                     "e^(-alpha^|beta|) and the first N sum to at least N e^(-alpha^|beta|), which "
                     "has no bound."),
      .checks =
          check("sum_{d <= N} e^b - N e^(-alpha^|beta|) >= 0", sum_grows_with_n(false), parameters),
      .mutant = {"The sum over 512 distances is at most 100.",
                 check("100 - sum_{d <= N} e^b >= 0", sum_grows_with_n(true), parameters)},
  });
}

}  // namespace plumbline::proofs_checks::bam
