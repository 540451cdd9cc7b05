// SPDX-License-Identifier: Apache-2.0
#include "proofs_checks/bam/source.hpp"

namespace plumbline::proofs_checks::bam {
void claims_of_tail(Claims& claims) {
  // ln of the ratio of the priors, B - A = m d - (d/alpha)^beta, less m d/2, at the distance
  // d = c (2 alpha^-beta / m)^(1/|1 - beta|), mu = 0.
  const auto tail_ratio_grows =
      above_zero<"alpha", "beta", "m", "c">([]<class R>(R alpha, R beta, R m, R c) {
        const R one(1.0), two(2.0);
        const R d = c * power(two * power(alpha, -beta) / m, one / absolute(one - beta));
        return m * d / two - power(d / alpha, beta);
      });
  const auto shapes = [](const std::vector<double>& betas) {
    return grid({{"alpha", {0.25, 1.0, 64.0}},
                 {"beta", betas},
                 {"m", {1.0, 0.5, 0x1p-8}},
                 {"c", {1.0625, 2.0, 100.0}}});
  };
  const auto tail_ratio_grows_with_mu =
      above_zero<"alpha", "beta", "m", "mu">([]<class R>(R alpha, R beta, R m, R mu) {
        const R one(1.0), two(2.0);
        const R d = R(100.0) * (one + power(two * power(alpha, -beta) / m, one / (one - beta)));
        return m * d / two - power((d + mu) / alpha, beta);
      });
  claims["bam/heavier_tail"] = Claim({
      .title = "A fractional exponent gives a heavier tail than Laplace",
      .source = source("Section 2.5, \"GGD-BAM with beta in (0, 1)\"; appendix A, last sentence"),
      .statement = "The generalized Gaussian prior with beta in (0, 1) has a heavier tail than the "
                   "Laplace prior: exp(B_ij) / exp(A_ij) -> infinity as |j - i| -> infinity.",
      .hypotheses = {needed_as_the_mutant_shows(
                         {"beta < 1.", "beta", below(1)},
                         "For beta > 1 the tail is the lighter one; the witness is at d = 272."),
                     not_needed({"beta > 0.", "beta", above(0)},
                                "For beta <= 0 the prior does not even fall to 0.",
                                check("beta = 0, -1/2: B - A - m d/2 > 0", tail_ratio_grows,
                                      shapes({0, -0.5})))},
      .implicit =
          {definition(
               "alpha > 0 and m > 0 are any.",
               "They are scales: x/0 has no value, and for m <= 0 there is no Laplace prior."),
           not_needed(
               {"mu = 0.", "mu", exactly(0)},
               "Another mu shifts d by a constant, and the rate holds from some distance on; for "
               "mu = 5/2 from 100 (1 + (2 alpha^-beta / m)^(1/(1 - beta))).",
               check("m d/2 - ((d + mu)/alpha)^beta > 0 with mu = 5/2", tail_ratio_grows_with_mu,
                     {{{"alpha", 1}, {"beta", 0.5}, {"m", 0.5}, {"mu", 2.5}},
                      {{"alpha", 64}, {"beta", 0.125}, {"m", 0x1p-8}, {"mu", 2.5}}}))},
      .proof = holds("B - A = m d - (d/alpha)^beta. For d >= (2 alpha^-beta / m)^(1/(1 - beta)) "
                     "the second term is at most m d/2, so the ratio is at least e^(m d/2): an "
                     "explicit rate, for every alpha and m."),
      .checks = check("B - A - m d/2 > 0 beyond the distance of the rate", tail_ratio_grows,
                      shapes({0.125, 0.5, 0.875})),
      .mutant = {"The same with beta = 3/2.",
                 check("beta = 3/2: B - A - m d/2 > 0 at d = c (2 alpha^-beta / m)^(1/|1 - beta|)",
                       tail_ratio_grows, shapes({1.5}))},
  });

  const auto bias_is_finite =
      above_zero<"x", "alpha", "beta">([]<class R>(R x, R alpha, R beta, bool mutant) {
        const R size = power(x / alpha, beta);
        return std::vector<R>{size, R(mutant ? 1.0 : 0x1p80) - size};
      });
  claims["bam/alpha_zero"] = Claim({
      .title = "The statements on GGD-BAM include alpha = 0",
      .source = source("Sections 2.3 and 2.4: Lemma 4, Theorems 3 and 4, \"alpha >= 0\"; "
                       "appendices B.4, B.6 and B.7 have alpha > 0"),
      .statement = "Lemma 4 and Theorems 3 and 4 hold for any alpha >= 0, so b_ij = -|(j - "
                   "i)/alpha|^beta is a function at alpha = 0 too, also for the own key.",
      .hypotheses = {definition(
          "mu = 0.",
          "The own key then stands at the peak; for another mu the key at mu takes its part.")},
      .implicit = {definition(
          "At alpha = 0 the bias is meant as a limit: the quotient itself divides by 0.",
          "Without a limit there is no value at all.")},
      .condition = "alpha > 0, as the appendix states.",
      .proof = holds_under_condition(
          "|x/alpha|^beta has no limit as x and alpha tend to 0: it is 1 on the way x = alpha and "
          "2^beta on the way x = 2 alpha. For other keys the limits alpha -> 0 exist (b -> minus "
          "infinity for beta > 0, b -> 0 for beta < 0) but that of the own key decides between "
          "weight 1, 0 and any other. Section 2.3 itself defines the GGD for alpha > 0 only."),
      .checks = {check(
                     "|x/alpha|^beta at x = 2 alpha less that at x = alpha = 0",
                     equals_zero<"alpha", "beta">([]<class R>(R alpha, R beta) {
                       return power(R(2.0) * alpha / alpha, beta) - power(alpha / alpha, beta);
                     }),
                     grid({{"alpha", {0x1p-10, 0x1p-100, 0x1p-1000}}, {"beta", {1.0, -1.0, 0.5}}})),
                 condition(
                     "0 < |x/alpha|^beta < 2^80 for all alpha in [2^-10, 2^10], x in [1, 2^20], "
                     "beta in [-2, 1.5]",
                     bias_is_finite(false),
                     grid({within("x", 1, 0x1p20), boxes("alpha", growing(0x1p-10, 0x1p10, 4)),
                           boxes("beta", evenly(-2, 1.5, 7))}))},
      .mutant = {"|x/alpha|^beta < 1.",
                 check("x = 4, alpha = 1, beta = 1: 1 - |x/alpha|^beta > 0", bias_is_finite(true),
                       {{{"x", 4}, {"alpha", 1}, {"beta", 1}}})},
  });
}

}  // namespace plumbline::proofs_checks::bam
