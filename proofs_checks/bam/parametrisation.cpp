// SPDX-License-Identifier: Apache-2.0
#include "proofs_checks/bam/priors.hpp"
#include "proofs_checks/pictures/pictures.hpp"
#include "reference/bias/alibi.hpp"
#include "reference/bias/ggd.hpp"

namespace plumbline::proofs_checks::bam {
namespace {

/// For each head of H the weights of 8 keys of equal content, under the GGD that `start` gives to
/// the head's slope, less those under ALiBi; `row` tells of the keys in the place.
template <class R, class Start>
std::vector<Placed<R>> less_alibi(int H, const std::string& row, const Start& start) {
  std::vector<Placed<R>> residuals;
  int h = 0;
  for (const R& slope : reference::alibi_slopes<R>(H)) {
    const reference::Ggd<R> ggd = start(slope);
    const reference::Alibi<R> alibi{slope};
    const auto ours = softmax_of<R>(8, [&](int j) { return ggd(7, j); });
    const auto theirs = softmax_of<R>(8, [&](int j) { return alibi(7, j); });
    ++h;
    for (int j = 0; j < 8; ++j) {
      residuals.push_back(
          {ours[j] - theirs[j], "h = " + std::to_string(h) + ", j = " + std::to_string(j) + row});
    }
  }
  return residuals;
}

}  // namespace

void claims_of_parametrisation(Claims& claims) {
  const auto bias_is_ggd = equals_zero<"theta_alpha", "theta_beta", "x", "epsilon">(
      []<class R>(R a, R beta, R x, R epsilon, bool mutant) {
        const R alpha = exp(mutant ? -a : -(a / beta));
        return power(x / alpha, beta) - exp(a) * power(x + epsilon, beta);
      });
  const auto relative_error =
      at_least_zero<"theta_beta", "x", "epsilon">([]<class R>(R beta, R x, R epsilon) {
        const R one(1.0), stretch = one + epsilon / x;
        return power(stretch, absolute(beta)) - one - absolute(power(stretch, beta) - one);
      });
  const auto parameters = [](double epsilon) {
    return grid({{"x", {1.0, 2.0, 300.0}},
                 {"theta_alpha", {0.5, -1.0, 0.0}},
                 {"theta_beta", {1.0, 0.5, -0.25, -1.0}},
                 {"epsilon", epsilon}});
  };
  claims["bam/theta_parametrisation"] = Claim({
      .title = "The bias of appendix C is the GGD with alpha = exp(-theta_alpha/theta_beta)",
      .source = source("Appendix C, b_ij and the sentence after it, against section 2.3"),
      .statement =
          "b_ij = -e^theta_alpha (|(j - i) - mu| + epsilon)^theta_beta is the GGD -|(j - i - "
          "mu)/alpha|^beta with beta = theta_beta and alpha = e^(-theta_alpha/theta_beta).",
      .hypotheses = {definition("mu = e^theta_mu - e^(-theta_mu).",
                                "It says what mu is (bam/mu_parametrisation)."),
                     definition("epsilon = 10^-5.", "The condition replaces it.")},
      .implicit = {definition(
          "j - i is not mu.",
          "There both are 0^beta: 0 for beta > 0, without a value for beta < 0.")},
      .condition = "epsilon = 0 (and theta_beta is not 0).",
      .conditions = {needed("epsilon = 0.", "The implemented power is that of x + epsilon.", {}),
                     definition(
                         "theta_beta is not 0.",
                         "-theta_alpha/theta_beta divides by 0 (bam/theta_alpha_positive).")},
      .correction = "With epsilon the bias is stretched by (1 + epsilon/x)^beta, x = |j - i - mu|: "
                    "relatively by about 10^-5 |beta|/x. At x = 0 it is a different function: "
                    "-e^theta_alpha epsilon^beta in place of 0 (beta > 0; -0.32 for beta = 0.1) or "
                    "minus infinity (beta < 0).",
      .proof = holds_under_condition("|x/alpha|^beta = |x|^beta e^(theta_alpha). The implemented "
                                     "power is (x + epsilon)^beta."),
      .theorem = "ggd.theta_parametrisation",
      .checks = {check("epsilon = 10^-5: |x/alpha|^beta + b_ij = 0", bias_is_ggd(false),
                       parameters(1e-5)),
                 condition("epsilon = 0: |x/alpha|^beta + b_ij = 0", bias_is_ggd(false),
                           parameters(0)),
                 correction("(1 + epsilon/x)^|beta| - 1 - |(1 + epsilon/x)^beta - 1| >= 0",
                            relative_error, parameters(1e-5))},
      .mutant = {"alpha = e^(-theta_alpha).", check("epsilon = 0, alpha = e^-theta_alpha: the same",
                                                    bias_is_ggd(true), parameters(0))},
  });

  const auto represents = equals_zero<"x", "theta_beta", "alpha", "theta_alpha">(
      []<class R>(R x, R beta, R alpha, R theta_alpha) {
        return power(x / alpha, beta) - exp(theta_alpha) * power(x, beta);
      });
  const auto alpha_is_positive = above_zero<"theta_alpha", "theta_beta">(
      []<class R>(R theta_alpha, R theta_beta, bool mutant) {
        return exp(-(theta_alpha / theta_beta)) - R(mutant ? 1.0 : 0.0);
      });
  const auto represents_with_epsilon = equals_zero<"theta_beta", "theta_alpha", "alpha", "epsilon">(
      []<class R>(R beta, R theta_alpha, R alpha, R epsilon) {
        const R factor = exp(theta_alpha);
        return at_each("x", {1, 2}, [&](int x) {
          return power(R(x) / alpha, beta) - factor * power(R(x) + epsilon, beta);
        });
      });
  // Every alpha from 2^-200 to 2^200. At x = 1 it would have to be 1/(1 + epsilon), at x = 2 1/(1 +
  // epsilon/2).
  const auto every_alpha_with_epsilon =
      grid({{"theta_alpha", 0},
            {"theta_beta", 1},
            {"epsilon", 0x1p-16},
            boxes("alpha", {0x1p-200, 1 - 0.75 * 0x1p-16, 0x1p200})});
  // At theta_beta = 0 the power is 1 for all of them.
  const auto every_alpha = grid(
      {{"x", 2}, {"theta_alpha", 1}, {"theta_beta", 0}, boxes("alpha", {0x1p-200, 1, 0x1p200})});
  claims["bam/theta_alpha_positive"] = Claim({
      .title = "The parametrisation gives an alpha >= 0 for all parameters",
      .source = source("Appendix C, \"that ensures alpha >= 0\""),
      .statement = "alpha = e^(-theta_alpha/theta_beta) ensures alpha >= 0, so the implemented "
                   "bias is a GGD with some alpha >= 0 whatever the learned parameters are.",
      .hypotheses = {definition("theta_alpha and theta_beta are any real numbers.",
                                "It says how general it is.")},
      .implicit = {needed({"epsilon = 0, which is not the point here (bam/theta_parametrisation).",
                           "epsilon", exactly(0)},
                          "With epsilon no alpha gives the bias at all distances.",
                          exists("some alpha in [2^-200, 2^200] has |x/alpha|^theta_beta = "
                                 "e^theta_alpha (|x| + epsilon)^theta_beta at x = 1, 2",
                                 represents_with_epsilon, every_alpha_with_epsilon))},
      .condition = "theta_beta is not 0. Then alpha > 0, never 0.",
      .correction = "At theta_beta = 0 alpha is not defined, and no alpha gives the bias unless "
                    "theta_alpha = 0: the bias is -e^theta_alpha and |x/alpha|^0 = 1. The paper's "
                    "best results start there (appendix H.1).",
      .proof =
          holds_under_condition("-theta_alpha/theta_beta divides by 0. theta_alpha = 1, theta_beta "
                                "= 0: the implemented bias is -e for all keys and every GGD with "
                                "beta = 0 has -1. The exponential of a finite number is positive."),
      .theorem = "ggd.theta_alpha_positive",
      .checks = {exists("some alpha in [2^-200, 2^200] has |x/alpha|^0 = e^1 |x|^0", represents,
                        every_alpha),
                 condition("alpha > 0 on boxes without theta_beta = 0", alpha_is_positive(false),
                           joined({grid({within("theta_alpha", -4, 4),
                                         boxes("theta_beta", growing(-4, -0x1p-4, 0.5))}),
                                   grid({within("theta_alpha", -4, 4),
                                         boxes("theta_beta", growing(0x1p-4, 4, 2))})}))},
      .mutant = {"alpha > 1 for all parameters.",
                 check("alpha - 1 > 0", alpha_is_positive(true),
                       {{{"theta_alpha", 1}, {"theta_beta", 0.5}}})},
  });

  const auto bias_is_bounded = at_least_zero<"theta_alpha", "theta_beta", "theta_mu">(
      []<class R>(R a, R beta, R theta_mu, bool mutant) {
        const R epsilon(1e-5);
        const reference::Ggd<R> bias(a, beta, theta_mu, epsilon);
        const R bound = exp(a) * (mutant ? R(1.0) : power(epsilon, beta));
        return at_each("i = 7, j", 0, 8, [&](int j) { return bias(7, j) + bound; });
      });
  const auto negative_betas = grid({{"theta_alpha", {0.0, -2.0, 1.0}},
                                    {"theta_beta", {-0.0625, -0.5, -0.6}},
                                    {"theta_mu", {0.0, -1.0}}});
  claims["bam/epsilon_division"] = Claim({
      .title = "epsilon avoids the division by zero of beta < 0",
      .source = source("Appendix C, \"epsilon = 10^-5 avoids division by zero when beta < 0\""),
      .statement = "With epsilon = 10^-5 every b_ij is finite for theta_beta < 0: b_ij >= "
                   "-e^theta_alpha epsilon^theta_beta.",
      .hypotheses = {needed({"theta_beta < 0.", "theta_beta", below(0)},
                            "For theta_beta > 0 the bias is largest in size far away.",
                            check("theta_beta = 1/2: b_ij + e^theta_alpha epsilon^theta_beta >= 0",
                                  bias_is_bounded(false),
                                  {{{"theta_alpha", 0}, {"theta_beta", 0.5}, {"theta_mu", 0}}}))},
      .implicit = {definition("Real numbers. In float32 the bound itself overflows below "
                              "theta_beta = -7.7 (theta_alpha = 0).",
                              "The statement is one about real numbers.")},
      .correction = "The price: the own key has a finite bias, so Theorem 3 no longer holds for "
                    "every beta < 0 (bam/theorem_3_epsilon).",
      .proof = holds("|j - i - mu| + epsilon >= epsilon > 0, and y^theta_beta decreases in y. "
                     "Equality where j - i = mu."),
      .theorem = "ggd.epsilon_division",
      .checks = check("b_ij + e^theta_alpha epsilon^theta_beta >= 0", bias_is_bounded(false),
                      negative_betas),
      .mutant = {"b_ij >= -e^theta_alpha.",
                 check("b_ij + e^theta_alpha >= 0", bias_is_bounded(true), negative_betas)},
  });

  const auto mu_is_reached = equals_zero<"mu">([]<class R>(R mu, bool mutant) {
    const R half = mutant ? mu : mu / R(2.0);
    const R theta = log(half + sqrt(half * half + R(1.0)));
    return exp(theta) - exp(-theta) - mu;
  });
  const auto mu_increases = above_zero<"theta_mu", "step">([]<class R>(R theta, R step) {
    const R one(1.0);
    return exp(theta) * (exp(step) - one) + exp(-theta) * (one - exp(-step));
  });
  const auto positions = grid({{"mu", {0.0, 1.0, -1.0, -8.0, 0.125}}});
  claims["bam/mu_parametrisation"] = Claim({
      .title = "theta_mu = 0 fixes mu = 0, and theta_mu reaches every mu",
      .source = source("Section 3, \"fixing theta_mu = 0\"; appendix A, \"we fix mu = 0\"; "
                       "appendix C, mu = e^theta_mu - e^-theta_mu"),
      .statement = "mu = e^theta_mu - e^(-theta_mu) is 0 for theta_mu = 0, increases with theta_mu "
                   "and takes every real value.",
      .hypotheses = {definition("mu = e^theta_mu - e^(-theta_mu).",
                                "It is what the claim is about.")},
      .implicit = {needed(
          "theta_mu is any real number.", "Without negative ones no negative mu is reached.",
          exists(
              "some theta_mu in [0, 100] has mu = -1",
              equals_zero<"theta_mu", "mu">(
                  []<class R>(R theta, R mu) { return exp(theta) - exp(-theta) - mu; }),
              {{{"mu", -1}, within("theta_mu", 0, 1)}, {{"mu", -1}, within("theta_mu", 1, 100)}}))},
      .proof = holds_under_condition(
          "mu = 2 sinh theta_mu: odd, derivative e^theta + e^-theta >= 2, inverse theta "
          "= ln(mu/2 + sqrt(mu^2/4 + 1))."),
      .theorem = "ggd.mu_parametrisation",
      .checks = {check("mu(theta(mu)) - mu = 0, mu = 0 among them", mu_is_reached(false),
                       positions),
                 check("mu(theta + s) - mu(theta) > 0 for all theta in [-8, 8], s in [2^-20, 1]",
                       mu_increases, {{within("theta_mu", -8, 8), within("step", 0x1p-20, 1)}})},
      .mutant = {"theta_mu = ln(mu + sqrt(mu^2 + 1)).",
                 check("the same without the halves", mu_is_reached(true), positions)},
  });

  // The sign of a difference of biases does not depend on alpha.
  const auto peak_is_at_mu = above_zero<"mu", "beta">([]<class R>(R mu, R beta, bool mutant) {
    const double centre = reference::representative(mu);
    const auto height = [&](int x) {
      return x == centre ? R(0.0) : -power(absolute(R(x) - mu), beta);
    };
    const int peak = mutant || centre > 0 ? 0 : static_cast<int>(centre);
    std::vector<Placed<R>> residuals;
    for (int x = 0; x > -16; --x) {
      if (x == peak) continue;
      // beta may be a box: for mu > 0 and the peak at 0, compare by the quotient of the bases.
      const R less = peak == 0 && centre > 0 ? power(absolute(R(x) - mu) / mu, beta) - R(1.0)
                                             : height(peak) - height(x);
      residuals.push_back({less, "j - i = " + std::to_string(x)});
    }
    return residuals;
  });
  const auto locations =
      grid({{"mu", {0.0, -1.0, -7.0, 0.5, 1.0, 40.0}}, within("beta", 0.0625, 0.9375)});
  claims["bam/mu_peak"] = Claim({
      .title = "mu moves the peak of the prior, and beyond the mask if mu > 0",
      .source = source("Section 2.5, \"GGD-BAM with beta in (0, 1)\""),
      .statement = "For beta in (0, 1) the location mu moves the peak along the distribution; mu > "
                   "0 moves it beyond the causal mask: the largest prior is at j - i = mu for an "
                   "integer mu <= 0, and among visible keys at j = i for mu > 0.",
      .hypotheses =
          {not_needed(
               {"beta < 1.", "beta", below(1)}, "The peak is at mu for every beta > 0.",
               check("b at the peak - b elsewhere > 0 for all beta in [1, 3]", peak_is_at_mu(false),
                     {{{"mu", -7}, within("beta", 1, 3)}, {{"mu", 0.5}, within("beta", 1, 3)}})),
           needed({"beta > 0.", "beta", above(0)},
                  "For beta < 0 mu is where the prior is smallest, not largest.",
                  check("beta = -1: b at j = i - b elsewhere > 0", peak_is_at_mu(false),
                        {{{"mu", 0.5}, {"beta", -1}}})),
           definition("alpha > 0.", "It is a scale: x/0 has no value."),
           needed("The causal mask.", "Without it the key at mu > 0 is visible and has the peak.",
                  check("mu = 1: b(0) - b(1) > 0, a key after the query",
                        above_zero<"mu", "beta">(
                            []<class R>(R mu, R beta) { return -power(mu, beta); }),
                        {{{"mu", 1}, {"beta", 0.5}}}))},
      .implicit = {definition("The sign: positions are j - i, so mu = -7 is seven tokens back.",
                              "It says what mu counts.")},
      .proof = holds(
          "-|x - mu|^beta is 0 at x = mu and negative elsewhere. For mu > 0 and x <= 0, |x - mu| = "
          "mu + |x| grows with the distance. alpha scales all of it by a positive factor."),
      .theorem = "ggd.mu_peak",
      .checks = check("b at the peak - b elsewhere > 0 for all beta in [1/16, 15/16]",
                      peak_is_at_mu(false), locations),
      .mutant = {"The peak is always at the query's own key.",
                 check("b(0) - b elsewhere > 0", peak_is_at_mu(true), locations)},
  });

  enum class Drawing { printed, corrected, mutant };
  const auto figure_is_bias = equals_zero<"x", "mu", "alpha", "beta">(
      []<class R>(R x, R mu, R alpha, R beta, Drawing drawing) {
        const R one(1.0);
        const auto size = [&](const R& y) { return power(absolute(y), beta); };
        const R figure = drawing == Drawing::printed     ? size(x / alpha) - mu
                         : drawing == Drawing::corrected ? -size(one / alpha * (x - mu))
                                                         : -size(x / alpha - mu);
        return figure + size((x - mu) / alpha);
      });
  const auto entries = grid({{"x", {-1.0, -4.0, 3.0}},
                             {"mu", {0.0, 0.5, -2.5}},
                             {"alpha", {1.0, 4.0}},
                             {"beta", {1.0, 0.5, -1.0}}});
  claims["bam/figure_5"] = Claim({
      .title = "Figure 5 shows the matrix B that is added to the scores",
      .source = source("Appendix A, Figure 5, against section 2.3"),
      .statement = "The score is QK^T + M + B with B drawn as |(1/alpha) (j - i)|^beta - mu, which "
                   "is b_ij = -|(j - i - mu)/alpha|^beta.",
      .hypotheses =
          {"The matrix under B holds j - i; the figure joins the three terms by plus signs."},
      .implicit =
          {"The figure is known from extracted text only, in which mu stands after the exponent. "
           "The missing minus sign does not depend on where mu belongs: it shows at mu = 0."},
      .correction = "B = -|(1/alpha) ((j - i) - mu)|^beta.",
      .proof = refuted("mu = 0, alpha = 1, beta = 1, j - i = -1: the figure adds 1, section 2.3 "
                       "adds -1. As drawn B rewards distance for beta > 0. mu outside the power is "
                       "a constant and cancels in the softmax."),
      .theorem = "ggd.figure_5_fails",
      .checks = {check("|x/alpha|^beta - mu + |(x - mu)/alpha|^beta = 0",
                       figure_is_bias(Drawing::printed), entries),
                 correction("-|(1/alpha)(x - mu)|^beta + |(x - mu)/alpha|^beta = 0",
                            figure_is_bias(Drawing::corrected), entries)},
      .mutant = {"B = -|(1/alpha)(j - i) - mu|^beta.",
                 check("-|x/alpha - mu|^beta + |(x - mu)/alpha|^beta = 0",
                       figure_is_bias(Drawing::mutant), entries)},
      .pictures = {pictures::figure_5_bias},
  });

  enum class Start { per_layer, per_head, mutant };
  const auto start_is_alibi = equals_zero<"H">([]<class R>(int H, Start start) {
    const R first = reference::alibi_slopes<R>(H)[0];
    return less_alibi<R>(H, " of 0..7, i = 7", [&](const R& slope) {
      const R theta = log(start == Start::per_layer ? first : slope);
      return reference::Ggd<R>(start == Start::mutant ? -theta : theta, R(1.0), R(0.0), R(1e-5));
    });
  });
  const auto heads = grid({{"H", {16, 24, 32}}});
  const auto other_start = equals_zero<"H", "theta_beta", "theta_mu", "epsilon">(
      []<class R>(int H, R theta_beta, R theta_mu, R epsilon) {
        return less_alibi<R>(H, "", [&](const R& slope) {
          return reference::Ggd<R>(log(slope), theta_beta, theta_mu, epsilon);
        });
      });
  const auto layer = numbers_of({"theta_beta", "theta_mu", "epsilon", "H"});
  const auto start = [=](auto... numbers) {
    return check("theta_alpha = ln m_h: p - p_ALiBi = 0", other_start, {layer(numbers...)});
  };
  claims["bam/alibi_initialisation"] = Claim({
      .title = "The first initialisation replicates ALiBi",
      .source = source("Appendix H.1, first initialization"),
      .statement =
          "\"A Laplacian that replicates ALiBi, setting theta_beta = 1, different theta_alpha for "
          "each layer and theta_mu = 0\": the weights of every head are ALiBi's.",
      .hypotheses =
          {needed({"theta_beta = 1.", "theta_beta", exactly(1)}, "Another power is not linear.",
                  start(0.5, 0, 0x1p-16, 16)),
           needed(
               {"theta_mu = 0.", "theta_mu", exactly(0)},
               "A negative mu is a peak among the keys. (A positive one is a shift that cancels.)",
               start(1, -1, 0x1p-16, 16)),
           not_needed("epsilon = 10^-5.", "m epsilon is the same for all keys and cancels.",
                      start(1, 0, 0.25, 16)),
           not_needed("H = 16, 24 or 32 heads per layer (Table 1).",
                      "The argument is one for each head.", start(1, 0, 0x1p-16, 12))},
      .implicit = {definition(
                       "Different for each layer means one value for all heads of a layer.",
                       "It says how the sentence is read; the condition is the other reading."),
                   definition("ALiBi's slopes are those of its authors' code.",
                              "It says what ALiBi is.")},
      .condition = "theta_alpha = ln m_h differs from head to head, as ALiBi's slopes do.",
      .proof = holds_under_condition(
          "With theta_beta = 1, b = -e^theta_alpha (d + epsilon): ALiBi with slope e^theta_alpha, "
          "and a constant that cancels in the softmax. ALiBi has the same slopes in every layer "
          "and H different ones within it, so one value per layer fits one head at most. (The "
          "published code takes the slopes by head.)"),
      .theorem = "ggd.alibi_initialisation",
      .checks = {check("theta_alpha = ln m_1 for all heads: p - p_ALiBi = 0 for 8 equal contents, "
                       "e^(-m_1 (7 - j)) and e^(-m_h (7 - j)), each over its sum, m_h = 2^(-8 h/H) "
                       "(H a power of two)",
                       start_is_alibi(Start::per_layer), heads),
                 condition("theta_alpha = ln m_h: p - p_ALiBi = 0", start_is_alibi(Start::per_head),
                           heads)},
      .mutant = {"theta_alpha = -ln m_h.", check("theta_alpha = -ln m_h: p - p_ALiBi = 0",
                                                 start_is_alibi(Start::mutant), heads)},
  });
}

}  // namespace plumbline::proofs_checks::bam
