// SPDX-License-Identifier: Apache-2.0
#include "proofs_checks/bam/priors.hpp"
#include "proofs_checks/pictures/pictures.hpp"
#include "reference/bias/alibi.hpp"

namespace plumbline::proofs_checks::bam {
namespace {

/// Uniform(1, i, j) Laplace(0, 1/m, j - i) = (1/i) (m/2) e^(-m d).
template <class R>
R printed_prior(const R& m, int i, int d) {
  return m * exp(LaplaceBias<R>{m}(d)) / R(2.0 * i);
}

/// (m/2) e^(-m d) for the n distances of a row.
template <class R>
Vector<R> densities(const R& m, int n) {
  Vector<R> result(n);
  for (int d = 0; d < n; ++d) result[d] = m / R(2.0) * exp(LaplaceBias<R>{m}(d));
  return result;
}

/// sum over all integers k of e^(-m |k|) = (1 + q)/(1 - q), q = e^-m.
template <class R>
R sum_over_integers(const R& m) {
  const R q = exp(-m);
  return (R(1.0) + q) / (R(1.0) - q);
}

}  // namespace

void claims_of_alibi_prior(Claims& claims) {
  const auto is_product = equals_zero<"m", "i">([]<class R>(R m, int i) {
    const auto prior = softmax_of<R>(i, LaplaceBias<R>{m});
    return at_each("d", 0, i, [&](int d) { return prior[d] - printed_prior(m, i, d); });
  });
  const auto proportional = equals_zero<"m", "i">([]<class R>(R m, int i) {
    const auto prior = softmax_of<R>(i, LaplaceBias<R>{m});
    return at_each("d", 0, i, [&](int d) {
      return prior[d] * printed_prior(m, i, 0) - prior[0] * printed_prior(m, i, d);
    });
  });
  const auto geometric = equals_zero<"m", "i">([]<class R>(R m, int i, bool mutant) {
    const auto prior = softmax_of<R>(i, LaplaceBias<R>{m});
    const LaplaceBias<R> bias{m};
    const R one(1.0), rest = mutant ? R(0.0) : exp(bias(i));
    return at_each("d", 0, i, [&](int d) {
      return prior[d] - exp(bias(d)) * (one - exp(bias(1))) / (one - rest);
    });
  });
  const auto rows = grid({{"m", {0.5, 1.0, 0x1p-8, 0.75, 3.0}}, {"i", {1, 2, 3, 8, 64}}});
  // Positions 1, 2, 3 and the query at 2: Uniform(1, 2, j) is 0 at j = 3.
  const auto unmasked = equals_zero<"m">([]<class R>(R m) {
    const LaplaceBias<R> bias{m};
    const auto prior = softmax_of<R>(3, [&](int j) { return bias(j == 1 ? 0 : 1); });
    const R product_2 = m / R(4.0);
    return prior[2] * product_2 - prior[1] * R(0.0);
  });
  claims["bam/lemma_2"] = Claim({
      .title = "ALiBi's prior is a uniform times a Laplace distribution",
      .source = source("Lemma 2, section 2.2, and appendix B.2"),
      .statement = "ALiBi => p(g_pos(i, j)) = Uniform(1, i, j) Laplace(0, 1/m, j - i), that is "
                   "softmax(M + A)_j = (1/i) (m/2) exp(-m |j - i|) for j <= i.",
      .hypotheses =
          {definition("a_ij = -m |j - i|.", "It is ALiBi."),
           needed("The causal mask.",
                  "Without it keys after the query have a prior, and the product 0.",
                  check("no mask, 3 keys, i = 2: prior(3) product(2) - prior(2) product(3) = 0",
                        unmasked, {{{"m", 1}}})),
           definition("Laplace(0, 1/m, x) = (m/2) exp(-m |x|), the density that B.2 uses.",
                      "It says what the symbol means.")},
      .implicit = {definition(
          "m > 0.", "For m <= 0 the integral of e^(-m |x|) diverges: no Laplace distribution.")},
      .condition = "The equality is meant up to one factor for each query, as appendix A defines "
                   "its priors (\"proportional to\"); the product of the two does not sum to 1.",
      .correction = "Under the causal mask the prior is a truncated geometric distribution of the "
                    "distance d = i - j: p(d) = q^d (1 - q)/(1 - q^i), q = e^-m.",
      .proof = holds_under_condition(
          "sum_{d < i} (1/i)(m/2) q^d = m (1 - q^i) / (2 i (1 - q)), which is at most m/2, below 1 "
          "for m < 2: for i = 1 it is m/2 while the only key has probability 1. Both sides are "
          "proportional to q^d on the visible keys, hence the condition; dividing q^d by its own "
          "sum gives the geometric form. It is one-sided: the mask removes the half j > i of the "
          "Laplace distribution."),
      .theorem = "alibi_prior.lemma_2",
      .checks = {check("softmax(M + A)_j - (1/i)(m/2) e^(-m d) = 0", is_product, rows),
                 condition("prior(d) product(0) - prior(0) product(d) = 0", proportional, rows),
                 correction("prior(d) - q^d (1 - q)/(1 - q^i) = 0", geometric(false), rows)},
      .mutant = {"p(d) = q^d (1 - q), the geometric distribution that is not truncated.",
                 check("prior(d) - q^d (1 - q) = 0", geometric(true), rows)},
      .pictures = {pictures::prior_curves},
  });

  const auto denominator_is_one = equals_zero<"m", "f">([]<class R>(R m, const Vector<R>& f) {
    const auto laplace = densities(m, static_cast<int>(f.size()));
    const R total = sum(laplace);
    std::vector<R> residuals;
    for (const R& density : laplace) residuals.push_back(density / total - density);
    return residuals;
  });
  const auto z_absorbs_it =
      equals_zero<"f", "m">([]<class R>(const Vector<R>& f, R m, bool mutant) {
        const int n = static_cast<int>(f.size());
        const auto u = densities(m, n);
        const auto content = softmax(f).probability, joint = weights(f, LaplaceBias<R>{m});
        const R Z = dot(content, u) / (mutant ? sum(u) : R(1.0));
        std::vector<R> residuals;
        for (int d = 0; d < n; ++d) residuals.push_back(joint[d] - content[d] * u[d] / Z);
        return residuals;
      });
  Samples contents_and_slopes = with(contents(true, 8), grid({{"m", {1.0, 0.5, 0x1p-8}}}));
  contents_and_slopes.insert(contents_and_slopes.begin(), {{"f", 0}, {"m", 1}});
  claims["bam/lemma_2_denominator"] = Claim({
      .title = "The normalising denominator can be dropped",
      .source = source("Appendix B.2, the last equality of the displayed chain"),
      .statement = "Laplace(0, 1/m, j - i) / sum_z (m/2) exp(-m |z - i|) = Laplace(0, 1/m, j - i), "
                   "the denominator being dropped because Z_ALiBi accounts for the normalisation.",
      .hypotheses = {"Z_ALiBi normalises the product of content, mask and Laplace factors."},
      .implicit = {"m > 0, finitely many visible keys."},
      .correction =
          "The factor may be dropped from the product only by changing Z with it: p_ij = p_cont(j) "
          "u_j / sum_z p_cont(z) u_z for u_j = (m/2) e^(-m |j - i|), normalised or not.",
      .correction_hypotheses = {needed_as_the_mutant_shows(
                                    "Z is the sum with the same u.",
                                    "The Z of the normalised u serves no other."),
                                definition("m > 0.",
                                           "For m <= 0 there is no Laplace density. (The factor "
                                           "m/2 cancels for m < 0 as well; only m = 0 gives 0/0.)"),
                                definition("Finitely many visible keys.",
                                           "Otherwise the sum need not converge.")},
      .proof = refuted("The equality needs sum_z (m/2) e^(-m |z - i|) = 1. With one key and m = 1 "
                       "the left side is 1 and the right 1/2. Not even all the integers save it: "
                       "(m/2) coth(m/2) > 1. A factor common to all u_j cancels between u_j and "
                       "the sum in Z, which is what the proof needs."),
      .theorem = "alibi_prior.lemma_2_denominator_fails",
      .checks = {check("Laplace / sum - Laplace = 0", denominator_is_one, contents_and_slopes),
                 correction("softmax(f + A) - p_cont u / sum p_cont u = 0", z_absorbs_it(false),
                            contents_and_slopes)},
      .mutant = {"The Z of the normalised prior serves u that is not normalised.",
                 check("softmax(f + A) - p_cont u sum u / sum p_cont u = 0", z_absorbs_it(true),
                       contents_and_slopes)},
  });

  const auto tanh_normalises = equals_zero<"m">([]<class R>(R m, bool mutant) {
    const R x = mutant ? m : m / R(2.0);
    const R up = exp(x), down = exp(-x);
    return (up - down) / (up + down) * sum_over_integers(m) - R(1.0);
  });
  const auto slopes = grid({{"m", {1.0, 0.5, 0.25, 0.0625, 0x1p-8, 3.0}}});
  claims["bam/laplace_over_tokens"] = Claim({
      .title = "The Laplace density is a distribution over token positions",
      .source = source("Appendix B.2, Laplace(0, 1/m, j - i) with the factor m/2"),
      .statement = "(m/2) exp(-m |j - i|) is a probability distribution over the positions j, "
                   "already without any mask: it sums to 1 over the integers.",
      .hypotheses = {"m > 0."},
      .implicit = {"Positions are integers; the density with m/2 is normalised over the reals."},
      .correction = "Over the integers the factor is tanh(m/2), not m/2.",
      .proof = refuted("sum_k q^|k| = 1 + 2 q/(1 - q) = (1 + q)/(1 - q) = coth(m/2), and (m/2) "
                       "coth(m/2) > 1 for m > 0 because tanh x < x; m = 1: 1.0820. The error "
                       "vanishes like m^2/12 for small slopes."),
      .checks = {check("(m/2) sum e^(-m |k|) - 1 = 0, the sum over all whole k",
                       equals_zero<"m">(
                           []<class R>(R m) { return m / R(2.0) * sum_over_integers(m) - R(1.0); }),
                       slopes),
                 correction("tanh(m/2) sum e^(-m |k|) - 1 = 0", tanh_normalises(false), slopes)},
      .mutant = {"The factor is tanh(m).",
                 check("tanh(m) sum e^(-m |k|) - 1 = 0", tanh_normalises(true), slopes)},
      .pictures = {pictures::laplace_sum},
  });

  const auto bias_rises = above_zero<"m">([]<class R>(R m, int sign) {
    const reference::Alibi<R> bias{m};
    return at_each("d", {0, 1, 7, 100},
                   [&](int d) { return R(sign) * (bias(d + 1, 0) - bias(d, 0)); });
  });
  const auto steps_are_equal = equals_zero<"m">([]<class R>(R m) {
    const reference::Alibi<R> bias{m};
    return at_each("d", {0, 1, 7, 100},
                   [&](int d) { return bias(d + 2, 0) - R(2.0) * bias(d + 1, 0) + bias(d, 0); });
  });
  const Samples three_slopes = {{{"m", 0.5}}, {{"m", 1}}, {{"m", 0x1p-8}}};
  claims["bam/alibi_linear_bias"] = Claim({
      .title = "ALiBi injects a linearly increasing bias",
      .source = source("Section 2.5, \"ALiBi as a Laplace Prior\""),
      .statement = "\"The ALiBi mechanism injects a linearly increasing bias into the attention "
                   "logits\": a(d + 1) > a(d), by equal steps.",
      .hypotheses = {needed(
          {"m > 0.", "m", above(0)}, "At m = 0 there is no bias.",
          check("|a(d + 1)| - |a(d)| > 0 with m = 0", bias_rises(-1), {{{"m", 0}}}))},
      .implicit = {definition("d is the distance of the key from the query.",
                              "It says along what the bias increases.")},
      .condition = "\"Bias\" means its size, the penalty.",
      .proof = holds_under_condition(
          "a(d) = -m d falls by m in every step, and its size rises by m. Added to the logits, it "
          "is the falling a that makes the prior decay, as the next sentence says."),
      .theorem = "alibi_prior.alibi_linear_bias",
      .checks = {check("a(d + 1) - a(d) > 0, a(d) = -m d", bias_rises(1),
                       {{{"m", 0.5}}, {{"m", 0x1p-8}}}),
                 condition("|a(d + 1)| - |a(d)| > 0", bias_rises(-1), three_slopes),
                 condition("a(d + 2) - 2 a(d + 1) + a(d) = 0", steps_are_equal, three_slopes)},
      .mutant = {"Its size rises for the slope 0 as well.",
                 check("|a(d + 1)| - |a(d)| > 0 with m = 0", bias_rises(-1), {{{"m", 0}}})},
  });

  // The share of the 32 nearest of i keys, (1 - q^32)/(1 - q^i).
  const auto half_is_near = at_least_zero<"m", "i">([]<class R>(R m, R i) {
    const R one(1.0);
    return (one - exp(-(R(32.0) * m))) / (one - exp(-(i * m))) - one / R(2.0);
  });
  const auto half_is_near_at_every_length = at_least_zero<"m", "e^(-m i)">([]<class R>(R m, R q_i) {
    const R one(1.0);
    return (one - exp(-(R(32.0) * m))) / (one - q_i) - one / R(2.0);
  });
  claims["bam/alibi_sharp_peak"] = Claim({
      .title = "ALiBi's prior has a sharp peak near the query token",
      .source = source("Section 2.5, \"ALiBi as a Laplace Prior\""),
      .statement = "ALiBi's prior \"has a sharp peak near the query token and rapidly decays over "
                   "distance\": the 32 nearest keys have at least half of it, at every length.",
      .hypotheses = {definition("p(d) is proportional to e^(-m d), m > 0.",
                                "It is ALiBi's prior.")},
      .implicit = {definition("Half within 32 keys stands for a sharp peak.",
                              "Without numbers there is nothing to check.")},
      .condition = "32 m >= ln 2: m >= 0.022.",
      .correction =
          "Half of the prior lies within ln 2/m keys: 2 for m = 1/2 and 178 for m = 1/256.",
      .proof = holds_under_condition(
          "The w nearest of i keys have (1 - q^w)/(1 - q^i), q = e^-m, which is at least 1 - e^(-w "
          "m) and tends to it. m = 1/256, the least of ALiBi's slopes, and i = 512: 0.136, and a "
          "step takes 0.4% of the weight. Of the slopes 2^(-k/2) of sixteen heads eleven meet the "
          "condition."),
      .checks = {check("the share of the 32 nearest of i keys - 1/2 >= 0", half_is_near,
                       grid({{"m", {0x1p-8, 0x1p-6, 0.5}}, {"i", {512, 2048}}})),
                 condition("m in [0.022, 4], at every length: the share - 1/2 >= 0",
                           half_is_near_at_every_length,
                           grid({boxes("m", growing(0.02197265625, 4, 2)),
                                 within("e^(-m i)", 0, 0.875)}))},
      .mutant = {"m = 1/64 is enough.", check("m = 1/64: the share - 1/2 >= 0", half_is_near,
                                              {{{"m", 0x1p-6}, {"i", 512}}})},
  });
}

}  // namespace plumbline::proofs_checks::bam
