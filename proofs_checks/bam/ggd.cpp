// SPDX-License-Identifier: Apache-2.0
#include "reference/bias/ggd.hpp"

#include "proofs_checks/bam/priors.hpp"
#include "proofs_checks/pictures/pictures.hpp"
#include "reference/bias/alibi.hpp"

namespace plumbline::proofs_checks::bam {

void claims_of_ggd(Claims& claims) {
  const auto laplace_is_alibi = equals_zero<"m">([]<class R>(R m, bool mutant) {
    const R one(1.0);
    const GgdBias<R> ggd{mutant ? m : one / m, one};
    const reference::Alibi<R> alibi{m};
    std::vector<R> residuals;
    for (int i = 0; i < 8; ++i) {
      for (int j = 0; j <= i; ++j) residuals.push_back(ggd(i - j) - alibi(i, j));
    }
    return residuals;
  });
  const auto slopes = grid({{"m", {0.5, 1.0, 0x1p-8, 0.75, 3.0}}});
  const auto ggd_is_alibi = equals_zero<"m", "alpha m", "mu", "epsilon", "beta">(
      []<class R>(R m, R alpha_m, R mu, R epsilon, R beta) {
        const R alpha = alpha_m / m;
        return at_each("d", 1, 8, [&](int d) {
          const R x = (R(d) + mu + epsilon) / alpha;
          return m * R(d) - power(absolute(x), beta);
        });
      });
  const auto parameters = numbers_of({"alpha m", "beta", "mu", "m", "epsilon"});
  const auto other = [=](auto... numbers) {
    return check("b_ij - a_ij = 0 at distances 1..7, alpha = (alpha m)/m", ggd_is_alibi,
                 {parameters(numbers...)});
  };
  claims["bam/ggd_laplace"] = Claim({
      .title = "mu = 0, beta = 1 and alpha = 1/m give ALiBi",
      .source = source("Section 2.3, after the softmax; appendix A, \"when beta = 1\""),
      .statement = "When mu = 0, beta = 1 and alpha = 1/m, b_ij = -|(j - i - mu)/alpha|^beta is "
                   "ALiBi's a_ij = -m |j - i|.",
      .hypotheses = {needed({"mu = 0.", "mu", exactly(0)}, "The bias is shifted.",
                            other(1, 1, 1, 0.5, 0)),
                     needed({"beta = 1.", "beta", exactly(1)}, "d^2 is not d.",
                            other(1, 2, 0, 0.5, 0)),
                     needed({"alpha = 1/m.", "alpha m", exactly(1)}, "The slope is 1/alpha.",
                            other(2, 1, 0, 0.5, 0)),
                     needed({"m > 0.", "m", above(0)}, "|d/(1/m)| is not m d for m < 0.",
                            other(1, 1, 0, -0.5, 0))},
      .implicit = {needed(
          {"Without the epsilon of appendix C (bam/alibi_initialisation).", "epsilon", exactly(0)},
          "The bias has -m epsilon more, though the weights are the same.",
          other(1, 1, 0, 0.5, 0x1p-16))},
      .proof = holds_under_condition("|d/(1/m)|^1 = m d; at d = 0 both are 0."),
      .theorem = "ggd.ggd_laplace",
      .checks = check("b_ij - a_ij = 0", laplace_is_alibi(false), slopes),
      .mutant = {"alpha = m.", check("alpha = m: b_ij - a_ij = 0", laplace_is_alibi(true), slopes)},
  });

  const auto exponents_agree =
      equals_zero<"alpha", "x", "mu">([]<class R>(R alpha, R x, R mu, bool mutant) {
        const R y = x - mu;
        const R variance = alpha * alpha / R(mutant ? 1.0 : 2.0);
        return y * y / (R(2.0) * variance) - power(absolute(y / alpha), R(2.0));
      });
  const auto points =
      grid({{"x", {-1.0, -7.0, 100.0}}, {"mu", {0.0, 2.5, -3.25}}, {"alpha", {1.0, 0.5, 12.0}}});
  // At x = mu.
  const auto kernel_is_density = equals_zero<"alpha">([]<class R>(R alpha) {
    const R sigma = alpha / sqrt(R(2.0));
    return R(1.0) - R(1.0) / (sigma * sqrt(R(2.0) * reference::pi<R>()));
  });
  claims["bam/ggd_normal"] = Claim({
      .title = "beta = 2 gives a normal distribution",
      .source = source("Appendix A, after the three distributions"),
      .statement = "When beta = 2, exp(-|(x - mu)/alpha|^beta) becomes Normal.",
      .hypotheses = {definition("alpha > 0.",
                                "x/0 has no value, and a negative scale gives the same function."),
                     needed({"beta = 2.", "beta", exactly(2)}, "Another power is not a square.",
                            check("beta = 1: (x - mu)^2/(2 sigma^2) - |(x - mu)/alpha|^beta = 0",
                                  equals_zero<"x - mu", "alpha", "beta">(
                                      []<class R>(R x_mu, R alpha, R beta) {
                                        const R y = x_mu / alpha;
                                        return y * y - power(absolute(y), beta);
                                      }),
                                  {{{"x - mu", 2}, {"alpha", 1}, {"beta", 1}}}))},
      .implicit = {needed(
          "Up to the factor that normalises; over integers, the normal density at them.",
          "The density at its mean is 1/(sigma sqrt(2 pi)) and not 1.",
          check("e^0 - 1/(sigma sqrt(2 pi)) = 0, sigma^2 = alpha^2/2", kernel_is_density,
                {{{"alpha", 1}}}))},
      .correction = "Its mean is mu and its standard deviation alpha/sqrt(2), not alpha.",
      .proof = holds_under_condition(
          "((x - mu)/alpha)^2 = (x - mu)^2 / (2 sigma^2) for sigma^2 = alpha^2/2."),
      .theorem = "ggd.ggd_normal",
      .checks =
          check("(x - mu)^2/(2 sigma^2) - |(x - mu)/alpha|^2 = 0", exponents_agree(false), points),
      .mutant = {"The standard deviation is alpha.",
                 check("sigma = alpha: the same", exponents_agree(true), points)},
  });

  const auto falls_faster =
      above_zero<"y", "beta", "beta'">([]<class R>(R y, R beta, R larger, int sign) {
        // y^beta (y^(beta' - beta) - 1): the sign is that of the second factor, also on a box.
        const R factor = power(y, larger - beta) - R(1.0);
        return R(sign) * power(y, beta) * factor;
      });
  const auto two_powers = [](double y) {
    return Samples{{{"y", y}, {"beta", 1}, {"beta'", 2}},
                   {{"y", y}, {"beta", 0.25}, {"beta'", 0.5}}};
  };
  const auto all_between = [](double lower, double upper) {
    return Samples{
        {within("y", lower, upper), within("beta", 0.125, 1), within("beta'", 1.0625, 2)},
        {within("y", lower, upper), within("beta", 1, 2), within("beta'", 2.5, 4)}};
  };
  claims["bam/ggd_larger_beta"] = Claim({
      .title = "A larger beta gives a sharper, more localized prior",
      .source = source("Appendix A, last sentence before appendix B"),
      .statement =
          "Larger values of beta yield sharper, more localized priors; lower values yield large "
          "tailed distributions: for the same mu and alpha, p(x)/p(mu) falls as beta grows.",
      .hypotheses = {needed("beta < beta'.", "The other way round it is false.",
                            check("beta = 2, beta' = 1: y^beta' - y^beta > 0", falls_faster(1),
                                  {{{"y", 2}, {"beta", 2}, {"beta'", 1}}})),
                     definition({"beta > 0.", "beta", above(0)},
                                "The statement is about p(x)/p(mu), and p(mu) = 0 for beta < 0. "
                                "(y^beta itself grows with every real beta for y > 1.)"),
                     needed("The same alpha and mu.",
                            "A larger scale makes up for the larger power.",
                            check("y'^beta' - y^beta > 0 with y' = |x - mu|/alpha' = 1.125",
                                  above_zero<"y'", "beta'", "y", "beta">(
                                      []<class R>(R other_y, R other_beta, R y, R beta) {
                                        return power(other_y, other_beta) - power(y, beta);
                                      }),
                                  {{{"y", 2}, {"beta", 1}, {"y'", 1.125}, {"beta'", 2}}}))},
      .implicit = {definition("Read at single positions. (The variance over the reals, alpha^2 "
                              "Gamma(3/beta)/Gamma(1/beta), falls up to beta of about 9, to 0.3143 "
                              "alpha^2, and rises again towards alpha^2/3.)",
                              "It says what \"sharper\" means.")},
      .condition = "|x - mu| > alpha: the position lies in the tail.",
      .correction = "Within |x - mu| < alpha a larger beta makes the prior flatter, and at |x - "
                    "mu| = alpha it is e^-1 for every beta. As beta grows the prior tends to a "
                    "uniform one on [mu - alpha, mu + alpha], whose top is not sharp.",
      .proof = holds_under_condition(
          "ln p(x)/p(mu) = -y^beta with y = |x - mu|/alpha, and y^beta grows with beta for y > 1, "
          "falls for y < 1. y = 1/2: e^-0.5 = 0.61 for beta = 1, e^-0.25 = 0.78 for beta = 2."),
      .theorem = "ggd.ggd_larger_beta",
      .checks = {check("y = 1/2, 2: y^beta' - y^beta > 0", falls_faster(1),
                       joined({two_powers(0.5), two_powers(2)})),
                 condition("all y in [1.01, 1000]: y^beta' - y^beta > 0", falls_faster(1),
                           all_between(1.01, 1000)),
                 correction("all y in [0.001, 0.99]: y^beta - y^beta' > 0", falls_faster(-1),
                            all_between(0.001, 0.99))},
      .mutant = {"|x - mu| > alpha/2 is enough.",
                 check("y = 3/4: y^beta' - y^beta > 0", falls_faster(1), two_powers(0.75))},
      .pictures = {pictures::ggd_shapes},
  });

  // The own key keeps b = 0, and the size of any other bias is at least 1.
  const auto comes_near_own =
      above_zero<"beta", "d">([]<class R>(R beta, R d) { return R(0.5) - power(d, beta); });
  const auto biases_approach =
      at_least_zero<"beta", "d", "epsilon">([]<class R>(R beta, R d, R epsilon, bool mutant) {
        const R other = power(d + epsilon, beta), own = power(epsilon, beta);
        const R logs = log(d + epsilon) - (mutant ? R(0.0) : log(epsilon));
        return exp(beta * logs) - R(1.0) - absolute(other - own);
      });
  // The rate, solved for beta: all biases up to the distance D differ by less than eta.
  const auto biases_within = above_zero<"eta", "epsilon", "D", "beta/B", "d/D">(
      []<class R>(R eta, R epsilon, R D, R part, R nearer) {
        const R beta = part * (log1p(eta) / (log(D + epsilon) - log(epsilon)));
        return eta - absolute(power(nearer * D + epsilon, beta) - power(epsilon, beta));
      });
  // The rate of the condition for other parameters; the bias at distance d against that at another.
  const auto approach_with =
      at_least_zero<"beta", "epsilon", "d", "mu", "theta_alpha", "own key at">(
          []<class R>(R beta, R epsilon, R d, R mu, R theta_alpha, R own_key_at) {
            const R one(1.0);
            const auto size = [&](const R& x) { return power(x + mu + epsilon, beta); };
            const R scale = exp(theta_alpha);
            const R difference = scale * size(d) - scale * size(own_key_at);
            const R logs = log(d + mu + epsilon) - log(epsilon);
            return exp(absolute(beta) * logs) - one - absolute(difference) / scale;
          });
  const auto biases_of = numbers_of({"beta", "d", "epsilon", "mu", "theta_alpha", "own key at"});
  const auto other_biases = [=](const std::string& what, double beta, double mu, double theta_alpha,
                                double own) {
    return check(
        "e^(|beta| (ln(d + mu + epsilon) - ln epsilon)) - 1 - |b - b_own| e^-theta_alpha >= 0, " +
            what,
        approach_with, {biases_of(beta, 512, 0x1p-16, mu, theta_alpha, own)});
  };
  const auto shapes = grid({{"beta", {0.5, 0.125, 0x1p-6, 0x1p-12, 0x1p-20}}, {"d", {1, 2, 512}}});
  const auto shapes_with_epsilon = with(shapes, {{{"epsilon", 0x1p-16}}});
  claims["bam/ggd_limits"] = Claim({
      .title = "As beta falls to 0 the prior becomes uniform",
      .source = source("Appendix H.1: theta_beta = 0 is a uniform prior, \"a middle ground\" "
                       "between beta = 1 and beta < 0; the definition in section 2.3"),
      .statement =
          "theta_beta = 0, the uniform prior, is a middle ground between a Laplace prior and beta "
          "< 0: for beta -> 0+ all biases b_ij = -|(j - i)/alpha|^beta approach each other.",
      .hypotheses = {not_needed({"mu = 0.", "mu", exactly(0)},
                                "All biases tend to -1 whatever mu is.",
                                other_biases("mu = 5/2", 0x1p-6, 2.5, 0, 0)),
                     not_needed({"beta -> 0 from above.", "beta", above(0)},
                                "With epsilon it is the limit from below as well.",
                                other_biases("beta < 0", -0x1p-6, 0, 0, 0))},
      .implicit = {not_needed({"alpha = 1 is kept (theta_alpha = 0).", "theta_alpha", exactly(0)},
                              "theta_alpha multiplies all biases by e^theta_alpha.",
                              other_biases("theta_alpha = 1", 0x1p-6, 0, 1, 0)),
                   not_needed(
                       {"The query's own key is among the keys.", "own key at", exactly(0)},
                       "With epsilon the other keys approach each other as well, and sooner.",
                       other_biases("against the key at distance 1", 0x1p-6, 0, 0, 1))},
      .condition = "The bias has appendix C's epsilon > 0.",
      .correction = "Without epsilon the own key keeps b = 0 while all others tend to -1: in the "
                    "limit it has e times the weight of any other, and from beta < 0 it has none: "
                    "the uniform prior is the limit from neither side. With epsilon all biases up "
                    "to the distance D differ by less than eta for beta <= ln(1 + eta)/ln((D + "
                    "epsilon)/epsilon): the longer the context, the smaller beta has to be.",
      .proof = holds_under_condition(
          "d^beta >= 1 for d >= 1 and tends to 1, but 0^beta = 0 for every beta > 0: at every beta "
          "the two biases differ by at least 1. With epsilon the difference is (d + epsilon)^beta "
          "- epsilon^beta <= ((d + epsilon)/epsilon)^beta - 1 = e^(beta ln((d + epsilon)/epsilon)) "
          "- 1 -> 0, slowly: ln epsilon = -11.5. The bound grows with beta and with d, so it holds "
          "for all smaller ones. (Machine-checked as ggd.ggd_limits_rate, and the lower bound "
          "without epsilon as ggd.ggd_limits_fails_without_epsilon.)"),
      .theorem = "ggd.ggd_limits",
      .checks =
          {check("without epsilon, at every beta in (0, 1] and every d: 1/2 - |b - b_own| > 0, b = "
                 "-d^beta, b_own = 0",
                 comes_near_own, {{within("beta", 0x1p-1000, 1), within("d", 1, 0x1p40)}}),
           condition("epsilon = 2^-16: e^(beta ln((d + epsilon)/epsilon)) - 1 - |b - b_own| >= 0",
                     biases_approach(false), shapes_with_epsilon),
           condition("all beta in [0, B], B = ln(1 + eta)/ln((D + epsilon)/epsilon), and all d in "
                     "[0, D]: eta - |b - b_own| > 0",
                     biases_within,
                     grid({{"eta", {1, 0x1p-4, 0x1p-10, 0x1p-20}},
                           {"epsilon", 0x1p-16},
                           {"D", {1, 512, 0x1p20, 0x1p40}},
                           within("beta/B", 0, 1),
                           within("d/D", 0, 1)}))},
      .mutant = {"The rate is e^(beta ln(d + epsilon)) - 1.",
                 check("epsilon = 2^-16: e^(beta ln(d + epsilon)) - 1 - |b - b_own| >= 0",
                       biases_approach(true), shapes_with_epsilon)},
      .pictures = {pictures::ggd_shapes},
  });

  const auto weights_of_nope = equals_zero<"f", "theta_alpha", "theta_beta", "theta_mu">(
      []<class R>(const Vector<R>& f, R theta_alpha, R theta_beta, R theta_mu) {
        const reference::Ggd<R> bias(theta_alpha, theta_beta, theta_mu, R(1e-5));
        const int last = static_cast<int>(f.size()) - 1;
        const auto without = softmax(f).probability;
        const auto with = weights(f, [&](int j) { return bias(last, j); });
        return at_each("j", 0, last + 1, [&](int j) { return with[j] - without[j]; });
      });
  const auto thetas = numbers_of({"theta_alpha", "theta_beta", "theta_mu"});
  const auto priors = [=](double theta_beta) {
    return with(contents(true, 10), {thetas(0, theta_beta, 0), thetas(1.5, theta_beta, 0),
                                     thetas(-2, theta_beta, 0.5)});
  };
  claims["bam/beta_zero_uniform"] = Claim({
      .title = "theta_beta = 0 and theta_alpha = 0 is a uniform prior",
      .source = source("Appendix H.1"),
      .statement = "The initialization theta_beta = 0, theta_alpha = 0 \"is equivalent to "
                   "assigning a Uniform prior to all tokens in the context\".",
      .hypotheses = {needed_as_the_mutant_shows(
                         {"theta_beta = 0, b_ij as in appendix C.", "theta_beta", exactly(0)},
                         "Another power depends on the distance."),
                     not_needed({"theta_alpha = 0.", "theta_alpha", exactly(0)},
                                "The constant -e^theta_alpha cancels.",
                                check("theta_alpha = 3/2: softmax(f + b)_j - softmax(f)_j = 0",
                                      weights_of_nope,
                                      {{{"f", {1, 0, -2}},
                                        {"theta_alpha", 1.5},
                                        {"theta_beta", 0},
                                        {"theta_mu", 0}}}))},
      .implicit = {definition("epsilon > 0, which makes the power of the own key 1 and not 0^0.",
                              "0^0 has no value that all agree on."),
                   definition("Uniform over the visible keys.",
                              "It says what \"all tokens in the context\" are.")},
      .correction = "It holds for every theta_alpha and theta_mu as well: the bias is "
                    "-e^theta_alpha everywhere. Where theta_beta = 0, theta_alpha therefore has no "
                    "effect, and no gradient through the weights.",
      .proof = holds("(|j - i - mu| + epsilon)^0 = 1, so b_ij = -e^theta_alpha for all keys of a "
                     "row; a constant leaves a softmax unchanged."),
      .theorem = "ggd.beta_zero_uniform",
      .checks = check("softmax(f + b)_j - softmax(f)_j = 0", weights_of_nope, priors(0)),
      .mutant = {"theta_beta = 1/8 is uniform too.",
                 check("theta_beta = 1/8: the same", weights_of_nope, priors(0.125))},
  });

  // The prior of the i visible keys, and the density beta/(2 alpha Gamma(1/beta)) e^b with a scale
  // that is `wider` times alpha.
  const auto prior_and_density = []<class R>(const Inputs<R>& in, int wider) {
    const R &alpha = in.number("alpha"), &beta = in.number("beta"), &mu = in.number("mu");
    const int i = static_cast<int>(reference::representative(in.number("i")));
    const GgdBias<R> bias{alpha, beta, mu}, wide{R(wider) * alpha, beta, mu};
    Vector<R> density(i);
    const R peak = beta / (R(2.0 * wider) * alpha * in.number("Gamma(1/beta)"));
    for (int d = 0; d < i; ++d) density[d] = peak * exp(wide(d));
    return std::pair(softmax_of<R>(i, bias), density);
  };
  const auto prior_is_density = equals_zero([=]<class R>(const Inputs<R>& in) {
    const auto [prior, density] = prior_and_density(in, 1);
    std::vector<R> residuals;
    for (int d = 0; d < prior.size(); ++d) residuals.push_back(prior[d] - density[d]);
    return residuals;
  });
  const auto prior_follows_density = equals_zero([=]<class R>(const Inputs<R>& in, int wider) {
    const auto [prior, density] = prior_and_density(in, wider);
    std::vector<R> residuals;
    for (int d = 0; d < prior.size(); ++d) {
      residuals.push_back(prior[d] * density[0] - prior[0] * density[d]);
    }
    return residuals;
  });
  const auto visible = grid({{"alpha", {1, 0.5, 4}},
                             {"beta", {1, 0.5}},
                             {"Gamma(1/beta)", 1},
                             {"mu", {0, -2.5, 1.5}},
                             {"i", {1, 2, 8, 64}}});
  claims["bam/ggd_prior"] = Claim({
      .title = "The bias of GGD-BAM gives a generalized Gaussian prior",
      .source = source("Section 2.3, before the softmax"),
      .statement =
          "Adding b_ij = -|(j - i - mu)/alpha|^beta \"makes p(g_pos(i, j)) = GGD(mu, alpha, "
          "beta, j - i)\": softmax(M + B)_j is the density beta/(2 alpha Gamma(1/beta)) "
          "e^(b_ij).",
      .hypotheses = {definition("beta > 0 and alpha > 0.", "Otherwise there is no GGD.")},
      .implicit = {definition("GGD is the density of the generalized Gaussian distribution.",
                              "It says what the symbol means.")},
      .condition = "The equality is meant up to one factor for each query, as appendix A defines "
                   "its priors (\"proportional to\").",
      .proof = holds_under_condition(
          "softmax(M + B)_j = e^(b_ij)/sum_{z <= i} e^(b_iz): the two are proportional to e^(b_ij) "
          "on the visible keys. They are not equal: the only key of the first token has the prior "
          "1, and for alpha = beta = 1 and mu = 0 the density 1/2. (Checked for beta = 1 and 1/2, "
          "where Gamma(1/beta) = 1.)"),
      .checks = {check("softmax(M + B)_j - beta/(2 alpha Gamma(1/beta)) e^(b_ij) = 0",
                       prior_is_density, visible),
                 condition("prior(j) density(i) - prior(i) density(j) = 0",
                           prior_follows_density(1), visible)},
      .mutant = {"It is the GGD with the scale 2 alpha, up to a factor.",
                 check("prior(j) density(i) - prior(i) density(j) = 0, the scale 2 alpha",
                       prior_follows_density(2), visible)},
  });

  // |b(0) - 2 b(1) + b(2)| / |b(1)|: alpha cancels.
  const auto bends = at_least_zero<"beta">(
      []<class R>(R beta) { return absolute(power(R(2.0), beta) - R(2.0)) - R(1.0) / R(1000.0); });
  claims["bam/nonlinear_biases"] = Claim({
      .title = "The biases of GGD-BAM are non-linear",
      .source = source("Section 2.3, \"a matrix of non-linear biases\"; appendix A"),
      .statement = "B is \"a matrix of non-linear biases\": b(0) - 2 b(1) + b(2) is not 0, b(d) = "
                   "-(d/alpha)^beta.",
      .hypotheses = {definition("beta > 0, alpha > 0, mu = 0.", "It says which biases.")},
      .implicit = {definition("Non-linear means not linear in the distance; a thousandth of b(1) "
                              "stands for not 0.",
                              "Without a number there is nothing to check.")},
      .condition = "beta is not 1.",
      .correction = "For beta = 1 they are linear: that is ALiBi (bam/ggd_laplace).",
      .proof =
          holds_under_condition("b(0) - 2 b(1) + b(2) = (2 - 2^beta) alpha^(-beta), which is 0 "
                                "for beta = 1 and for no other beta."),
      .checks = {check("|2^beta - 2| - 1/1000 >= 0 at beta = 1, 1/2, 2", bends,
                       grid({{"beta", {1, 0.5, 2}}})),
                 condition("beta in (0, 7/8] and in [9/8, 4]: |2^beta - 2| - 1/1000 >= 0", bends,
                           {{within("beta", 0x1p-30, 0.875)}, {within("beta", 1.125, 4)}})},
      .mutant = {"Those with beta = 1 are too.",
                 check("beta = 1: |2^beta - 2| - 1/1000 >= 0", bends, {{{"beta", 1}}})},
  });
}

}  // namespace plumbline::proofs_checks::bam
