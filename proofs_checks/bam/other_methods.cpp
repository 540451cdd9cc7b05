// SPDX-License-Identifier: Apache-2.0
#include "proofs_checks/bam/normalisers.hpp"
#include "proofs_checks/bam/priors.hpp"
#include "proofs_checks/pictures/pictures.hpp"

namespace plumbline::proofs_checks::bam {
namespace {

/// The logit of RoPE for head width 2, base frequency 1: q = (1, 0) and a key (1, 0) or (0, 1) at
/// distance d, cos d or sin d.
template <class R>
R logit(int key, const R& d) {
  return key == 0 ? cos(d) : sin(d);
}

// / What an additive score f(key) + g(d) leaves at 0.
template <class R>
R mixed_difference(const R& d, int step) {
  const R next = d + R(step);
  return (logit(0, d) - logit(1, d)) - (logit(0, next) - logit(1, next));
}

/// The largest of either sign over the steps 1..3 from d.
template <class R>
R largest_mixed_difference(const R& d) {
  R largest(0.0);
  for (int step : {1, 2, 3}) largest = maximum(largest, R(absolute(mixed_difference(d, step))));
  return largest;
}

}  // namespace

void claims_of_other_methods(Claims& claims) {
  const auto own_is_smaller =
      at_least_zero<"m", "n", "beta">([]<class R>(R m, int n, R beta, bool mutant) {
        const auto own_weight = [&](const auto& bias) {
          R others(0.0);
          for (int d = 1; d < n; ++d) others += exp(bias(d));
          return R(1.0) / (R(1.0) + others);
        };
        const R difference = own_weight(LaplaceBias<R>{m}) - own_weight(PowerBias<R>{m, beta});
        return mutant ? -difference : difference;
      });
  // b = -m (c |d + mu|)^beta with c = m^(-1/beta)/alpha; contents f, or equal ones.
  const auto own_is_smaller_with = at_least_zero([]<class R>(const Inputs<R>& in) {
    const R &m = in.number("m"), &beta = in.number("beta"), &mu = in.number("mu"), one(1.0);
    const auto ggd = [&](int d) {
      const R x = absolute(R(d) + mu) / in.number("alpha/m^(-1/beta)");
      const bool at_peak = d == 0 && reference::representative(mu) == 0;
      return at_peak ? R(0.0) : -(m * power(x, beta));
    };
    const int n = static_cast<int>(reference::representative(in.number("n")));
    R alibi_total(0.0), ggd_total(0.0);
    for (int d = 0; d < n; ++d) {
      const R content = in.has("f") ? in["f"][d] - in["f"][0] : R(0.0);
      alibi_total += exp(content - m * R(d));
      ggd_total += exp(content + (ggd(d) - ggd(0)));
    }
    return one / alibi_total - one / ggd_total;
  });
  const auto farthest_is_smaller = at_least_zero<"m", "n", "beta">([]<class R>(R m, int n, R beta) {
    const Vector<R> f = zeros<R>(n);
    const PowerBias<R> ggd{m, beta};
    const R peak = exp(ggd(n - 1)) / mass(f, ggd, 1, n);
    return R(1.0) / mass(f, LaplaceBias<R>{m}, 0, n) - peak;
  });
  const auto rows =
      grid({{"m", {1, 0.25, 0x1p-8}}, {"n", {3, 16, 512}}, boxes("beta", {0.0625, 0.5, 0.9375})});
  const auto priors = numbers_of({"alpha/m^(-1/beta)", "mu", "m", "n", "beta"});
  claims["bam/fades_more_than_alibi"] = Claim({
      .title = "BAM is more susceptible to fading attention than ALiBi",
      .source = source("Section 2.5, last paragraph"),
      .statement = "BAM \"becomes more susceptible to fading attention as it increases the context "
                   "length that the LM can attend to\": with the prior of Theorem 2's proof the "
                   "peak of the positional prior, at the query's own key, is at most ALiBi's.",
      .hypotheses =
          {needed({"beta < 1.", "beta", below(1)}, "For beta = 2 the GGD is the narrower one.",
                  check("beta = 2: p_own under ALiBi - p_own under the GGD >= 0",
                        own_is_smaller(false), {{{"m", 0.25}, {"n", 16}, {"beta", 2}}})),
           needed({"beta > 0.", "beta", above(0)},
                  "Below 0 the own key has weight 0 and the peak is at the farthest key: the only "
                  "other one of two has weight 1, against ALiBi's 1/(1 + e^-0.25) = 0.562.",
                  check("beta = -1: 1/sum_{d < n} e^(-m d) - max_d e^(-m d^beta) / sum_{d = "
                        "1..n-1} e^(-m d^beta) >= 0",
                        farthest_is_smaller, {{{"m", 0.25}, {"n", 2}, {"beta", -1}}})),
           not_needed(
               {"mu = 0.", "mu", exactly(0)}, "|d + mu|^beta - |mu|^beta <= d^beta for beta <= 1.",
               check("mu = 5/2, -13/4: p_own under ALiBi - under the GGD >= 0", own_is_smaller_with,
                     {priors(1, 2.5, 0.25, 16, 0.5), priors(1, -3.25, 0.25, 16, 0.5)})),
           needed({"alpha = m^(-1/beta).", "alpha/m^(-1/beta)", exactly(1)},
                  "A small alpha removes all keys but the own one.",
                  check("alpha = m^(-1/beta)/1024: p_own under ALiBi - GGD >= 0",
                        own_is_smaller_with, {priors(0x1p-10, 0, 0.25, 16, 0.5)}))},
      .implicit =
          {not_needed(
               "Equal contents.",
               "The denominators compare term by term, whatever factor e^f the contents give both.",
               check("contents within [-1, 1]: p_own under ALiBi - GGD >= 0", own_is_smaller_with,
                     {priors(1, 0, 0.25, 5, 0.5).with({"f", {0.5, -1, 1, 0.75, -0.25}})})),
           definition("The peak stands for the sharpness of attention.",
                      "It says what fading is.")},
      .proof = holds("d^beta <= d for d >= 1 and beta <= 1, so every term of the GGD's denominator "
                     "is at least that of ALiBi's, while the own key's numerator is 1 in both."),
      .theorem = "theorem_2.fades_more_than_alibi",
      .checks = check("p_own under ALiBi - p_own under the GGD >= 0, all beta in [1/16, 15/16]",
                      own_is_smaller(false), rows),
      .mutant = {"The GGD's peak is at least ALiBi's.",
                 check("p_own under the GGD - p_own under ALiBi >= 0", own_is_smaller(true), rows)},
  });

  const auto becomes_additive = above_zero<"from">(
      []<class R>(R from, int halves) { return R(halves / 2.0) - largest_mixed_difference(from); });
  // Every phase that a distance can have, in 128 boxes from 0 to 6.2832 > 2 pi.
  const auto phases = grid({boxes("from", evenly(0, 128 * 0.0490875, 128))});
  claims["bam/rope_additive"] = Claim({
      .title = "RoPE approximates an additive score as the context grows",
      .source = source("Section 4, \"Rotary Position Embedding\", last sentence"),
      .statement =
          "RoPE asymptotically disentangles content and position in additive components of the "
          "logits; \"RoPE asymptotically approximates BAM as the context length increases\". So "
          "the mixed difference [s(k, d) - s(k', d)] - [s(k, d') - s(k', d')], which an additive "
          "score f(k) + g(d) has at 0, vanishes at large distances.",
      .hypotheses = {"The logit is q^T R(d) k with rotations R(d)."},
      .implicit = {"It is said of RoPE, not of particular trained queries and keys. What the cited "
                   "work measures on trained models is not examined here."},
      .correction = "For q = (1, 0) and the keys (1, 0), (0, 1) of a head of width 2 the largest "
                    "mixed difference over the steps 1 to 3 exceeds 1/2 at every distance: it is "
                    "periodic and does not decay.",
      .proof = refuted(
          "s(k, d) - s(k', d) = cos d - sin d = sqrt(2) cos(d + pi/4), whose changes over one, two "
          "and three steps are not all small at any phase: the change over s steps is 2 sqrt(2) "
          "|sin(s/2) sin(d + s/2 + pi/4)|, and the three phases are half a radian apart. A wider "
          "head adds more frequencies, on which q and k may be 0."),
      .checks = {check("q = (1, 0), k = (1, 0), k' = (0, 1), one pair of frequency 1: 1/2 - the "
                       "largest |(cos d - sin d) - (cos(d + s) - sin(d + s))|, d = from, s = 1, 2, "
                       "3 > 0 at a large distance",
                       becomes_additive(1), grid({{"from", {512.0, 0x1p15, 0x1p20, 0x1p40}}})),
                 correction("largest mixed difference - 1/2 > 0 at every phase",
                            above_zero<"from">([]<class R>(R from) {
                              return -(R(0.5) - largest_mixed_difference(from));
                            }),
                            phases)},
      .mutant = {"The largest mixed difference is below 3/2 everywhere.",
                 check("3/2 - largest mixed difference > 0", becomes_additive(3), phases)},
      .pictures = {pictures::rope_mixed_difference},
  });

  const auto table_is_a_prior = equals_zero([]<class R>(const Inputs<R>& in, bool mutant) {
    const Normalisers<R> n(in);
    Vector<R> prior(n.keys());
    for (int j = 0; j < n.keys(); ++j) prior[j] = mutant ? in["g"][j] : exp(in["g"][j]);
    const R total = sum(prior);
    for (R& p : prior) p = p / total;
    const R Z = dot(n.content.probability, prior);
    std::vector<R> residuals = {sum(prior) - R(1.0)};
    for (int j = 0; j < n.keys(); ++j)
      residuals.push_back(n.p_joint(j) - n.p_cont(j) * prior[j] / Z);
    return residuals;
  });
  claims["bam/t5_prior"] = Claim({
      .title = "T5's learned bias is a non-parametric prior over positions",
      .source = source("Section 4, \"T5 Relative Bias\""),
      .statement =
          "T5's b(i - j), learned for each relative distance and added to the logits, \"could be "
          "viewed in BAM as an empirical non-parametric distribution over the positions\".",
      .hypotheses = {needed(
          "The score is q_i k_j + b(i - j).",
          "The exponential of another score, here the product f_j g_j, does not factorise.",
          check("softmax(f g)_0 - p_cont u / Z = 0", equals_zero(of_product(first_key)),
                {scores({1, 0}, {2, 0})}))},
      .implicit =
          shared_hypotheses({definition("T5 shares one value among the distances of a bucket, and "
                                        "all beyond the last; the values are any real numbers.",
                                        "It says what b is.")}),
      .correction = "Any additive bias of the position is a prior in this sense: Kerple and FIRE "
                    "as well, and no bias at all (bam/lemma_1). CABLE's and FoX's depend on the "
                    "tokens and are no prior of the position alone.",
      .proof = holds("Theorem 1 asks nothing of g but that it is added: u_j = e^(b(i - j)) / sum_z "
                     "e^(b(i - z)) is positive and sums to 1 over the visible keys."),
      .theorem = "posterior.t5_prior",
      .checks = check("sum u - 1 = 0 and p_joint - p_cont u / Z = 0", table_is_a_prior(false),
                      score_pairs(true)),
      .mutant = {"The prior is the bias itself over its sum.",
                 check("u = g / sum g: the same", table_is_a_prior(true),
                       {scores({0, 0}, {1, 2})})},
  });

  const auto pairs_quadruple = at_least_zero<"n">([]<class R>(R n, bool mutant) {
    const R two(2.0);
    const auto pairs = [&](const R& keys) { return keys * (keys + R(1.0)) / two; };
    return two / n - absolute(R(mutant ? 2.0 : 4.0) - pairs(two * n) / pairs(n));
  });
  const auto lengths = grid({{"n", {1.0, 2.0, 512.0, 1e6}}});
  const auto all_pairs_quadruple = at_least_zero<"n">([]<class R>(R n, int power) {
    const R two(2.0), twice = two * n / n;
    return two / n - absolute(R(4.0) - (power == 2 ? twice * twice : twice));
  });
  claims["bam/quadratic_cost"] = Claim({
      .title = "Attention scales quadratically with the sequence length",
      .source = source("Appendix J, first paragraph"),
      .statement = "\"Attention scales quadratically with sequence length\": twice the length has "
                   "four times the pairs of query and key, up to a relative error of order 1/n.",
      .hypotheses = {not_needed(
          "A causal mask: n (n + 1)/2 visible pairs.",
          "Without it the n^2 pairs quadruple exactly.",
          check("2/n - |4 - (2 n)^2/n^2| >= 0", all_pairs_quadruple(2), lengths))},
      .implicit = {needed(
          "The cost is the number of visible pairs, as in training; decoding one token with a "
          "cache costs n.",
          "One row of twice the length costs twice as much.",
          check("2/n - |4 - (2 n)/n| >= 0", all_pairs_quadruple(1), {{{"n", 512}}}))},
      .proof = holds("2 n (2 n + 1) / (n (n + 1)) = 4 - 2/(n + 1)."),
      .theorem = "scalable_softmax.quadratic_cost",
      .checks = check("2/n - |4 - pairs(2 n)/pairs(n)| >= 0", pairs_quadruple(false), lengths),
      .mutant = {"Twice the length has twice the pairs.",
                 check("2/n - |2 - pairs(2 n)/pairs(n)| >= 0", pairs_quadruple(true), lengths)},
  });
}

}  // namespace plumbline::proofs_checks::bam
