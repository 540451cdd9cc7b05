// SPDX-License-Identifier: Apache-2.0
#include "proofs_checks/bam/priors.hpp"
#include "proofs_checks/bam/source.hpp"
#include "proofs_checks/pictures/pictures.hpp"

namespace plumbline::proofs_checks::bam {
namespace {

/// B/A = (d/alpha)^beta / (m d), mu = 0.
template <class R>
R ratio(const R& alpha, const R& beta, const R& m, const R& d) {
  return power(d / alpha, beta) / (m * d);
}

}  // namespace

void claims_of_theorem_2(Claims& claims) {
  // All real distances from 1 to 2^20 in boxes whose ends are in the ratio 3/2.
  const auto all_distances = [](const std::vector<double>& betas) {
    return grid({{"m", {0.5, 0x1p-8}}, {"beta", betas}, boxes("d", growing(1, 0x1p20, 1.5))});
  };
  const auto witness_below_one = above_zero<"m", "beta", "d">([]<class R>(R m, R beta, R d) {
    const R alpha = power(m / R(2.0), R(-1.0) / beta);
    return R(1.0) - power(d / alpha, beta) / (m * d);
  });
  const auto below_one_beyond = above_zero<"m", "beta", "alpha">([]<class R>(R m, R beta, R alpha) {
    const R d = R(2.0) * power(m * power(alpha, beta), R(1.0) / (beta - R(1.0)));
    return R(1.0) - power(d / alpha, beta) / (m * d);
  });
  claims["bam/theorem_2"] = Claim({
      .title = "Some GGD prior has a bias smaller than ALiBi's for every beta < 1",
      .source = source("Theorem 2, section 2.3, and appendix B.5"),
      .statement = "B_ij / A_ij = |(j - i - mu)/alpha|^beta / (m |j - i|) < 1 for some mu and "
                   "alpha, and for beta < 1.",
      .hypotheses =
          {needed({"beta < 1.", "beta", below(1)},
                  "For beta > 1 no scale serves every distance: at d = c d*, d* = (m "
                  "alpha^beta)^(1/(beta - 1)), the ratio is c^(beta - 1) > 1 whatever alpha is, "
                  "and for any mu it grows like d^(beta - 1). (At beta = 1 one does: alpha = 2/m.)",
                  check("1 - (d/alpha)^beta / (m d) > 0 at d = 2 d*", below_one_beyond,
                        grid({{"m", 0.5}, {"beta", 1.5}, {"alpha", {4.0, 1.0, 1024.0}}}))),
           definition("m > 0.",
                      "For m = 0 the ratio divides by 0; for m < 0 it is negative and the "
                      "statement trivial.")},
      .implicit = {definition(
                       "j is not i, so |j - i| >= 1.",
                       "At distance 0 the ratio divides by 0, and distances are whole numbers."),
                   needed("mu and alpha may depend on beta and m, and serve every distance.",
                          "alpha = 1 does not serve m = 1/256 and beta = 1/2.",
                          check("mu = 0, alpha = 1: 1 - d^beta / (m d) > 0",
                                above_zero<"d", "beta", "m">([]<class R>(R d, R beta, R m) {
                                  return R(1.0) - power(d, beta) / (m * d);
                                }),
                                {{{"m", 0x1p-8}, {"beta", 0.5}, {"d", 512}}}))},
      .condition = "beta is not 0.",
      .proof = holds_under_condition(
          "beta = 0: |y|^0 = 1 whatever mu and alpha are, so the ratio is 1/(m d), above 1 for d < "
          "1/m: 2 for m = 1/2, d = 1, and for ALiBi's slope 1/256 up to d = 255. For any other "
          "beta < 1: mu = 0 and alpha = (m/2)^(-1/beta) give the ratio d^(beta - 1)/2 <= 1/2 for d "
          ">= 1. The criterion is weak: beta = 1 with alpha = 2/m, which is ALiBi with half the "
          "slope, meets it too (bam/theorem_2_necessarily, bam/theorem_2_weights)."),
      .theorem = "theorem_2.theorem_2",
      .checks = {check("beta = 0, any alpha and mu: 1 - y^beta/(m d) > 0, y = |j - i - mu|/alpha",
                       above_zero<"y", "beta", "m", "d">([]<class R>(R y, R beta, R m, R d) {
                         const R ratio = power(y, beta) / (m * d);
                         return R(1.0) - ratio;
                       }),
                       {{{"m", 0.5}, {"beta", 0}, {"d", 1}, within("y", 0x1p-100, 0x1p100)}}),
                 condition("mu = 0, alpha = (m/2)^(-1/beta): 1 - ratio > 0 on all d in [1, 2^20]",
                           witness_below_one,
                           all_distances({-2, -0.5, -0.0625, 0.0625, 0.5, 0.9375}))},
      .mutant = {"The same alpha serves beta = 3/2.",
                 check("beta = 3/2, alpha = (m/2)^(-1/beta): 1 - ratio > 0", witness_below_one,
                       all_distances({1.5}))},
      .pictures = {pictures::theorem_2_ratio},
  });

  // All beta in [0, 1 - 2^-10] at the distances given.
  const auto all_betas = [](const std::vector<double>& ds) {
    return grid({{"d", ds}, boxes("beta", evenly(0, 1023 * 0x1p-10, 11))});
  };
  const auto power_below_one = above_zero<"d", "beta">([]<class R>(R d, R beta, bool mutant) {
    return R(mutant ? 0.5 : 1.0) - power(d, beta - R(1.0));
  });
  claims["bam/theorem_2_proof"] = Claim({
      .title = "The ratio of Theorem 2's proof is |j - i|^(beta - 1) and below 1",
      .source = source("Appendix B.5, the displayed chain"),
      .statement = "For mu = 0, |(j - i)/alpha|^beta = m |j - i|^beta and beta in (0, 1): B_ij / "
                   "A_ij = |j - i|^(beta - 1) < 1.",
      .hypotheses = {needed({"beta < 1.", "beta", below(1)},
                            "For beta > 1 the power grows with the distance.",
                            check("1 - d^(beta - 1) > 0 with beta = 3/2", power_below_one(false),
                                  {{{"d", 2}, {"beta", 1.5}}})),
                     not_needed(
                         "beta > 0.", "The power is below 1 for every beta < 1.",
                         check("1 - d^(beta - 1) > 0 for beta in [-2, 0]", power_below_one(false),
                               {{{"d", 2}, within("beta", -2, 0)},
                                {{"d", 512}, within("beta", -2, 0)}})),
                     needed("mu = 0, alpha^-beta = m.",
                            "With alpha = 1 and mu = 0 the ratio is d^(beta - 1)/m.",
                            check("1 - d^(beta - 1)/m > 0: alpha = 1",
                                  above_zero<"d", "beta", "m">([]<class R>(R d, R beta, R m) {
                                    return R(1.0) - power(d, beta - R(1.0)) / m;
                                  }),
                                  {{{"m", 0x1p-8}, {"d", 2}, {"beta", 0.5}}}))},
      .implicit = {definition("j is not i: at distance 0 the ratio is 0/0.", "It has no value.")},
      .condition = "|j - i| >= 2.",
      .correction = "At distance 1 the ratio is 1: the neighbours' biases agree. (alpha slightly "
                    "larger makes it less than 1 there too: bam/theorem_2.)",
      .proof = holds_under_condition("1^(beta - 1) = 1 for every beta. For d >= 2 and beta < 1, ln "
                                     "d^(beta - 1) = (beta - 1) ln d < 0."),
      .theorem = "theorem_2.theorem_2_proof",
      .checks = {check("1 - d^(beta - 1) > 0 for d = 1, 2, 3", power_below_one(false),
                       all_betas({1, 2, 3})),
                 condition("1 - d^(beta - 1) > 0 for d >= 2, all beta in [0, 1 - 2^-10]",
                           power_below_one(false), all_betas({2, 3, 512, 0x1p30}))},
      .mutant = {"The ratio is below 1/2.",
                 check("1/2 - d^(beta - 1) > 0", power_below_one(true), all_betas({2, 3, 512}))},
      .pictures = {pictures::theorem_2_ratio},
  });

  const auto scale_gives_slope =
      equals_zero<"m", "beta", "x">([]<class R>(R m, R beta, R x, double sign, bool printed) {
        const R alpha = power(m, R(sign) / (printed ? m : beta));
        return power(x / alpha, beta) - m * power(x, beta);
      });
  const auto slopes =
      grid({{"m", {0.25, 0.5, 0.0625}}, {"beta", {0.5, 0.75, 0.125}}, {"x", {1, 2, 100}}});
  claims["bam/theorem_2_scale"] = Claim({
      .title = "The scale chosen in the proof of Theorem 2",
      .source =
          source("Appendix B.5, alpha in the proof's second sentence, and the first two lines "
                 "of the displayed chain"),
      .statement =
          "With mu = 0 and alpha = 1 / (m-th root of m), |(j - i)/alpha|^beta = m |j - i|^beta.",
      .hypotheses = {"beta in (0, 1), m > 0."},
      .implicit = {"The root's index is m, as the text extracted from the manuscript has it; there "
                   "is one copy of the formula, and the extraction may have misread a beta."},
      .correction = "alpha = m^(-1/beta), one over the beta-th root of m.",
      .correction_hypotheses =
          {not_needed("beta in (0, 1).", "(m^(-1/beta))^-beta = m for every beta but 0.",
                      check("alpha = m^(-1/beta): |x/alpha|^beta - m |x|^beta = 0",
                            scale_gives_slope(-1, false),
                            {{{"m", 0.25}, {"beta", -2}, {"x", 3}},
                             {{"m", 0.25}, {"beta", 3}, {"x", 3}}})),
           definition("m > 0.", "A power of a negative number need not be real.")},
      .proof = refuted("alpha^-beta = m^(beta/m) with the printed alpha, which is m only if beta = "
                       "m or m = 1. m = 1/4, beta = 1/2: alpha = 256 and alpha^-beta = 1/16 in "
                       "place of 1/4. (m^(-1/beta))^-beta = m for every beta."),
      .theorem = "theorem_2.theorem_2_scale_fails",
      .checks = {check("alpha = m^(-1/m): |x/alpha|^beta - m |x|^beta = 0",
                       scale_gives_slope(-1, true), slopes),
                 correction("alpha = m^(-1/beta): |x/alpha|^beta - m |x|^beta = 0",
                            scale_gives_slope(-1, false), slopes)},
      .mutant = {"alpha = m^(1/beta).", check("alpha = m^(1/beta): |x/alpha|^beta - m |x|^beta = 0",
                                              scale_gives_slope(1, false), slopes)},
  });

  const auto around_meeting = above_zero<"alpha", "beta", "m", "c">(
      []<class R>(R alpha, R beta, R m, R c, bool beyond, bool mutant) {
        const R one(1.0);
        const R meeting = power(power(alpha, -beta) / m, one / (mutant ? beta : one - beta));
        return beyond ? one - ratio(alpha, beta, m, meeting * c)
                      : ratio(alpha, beta, m, meeting / c) - one;
      });
  const auto around = grid({{"alpha", {0.25, 1.0, 100.0}},
                            {"beta", {0.125, 0.25, 0.875}},
                            {"m", {0.5, 0x1p-8}},
                            {"c", {1.0625, 2.0, 1000.0}}});
  const auto ratio_with_mu =
      above_zero<"d", "mu", "alpha", "beta", "m">([]<class R>(R d, R mu, R alpha, R beta, R m) {
        const R bias = power((d + mu) / alpha, beta);
        return R(1.0) - bias / (m * d);
      });
  claims["bam/theorem_2_necessarily"] = Claim({
      .title = "GGD-BAM with beta < 1 necessarily sees more context than ALiBi",
      .source =
          source("Theorem 2, section 2.3, first sentence; section 2.5, \"slower decay rate\""),
      .statement = "GGD-BAM is necessarily capable of seeing more context length than ALiBi: for "
                   "beta in (0, 1), whatever alpha is, B_ij / A_ij < 1 (mu = 0, |j - i| >= 2).",
      .hypotheses =
          {needed({"beta < 1.", "beta", below(1)},
                  "For beta > 1 the GGD's bias is the larger one beyond d*.",
                  check("beta = 3/2, d = c d*: 1 - ratio > 0", around_meeting(true, false),
                        {{{"alpha", 1}, {"beta", 1.5}, {"m", 0.5}, {"c", 2}}})),
           not_needed({"beta > 0.", "beta", above(0)},
                      "Below 0 the bias even falls with the distance.",
                      check("beta = -1/2, d = c d*: 1 - ratio > 0", around_meeting(true, false),
                            {{{"alpha", 1}, {"beta", -0.5}, {"m", 0.5}, {"c", 2}}})),
           definition("The ratio below 1 is what seeing more context means.",
                      "It says what is compared; bam/theorem_2_weights asks whether it is right.")},
      .implicit = {needed(
                       {"mu = 0.", "mu", exactly(0)},
                       "A prior whose peak is far ahead has a large bias just beyond d*.",
                       check("|(d + mu)/alpha|^beta < m d at d > d* = 4", ratio_with_mu,
                             {{{"alpha", 1}, {"beta", 0.5}, {"m", 0.5}, {"d", 5}, {"mu", 1000}}})),
                   definition("\"Necessarily\" is read as: for every alpha, and not for some.",
                              "It says what the word means.")},
      .condition = "|j - i| > d* = (alpha^-beta / m)^(1/(1 - beta)).",
      .correction = "For every alpha the ratio is above 1 before d* and below 1 beyond. \"For some "
                    "alpha\" does not tell GGD-BAM from ALiBi: alpha = 2/m with beta = 1 has the "
                    "ratio 1/2 everywhere.",
      .proof = holds_under_condition(
          "(d/alpha)^beta / (m d) = alpha^-beta d^(beta - 1) / m decreases in d and is 1 at d*. "
          "alpha = 1 (theta_alpha = 0, the paper's own starting value), beta = 1/2 and ALiBi's "
          "smallest slope m = 1/256: d* = 65536; at d = 512 the ratio is 11.3, so the GGD "
          "penalises eleven times as much over the whole training length."),
      .theorem = "theorem_2.theorem_2_necessarily",
      .checks =
          {check(
               "alpha = 1, beta = 1/2, m = 1/256: 1 - (d/alpha)^beta / (m d) > 0",
               above_zero<"alpha", "beta", "m", "d">([]<class R>(R alpha, R beta, R m, R d) {
                 return R(1.0) - ratio(alpha, beta, m, d);
               }),
               grid({{"alpha", 1}, {"beta", 0.5}, {"m", 0x1p-8}, {"d", {512, 2, 65535, 1 << 20}}})),
           condition("d = c d*, c > 1: 1 - ratio > 0", around_meeting(true, false), around),
           correction("d = d*/c, c > 1: ratio - 1 > 0", around_meeting(false, false), around)},
      .mutant = {"d* = (alpha^-beta / m)^(1/beta).",
                 check("d = c d*, c > 1: 1 - ratio > 0", around_meeting(true, true), around)},
      .pictures = {pictures::theorem_2_mass},
  });

  const auto more_weight = at_least_zero<"m", "beta", "n">([]<class R>(R m, R beta, int n) {
    const Vector<R> f = zeros<R>(n);
    const auto ggd = weights(f, PowerBias<R>{m, beta}), alibi = weights(f, LaplaceBias<R>{m});
    return at_each("d", 2, f.size(), [&](int d) { return ggd[d] - alibi[d]; });
  });
  const auto any_contents =
      with(contents(false, 10), grid({{"m", {1.0, 0.25}}, {"beta", {0.125, 0.5, 0.9375}}}));
  const auto mass_beyond =
      at_least_zero<"m", "beta", "f">([]<class R>(R m, R beta, const Vector<R>& f, bool mutant) {
        const auto ggd = weights(f, PowerBias<R>{m, beta}), alibi = weights(f, LaplaceBias<R>{m});
        const int n = static_cast<int>(f.size());
        return at_each("w", 1, n, [&](int w) {
          const auto beyond = [&](const Vector<R>& p) {
            return sum(Vector<R>(mutant ? p.head(w) : p.tail(n - w)));
          };
          return beyond(ggd) - beyond(alibi);
        });
      });
  const auto beyond_with_unit_scale =
      at_least_zero<"keys", "beta", "m">([]<class R>(int keys, R beta, R m) {
        const Vector<R> f = zeros<R>(keys);
        const auto ggd = weights(f, PowerBias<R>{R(1.0), beta});
        const auto alibi = weights(f, LaplaceBias<R>{m});
        return alibi[0] - ggd[0];
      });
  // beta < 0: the own key has weight 0 under the GGD.
  const auto beyond_without_own =
      at_least_zero<"m", "f", "beta">([]<class R>(R m, const Vector<R>& f, R beta) {
        const int n = static_cast<int>(f.size());
        const PowerBias<R> ggd{m, beta};
        const LaplaceBias<R> alibi{m};
        return at_each("w", 1, n, [&](int w) {
          const R of_ggd = mass(f, ggd, w, n) / mass(f, ggd, 1, n);
          const R of_alibi = mass(f, alibi, w, n) / mass(f, alibi, 0, n);
          return of_ggd - of_alibi;
        });
      });
  claims["bam/theorem_2_weights"] = Claim({
      .title = "A ratio of biases below 1 means more attention to the key",
      .source = source("Appendix B.5, first sentence and conclusion"),
      .statement = "For GGD-BAM to see more context than ALiBi the ratio B_ij / A_ij must be less "
                   "than 1: where it is, with mu = 0 and alpha = m^(-1/beta), the key's weight is "
                   "at least that under ALiBi.",
      .hypotheses =
          {"beta in (0, 1), mu = 0, alpha = m^(-1/beta), so B/A = d^(beta - 1) < 1 for d >= 2."},
      .implicit = {"Same content under both priors; seeing a key means giving it weight."},
      .correction = "For every window w and every content, the mass at distance w and beyond is at "
                    "least that under ALiBi.",
      .correction_hypotheses =
          {needed({"beta < 1.", "beta", below(1)}, "For beta = 2 the GGD has less mass beyond 2.",
                  check("beta = 2: mass beyond w: GGD - ALiBi >= 0", mass_beyond(false),
                        {{{"f", {0, 0, 0, 0}}, {"m", 0.25}, {"beta", 2}}})),
           not_needed(
               {"beta > 0.", "beta", above(0)},
               "For beta < 0 the own key has weight 0, and m (d - d^beta) still rises on d >= 1.",
               check("beta < 0, own weight 0: mass beyond w: GGD - ALiBi >= 0 for every w",
                     beyond_without_own,
                     {{{"f", {0, 0, 0, 0}}, {"m", 0.25}, {"beta", -0.5}},
                      {{"f", {3, -2, 0.5, 1, 0}}, {"m", 1}, {"beta", -0.5}}})),
           definition("beta is not 0.", "alpha = m^(-1/beta) divides by it."),
           needed("alpha = m^(-1/beta).", "A small alpha removes all keys but the own one.",
                  check("alpha = 1, m = 1/256: mass at distance 1 and beyond",
                        beyond_with_unit_scale, {{{"m", 0x1p-8}, {"beta", 0.5}, {"keys", 4}}}))},
      .proof = refuted(
          "The ratio compares logits; weights are also divided by their sum, and the slower decay "
          "makes the sum larger. m = 1/4, beta = 1/2, 64 equal contents, d = 2: ALiBi gives e^-0.5 "
          "(1 - e^-0.25) = 0.134, the GGD 0.036. The conclusion is saved by monotonicity: B - A = "
          "m (d - d^beta) does not decrease in d, so GGD's weights are ALiBi's times an increasing "
          "factor (monotone likelihood ratio), which moves mass outwards past every w."),
      .checks = {check("n equal contents, d >= 2: p_GGD - p_ALiBi >= 0, e^(-m d^beta) and e^(-m "
                       "d), each over its sum for d = 0..n-1",
                       more_weight, grid({{"m", 0.25}, {"beta", 0.5}, {"n", {8, 64, 256}}})),
                 correction("mass beyond w: GGD - ALiBi >= 0 for every w", mass_beyond(false),
                            any_contents)},
      .mutant = {"The mass nearer than w: GGD - ALiBi >= 0.",
                 check("mass nearer than w: GGD - ALiBi >= 0 for every w", mass_beyond(true),
                       any_contents)},
      .pictures = {pictures::theorem_2_weights},
  });

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
      .theorem = "theorem_2.heavier_tail",
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
