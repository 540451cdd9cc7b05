// SPDX-License-Identifier: Apache-2.0
#include "proofs_checks/bam/normalisers.hpp"
#include "proofs_checks/bam/priors.hpp"
#include "proofs_checks/pictures/pictures.hpp"
#include "reference/attention/ssmax.hpp"

namespace plumbline::proofs_checks::bam {
namespace {

/// The weights of the contents f repeated `times` times.
template <class R>
Vector<R> repeated_weights(const Vector<R>& f, int times) {
  const int n = static_cast<int>(f.size());
  return softmax_of<R>(n * times, [&](int j) { return f[j % n]; });
}

/// sum_j |p_j - 1/n|.
template <class R>
R distance_from_uniform(const Vector<R>& p) {
  const R uniform = R(1.0) / R(static_cast<int>(p.size()));
  R total(0.0);
  for (const R& weight : p) total += absolute(weight - uniform);
  return total;
}

/// n^(s z_i) / sum_j n^(s z_j) - softmax(factor z)_i.
template <class R>
std::vector<Placed<R>> powers_less_exponentials(const R& n, const R& s, const R& factor,
                                                const Vector<R>& z) {
  Vector<R> powers(z.size()), logits(z.size());
  for (int j = 0; j < z.size(); ++j) {
    powers[j] = power(n, s * z[j]);
    logits[j] = factor * z[j];
  }
  const R total = sum(powers);
  const auto p = softmax(logits).probability;
  return at_each("i", 0, z.size(), [&](int i) { return powers[i] / total - p[i]; });
}

/// The weight of a key that exceeds n - 1 others by g, with scalable softmax: sg = s g.
template <class R>
R peak_weight(const R& n, const R& sg) {
  return R(1.0) / (R(1.0) + (n - R(1.0)) * power(n, -sg));
}

/// Logits x = f + g of n keys, the weights p = softmax(x) and p' = softmax(s ln n x).
template <class R>
struct Scaled {
  Vector<R> x, p, scaled;
  R factor;
  explicit Scaled(const Inputs<R>& in) : x(in["f"] + in["g"]), p(softmax(x).probability) {
    factor = in.number("s") * log(R(static_cast<int>(x.size())));
    Vector<R> logits = x;
    for (R& logit : logits) logit = factor * logit;
    scaled = softmax(logits).probability;
  }
};

}  // namespace

void claims_of_scalable_softmax(Claims& claims) {
  // With a content of ln(n - 1) above the others' a key has the weight 1/2 at every length.
  const auto peak_vanishes = above_zero<"n">([]<class R>(int n) {
    const int others = n - 1;
    const auto delta = Vector<R>::Constant(others, -log(R(others)));
    return R(0.25) - weight_of_farthest<R>(delta, [](int) { return R(0.0); });
  });
  const auto peak_vanishes_on = above_zero<"n - 1">(
      []<class R>(R others) { return R(0.125) - R(1.0) / (R(1.0) + others * exp(-log(others))); });
  // The rate of the condition, solved for n: the mean of the others' e^(f_z - f_j) is e^delta.
  const auto fading_below_eps =
      above_zero<"F", "eps", "n/N", "delta">([]<class R>(R F, R eps, R times, R delta) {
        const R n = times * (R(2.0) * exp(F + F) / eps), one(1.0);
        return eps - one / (one + (n - one) * exp(delta));
      });
  const auto every_length = [](double F) {
    return grid({{"F", F},
                 {"eps", {0.5, 0x1p-10, 0x1p-30}},
                 within("n/N", 1, 0x1p40),
                 within("delta", -2 * F, 2 * F)});
  };
  const auto fading_below_rate =
      at_least_zero<"F", "delta">([]<class R>(R F, const Vector<R>& delta, bool mutant) {
        const R p = weight_of_farthest<R>(delta, [](int) { return R(0.0); });
        const R n(static_cast<int>(delta.size()) + 1);
        return exp(mutant ? F : F + F) / n - p;
      });
  const auto alibi_own_weight = at_least_zero<"n", "m">([]<class R>(int n, R m) {
    return R(1.0) / R(n) - R(1.0) / mass(Vector<R>(zeros<R>(n)), LaplaceBias<R>{m}, 0, n);
  });
  const auto alibi_own_falls = above_zero<"m", "e^(-m n)">([]<class R>(R m, R q_n) {
    const R one(1.0);
    return R(0.5) - (one - exp(-m)) / (one - q_n);
  });
  claims["bam/fading_peaks"] = Claim({
      .title = "The peaks of a softmax vanish as the context grows",
      .source = source("Section 2.5, \"Scalable Softmax\"; appendix H.4, \"the softmax function "
                       "tends to zero\""),
      .statement = "The denominator of the softmax grows with the context size n while the "
                   "numerator of each token remains constant, leading to vanishing attention "
                   "peaks: max_j p_j -> 0 as n -> infinity.",
      .hypotheses = {needed("No positional bias that removes distant keys.",
                            "Under ALiBi the own key keeps 1 - e^-m at every length.",
                            {check("ALiBi, equal contents: 1/n - p_own >= 0 (F = 0)",
                                   alibi_own_weight, {{{"m", 1}, {"n", 64}}}),
                             check("the same at every length: 1/2 - (1 - e^-m)/(1 - e^(-m n)) > 0, "
                                   "e^(-m n) in [0, e^-m]",
                                   alibi_own_falls, {{{"m", 1}, within("e^(-m n)", 0, 0.375)}})})},
      .implicit = {definition("Nothing is said of the content scores; \"constant\" fixes a token's "
                              "own score, not those of the tokens that are added.",
                              "The condition says it.")},
      .condition = "The content scores are bounded, |f_j| <= F for all n.",
      .correction = "Rate: max_j p_j <= e^(2 F)/n; so max_j p_j < eps from n = 2 e^(2 F)/eps on.",
      .proof = holds_under_condition(
          "Each of the n terms of the denominator is at least e^-F, the numerator at most e^F. The "
          "rate falls with n and tends to 0, so that the limit follows from it; it is "
          "machine-checked as vanishing_weights.fading_peaks_rate. With scores that may grow, f_0 "
          "= ln(n - 1) and 0 elsewhere gives p_0 = 1/2 for every n "
          "(vanishing_weights.fading_peaks_fails_without_bound). With ALiBi no such fading exists: "
          "the own key keeps at least e^(-2 F) (1 - e^-m)."),
      .theorem = "vanishing_weights.fading_peaks",
      .checks = {check("f_0 = ln(n - 1), others 0: 1/4 - p_0 > 0 at some n, p_0 = e^(f_0)/(e^(f_0) "
                       "+ n - 1)",
                       peak_vanishes, grid({{"n", {1024, 64, 2}}})),
                 exists("the same at some n from 2 to 2^20 + 1: 1/8 - p_0 > 0", peak_vanishes_on,
                        grid({boxes("n - 1", growing(1, 0x1p20, 4))})),
                 condition("e^(2 F)/n - p >= 0 on all contents in [-F, F]",
                           fading_below_rate(false),
                           bounded_contents({0, 1, 8}, {1, 15, 255, 1023})),
                 condition("at every n >= 2 e^(2 F)/eps, on all contents in [-F, F]: eps - p > 0",
                           fading_below_eps,
                           joined({every_length(0), every_length(1), every_length(8)}))},
      .mutant = {"The rate is e^F/n.", check("e^F/n - p >= 0", fading_below_rate(true),
                                             {{{"F", 2}, {"delta", std::vector<double>(63, -4)}}})},
      .pictures = {pictures::fading},
  });

  const auto distance_halves = at_least_zero<"f">([]<class R>(const Vector<R>& f) {
    const R once = distance_from_uniform(repeated_weights(f, 1));
    return once / R(2.0) - distance_from_uniform(repeated_weights(f, 16));
  });
  const auto distance_stays = equals_zero<"times", "f">([]<class R>(int times, const Vector<R>& f) {
    const auto once = repeated_weights(f, 1), more = repeated_weights(f, times);
    std::vector<R> residuals = {distance_from_uniform(more) - distance_from_uniform(once)};
    for (int j = 0; j < once.size(); ++j) residuals.push_back(R(times) * more[j] - once[j]);
    return residuals;
  });
  const auto entropy_is_near = at_least_zero<"f">([]<class R>(const Vector<R>& f, bool mutant) {
    const auto p = softmax(f).probability;
    R entropy(0.0), largest = f[0], smallest = -f[0];
    for (int j = 0; j < p.size(); ++j) {
      entropy -= p[j] * log(p[j]);
      largest = maximum(largest, f[j]);
      smallest = maximum(smallest, -f[j]);
    }
    const R spread = mutant ? R(0.0) : largest + smallest;
    return entropy + spread - log(R(static_cast<int>(p.size())));
  });
  // At n keys of any contents in [-F, F] it is H >= ln n - 2 F; ln n is so many times 4 F/eps.
  const auto entropy_nears_its_maximum =
      above_zero<"F", "eps", "times">([]<class R>(R F, R eps, R times) {
        const R ln_n = times * (R(4.0) * F / eps);
        return eps - (F + F) / ln_n;
      });
  const auto entropy_of = []<class R>(const Vector<R>& p) {
    R entropy(0.0);
    for (int j = 0; j < p.size(); ++j) entropy -= p[j] * log(p[j]);
    return entropy;
  };
  const auto half_with_alibi = at_least_zero<"n", "m">([=]<class R>(int n, R m) {
    const auto p = softmax_of<R>(n, [&](int d) { return -m * R(d); });
    return entropy_of(p) - log(R(n)) / R(2.0);
  });
  const auto half_with_a_peak = at_least_zero<"n">([=]<class R>(int n) {
    const R peak = R(2.0) * log(R(n - 1));
    const auto p = softmax_of<R>(n, [&](int j) { return j == 0 ? peak : R(0.0); });
    return entropy_of(p) - log(R(n)) / R(2.0);
  });
  // The first has equal contents, whose distance is 0 at every length.
  const auto all_contents = contents(false, 20);
  const Samples unequal_contents(all_contents.begin() + 1, all_contents.end());
  Samples contents_and_copies = all_contents;
  for (std::size_t k = 0; k < all_contents.size(); ++k)
    contents_and_copies[k].with({"times", double(2 + k % 7)});
  claims["bam/fading_uniform"] = Claim({
      .title = "The attention distribution becomes increasingly uniform as the context grows",
      .source = source("Section 2.5, \"Scalable Softmax\", first sentence"),
      .statement = "Attention fading: the attention distribution becomes increasingly uniform as "
                   "context length grows. Checked as: sum_j |p_j - 1/n| halves when a context is "
                   "repeated sixteen times.",
      .hypotheses = {needed("No positional bias that removes distant keys.",
                            "Under ALiBi the entropy stays bounded at every length.",
                            check("ALiBi, equal contents: H - (ln n)/2 >= 0", half_with_alibi,
                                  {{{"m", 1}, {"n", 64}}, {{"m", 1}, {"n", 512}}}))},
      .implicit = {definition("Becoming uniform means that the distance from the uniform "
                              "distribution tends to 0.",
                              "The condition replaces it.")},
      .condition =
          "Becoming uniform is said of the entropy H as a part of its maximum, H/ln n -> 1, "
          "and the content scores are bounded, |f_j| <= F for all n.",
      .conditions =
          {needed("Becoming uniform is said of H/ln n, which tends to 1.",
                  "Measured by the distance, or by n p_j, a context that is repeated stays as it "
                  "is.",
                  check("distance/2 - the distance of 16 copies >= 0", distance_halves,
                        unequal_contents)),
           needed("The content scores are bounded, |f_j| <= F for all n.",
                  "A content of 2 ln(n - 1) above the others' keeps almost all the weight at every "
                  "length.",
                  check("f_0 = 2 ln(n - 1), others 0: H - (ln n)/2 >= 0", half_with_a_peak,
                        {{{"n", 64}}, {{"n", 512}}}))},
      .correction = "Single weights vanish (bam/fading_peaks), the shape stays: n p_j, every ratio "
                    "p_j/p_k and the distance from uniform do not change when a context is "
                    "repeated.",
      .proof = holds_under_condition(
          "p_j <= e^(max f - min f)/n for every j, so H >= ln n - (max f - min f) >= ln n - 2 F, "
          "and 1 - H/ln n <= 2 F/ln n -> 0. As a distance it is false: r copies of the contents "
          "divide every weight by r and leave n p_j = n e^(f_j)/sum_z e^(f_z). f = (1, 0): sum |p "
          "- 1/n| = 0.462 for every number of copies."),
      .checks = {check("distance/2 - the distance of 16 copies >= 0, sum_j |p_j - 1/n| of "
                       "softmax(f) and of f repeated 16 times",
                       distance_halves, unequal_contents),
                 correction("distance and n p_j of r copies less those of one = 0", distance_stays,
                            contents_and_copies),
                 condition("H - (ln n - (max f - min f)) >= 0", entropy_is_near(false),
                           all_contents),
                 condition("at every ln n >= 4 F/eps: eps - 2 F/ln n > 0",
                           entropy_nears_its_maximum,
                           grid({{"F", {0.5, 1, 8}},
                                 {"eps", {0.5, 0x1p-10, 0x1p-30}},
                                 within("times", 1, 0x1p40)}))},
      .mutant = {"The entropy is ln n.",
                 check("H - ln n >= 0", entropy_is_near(true), unequal_contents)},
  });

  const auto powers_are_exp =
      equals_zero<"s", "f">([]<class R>(R s, const Vector<R>& z, bool mutant) {
        const int n = static_cast<int>(z.size());
        const R factor = reference::ssmax_factor(s, n);
        return powers_less_exponentials(R(n), s, mutant ? factor / log(R(10.0)) : factor, z);
      });
  const auto powers_of_n = equals_zero<"s", "n", "f">([]<class R>(R s, R n, const Vector<R>& z) {
    return powers_less_exponentials<R>(n, s, s * log(n), z);
  });
  const auto scaled_contents = with(contents(true, 10), grid({{"s", {1, 0.25, -0.5, 0}}}));
  claims["bam/ssmax_formula"] = Claim({
      .title = "The two forms of scalable softmax agree",
      .source = source("Section 2.5, \"Scalable Softmax\"; appendix H.4, s ln(n)"),
      .statement = "n^(s z_i) / sum_j n^(s z_j) = e^((s log n) z_i) / sum_j e^((s log n) z_j).",
      .hypotheses = {definition("n >= 1 scores.", "A softmax over none is 0/0."),
                     definition("s is any real number.", "It says how general it is."),
                     needed_as_the_mutant_shows(
                         "log is the natural logarithm, as appendix H.4 writes.",
                         "Another base divides s by a constant.")},
      .implicit = {not_needed("n is the number of keys that the query sees.",
                              "The identity holds for any number n > 0 that both forms use.",
                              check("n = 100, 3 keys: n^(s z_i)/sum - softmax = 0", powers_of_n,
                                    {{{"f", {1, 0, -2}}, {"s", 0.5}, {"n", 100}}}))},
      .correction = "For n = 1 the factor is 0 and the weight 1. A negative s, which \"s in R\" "
                    "allows, turns the order of the keys around.",
      .proof = holds("n^(s z) = e^(s z ln n)."),
      .theorem = "scalable_softmax.ssmax_formula",
      .checks = check("n^(s z_i)/sum n^(s z_j) - softmax(s ln n z)_i = 0", powers_are_exp(false),
                      scaled_contents),
      .mutant = {"log is the logarithm to base 10.",
                 check("n^(s z_i)/sum n^(s z_j) - softmax(s log10 n z)_i = 0", powers_are_exp(true),
                       scaled_contents)},
  });

  const auto keeps_half = at_least_zero<"n", "s", "margin">(
      []<class R>(R n, R s, R margin) { return peak_weight<R>(n, s * margin) - R(1.0) / R(2.0); });
  const auto peak_below_rate = at_least_zero<"n", "s", "margin">([]<class R>(R n, R s, R margin) {
    const R one(1.0), sg = s * margin;
    return power(n, sg - one) / (one - one / n) - peak_weight(n, sg);
  });
  const auto lengths = [](const std::vector<double>& scales, const std::vector<double>& margins) {
    return grid({{"s", scales}, {"margin", margins}, {"n", {512.0, 2.0, 3.0, 32000.0, 0x1p40}}});
  };
  claims["bam/ssmax_sharpness"] = Claim({
      .title = "Scalable softmax preserves the sharpness regardless of the input size",
      .source =
          source("Section 2.5, \"Scalable Softmax\"; appendix H.4, \"fixing that limitation\""),
      .statement = "\"This modification preserves the sharpness of the distribution regardless of "
                   "input size.\" Checked on one key that exceeds n - 1 equal ones by a margin g: "
                   "it keeps at least half of the mass at every n.",
      .hypotheses = {definition("p = softmax(s ln n z), s a learned number.",
                                "It is scalable softmax.")},
      .implicit = {not_needed("The margin does not depend on n.",
                              "Half is kept at every n at which s g >= 1.",
                              check("margins that fall with n: p - 1/2 >= 0", keeps_half,
                                    {{{"s", 1}, {"margin", 2}, {"n", 2}},
                                     {{"s", 1}, {"margin", 1.125}, {"n", 512}},
                                     {{"s", 1}, {"margin", 1}, {"n", 0x1p40}}})),
                   definition("Half stands for any mass that must not be lost as n grows.",
                              "Without a number there is nothing to check.")},
      .condition = "s g >= 1: the learned scale times the margin is at least 1.",
      .correction =
          "p = 1/(1 + (n - 1) n^(-s g)): for s g > 1 it tends to 1, for s g = 1 to 1/2, and for s "
          "g < 1 it fades like n^(s g - 1), more slowly than without (1/n) but to 0 all the same.",
      .proof =
          holds_under_condition("n - 1 keys weigh n^(-s g) each. s = 1 (the starting value) and g "
                                "= 1/2, n = 512: p = 0.042. For s g >= 1, (n - 1) n^(-s g) < 1."),
      .theorem = "scalable_softmax.ssmax_sharpness",
      .checks = {check("s = 1, g = 1/2: p - 1/2 >= 0, p = 1/(1 + (n - 1) n^(-s g)), g the margin",
                       keeps_half, lengths({1}, {0.5})),
                 condition("all s in [1, 4], g in [1, 2]: p - 1/2 >= 0", keeps_half,
                           grid({within("s", 1, 4),
                                 within("margin", 1, 2),
                                 {"n", {2.0, 3.0, 512.0, 32000.0, 0x1p40}}})),
                 correction("s g < 1: n^(s g - 1)/(1 - 1/n) - p >= 0", peak_below_rate,
                            lengths({0.25, 1}, {0.25, 0.875}))},
      .mutant = {"s g >= 3/4 is enough.",
                 check("s g = 3/4: p - 1/2 >= 0", keeps_half, lengths({0.75}, {1}))},
      .pictures = {pictures::fading},
  });

  const auto divides_all = equals_zero([]<class R>(const Inputs<R>& in) {
    const Scaled<R> row(in);
    return at_each("j", 1, row.x.size(),
                   [&](int j) { return row.scaled[j] * row.p[0] - row.scaled[0] * row.p[j]; });
  });
  const auto raises_ratios = equals_zero([]<class R>(const Inputs<R>& in, bool mutant) {
    const Scaled<R> row(in);
    const Normalisers<R> n(in);
    const auto ratio = [](const Vector<R>& p, int j) { return log(p[j]) - log(p[0]); };
    std::vector<R> residuals;
    for (int j = 1; j < row.x.size(); ++j) {
      const R c = mutant ? R(1.0) : row.factor;
      residuals.push_back(ratio(row.scaled, j) - c * ratio(row.p, j));
      residuals.push_back(row.p[j] - n.p_cont(j) * n.p_pos(j) / n.overlap());
    }
    return residuals;
  });
  const auto rows = with(score_pairs(false, 20), grid({{"s", {1, 0.25}}}));
  claims["bam/ssmax_is_z"] = Claim({
      .title = "The scale of scalable softmax serves as the normaliser Z",
      .source = source("Section 2.5, last sentence; appendix H.4, \"s has a similar effect to the "
                       "normalizing scaler Z\""),
      .statement = "The learnable s of scalable softmax \"serves the purpose of learning the "
                   "normalizing dependence scalar Z\"; \"the only effective difference is that Z "
                   "should be a function of both query and keys\". So softmax(s ln n x)_j is "
                   "softmax(x)_j divided by one number for each query, as Z divides in Theorem 1.",
      .hypotheses = {"p_ij = p_cont p_pos / Z (Theorem 1), Z one number for each query."},
      .implicit = shared_hypotheses(),
      .correction = "s ln n is an inverse temperature (the gamma of K.1): ln(p'_j/p'_k) = s ln n "
                    "ln(p_j/p_k). Dividing by Z changes no ratio, and Z is not free: it is what "
                    "makes the weights sum to 1.",
      .proof = refuted(
          "p_j/p_k does not contain Z. With x = (0, 0) or s ln n = 1 scaling changes nothing "
          "either; otherwise it changes every ratio between keys of different score: f = (1, 0), g "
          "= (2, 0), s = 1, n = 2: ln(p'_0/p'_1) = 3 ln 2 = 2.08 instead of 3."),
      .theorem = "scalable_softmax.ssmax_is_z_fails",
      .checks = {check("p'_j p_0 - p'_0 p_j = 0, p = softmax(f + g), p' = softmax(s ln n (f + g)), "
                       "j = 0, 1, ...",
                       divides_all, rows),
                 correction("ln(p'_j/p'_0) - s ln n ln(p_j/p_0) = 0 and p_j - p_cont p_pos/Z = 0",
                            raises_ratios(false), rows)},
      .mutant = {"ln(p'_j/p'_k) = ln(p_j/p_k).",
                 check("ln(p'_j/p'_0) - ln(p_j/p_0) = 0", raises_ratios(true), rows)},
  });

  const auto stays_ggd =
      equals_zero<"alpha", "beta", "s", "n">([]<class R>(R alpha, R beta, R s, R n, bool mutant) {
        const R factor = s * log(n), one(1.0);
        const R scale = alpha * power(factor, mutant ? -one : -(one / beta));
        const GgdBias<R> bias{alpha, beta}, other{scale, beta};
        return at_each("d", 1, 8, [&](int d) { return factor * bias(d) - other(d); });
      });
  const auto not_positive =
      at_least_zero<"alpha", "beta", "s", "n">([]<class R>(R alpha, R beta, R s, R n) {
        return -(s * log(n) * GgdBias<R>{alpha, beta}(1));
      });
  const auto scaled_priors = grid(
      {{"alpha", {1, 8}}, {"beta", {0.5, 1, -0.5}}, {"s", {0.25, 1}}, {"n", {2, 512, 0x1p20}}});
  claims["bam/ssmax_ggd"] = Claim({
      .title = "Scalable softmax and BAM can be used together",
      .source = source("Section 2.5, last paragraph"),
      .statement =
          "\"The two techniques are compatible and can be used together\", with \"a better "
          "normalizing factor via SSMax\" and \"the distribution over positions using "
          "BAM\": softmax(s ln n (f + b)) has a GGD as its prior again, with the same "
          "beta: s ln n b = -|d/alpha'|^beta for some alpha' > 0.",
      .hypotheses = {definition("b = -|d/alpha|^beta, alpha > 0, beta not 0.",
                                "It is BAM's prior."),
                     definition("The logits z of the formula of scalable softmax are f + b.",
                                "It says what is scaled: the bias as well.")},
      .implicit = {needed({"s > 0.", "s", above(0)},
                          "The paper has \"s in R\". For s < 0 the bias is positive and rises with "
                          "the distance; no GGD does that.",
                          check("-s ln n b(1) >= 0 with s = -1", not_positive,
                                {{{"s", -1}, {"n", 512}, {"alpha", 1}, {"beta", 0.5}}})),
                   definition("n >= 2.", "For n = 1 the factor is 0 and there is one key only.")},
      .correction = "alpha' = alpha (s ln n)^(-1/beta). For beta > 0 it falls as n grows: the "
                    "longer the context, the narrower the prior. A key at distance d is damped by "
                    "n^(-s (d/alpha)^beta).",
      .proof = holds_under_condition("s ln n |d/alpha|^beta = |d/alpha'|^beta for alpha' = alpha "
                                     "(s ln n)^(-1/beta), which is a "
                                     "positive number if s ln n > 0."),
      .checks = check("s ln n b(d) + |d/alpha'|^beta = 0, alpha' = alpha (s ln n)^(-1/beta)",
                      stays_ggd(false), scaled_priors),
      .mutant = {"alpha' = alpha/(s ln n).",
                 check("the same with alpha' = alpha/(s ln n)", stays_ggd(true), scaled_priors)},
  });

  const auto places_do_not_matter =
      equals_zero<"f", "s">([]<class R>(const Vector<R>& f, R s, bool biased) {
        const int n = static_cast<int>(f.size());
        const R factor = s * log(R(n));
        const auto weights_in_order = [&](const auto& content) {
          return softmax_of<R>(n, [&](int j) {
            return R(factor * (biased ? R(content(j) - R(n - 1 - j)) : R(content(j))));
          });
        };
        const auto p = weights_in_order([&](int j) { return f[j]; });
        const auto reversed = weights_in_order([&](int j) { return f[n - 1 - j]; });
        return at_each("j", 0, n, [&](int j) { return reversed[j] - p[n - 1 - j]; });
      });
  claims["bam/ssmax_not_positional"] = Claim({
      .title = "Scalable softmax is not a positional encoding",
      .source = source("Section 2.5, \"Scalable Softmax\""),
      .statement =
          "\"SSMax is not a PE method\": the weights of a query do not depend on the places "
          "of its keys; keys in the reverse order have the weights in the reverse order.",
      .hypotheses = {needed_as_the_mutant_shows("No positional score.",
                                                "ALiBi's bias prefers the last keys.")},
      .implicit = {definition(
          "n is the number of keys that the query sees.",
          "With a causal mask it grows with the position of the query, and s ln n "
          "with it: between queries the scale does tell positions.")},
      .proof =
          holds("n^(s z_i) / sum_j n^(s z_j) has each key's own score and a sum over all, which "
                "no order of the keys changes."),
      .checks = check("p'_j - p_(n-1-j) = 0, p' of the keys in the reverse order",
                      places_do_not_matter(false), scaled_contents),
      .mutant = {"It is so with ALiBi's bias, too.",
                 check("f_j - (n - 1 - j) in place of f_j: the same", places_do_not_matter(true),
                       scaled_contents)},
  });
}

}  // namespace plumbline::proofs_checks::bam
