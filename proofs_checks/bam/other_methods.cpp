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
  // The weight of the query's own key among n of equal content.
  const auto own_is_smaller =
      at_least_zero<"m", "n", "alpha", "beta">([]<class R>(R m, int n, R alpha, R beta) {
        const auto own_weight = [&](const auto& bias) {
          R total(1.0);
          for (int d = 1; d < n; ++d) total += exp(bias(d));
          return R(1.0) / total;
        };
        return own_weight(LaplaceBias<R>{m}) - own_weight(GgdBias<R>{alpha, beta});
      });
  // For alpha = 1 and beta = 1/2, at every length: sum_{d >= 0} e^(-sqrt d) <= 1 + 5/e.
  const auto own_is_smaller_at_every_length = at_least_zero<"m", "q^n">([]<class R>(R m, R q_n) {
    const R one(1.0);
    return (one - exp(-m)) / (one - q_n) - one / (one + R(5.0) * exp(-one));
  });
  // b = -m (|d + mu|/r)^beta with r = alpha/m^(-1/beta); contents f, or equal ones.
  const auto own_is_smaller_with = at_least_zero([]<class R>(const Inputs<R>& in, int sign) {
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
    return R(sign) * (one / alibi_total - one / ggd_total);
  });
  // 1 - b/a, whatever m is.
  const auto bias_is_smaller =
      at_least_zero<"d", "alpha/m^(-1/beta)", "beta">([]<class R>(R d, R r, R beta) {
        const R one(1.0);
        return one - power(d, beta - one) * power(r, -beta);
      });
  const auto own_of_two_is_larger =
      above_zero<"m", "alpha/m^(-1/beta)", "beta">([]<class R>(R m, R r, R beta) {
        const R one(1.0);
        return one / (one + exp(-(m * power(r, -beta)))) - one / (one + exp(-m));
      });
  const auto widening_lowers =
      at_least_zero<"n", "alpha", "beta", "k">([]<class R>(int n, R alpha, R beta, R k) {
        R narrow(1.0), wide(1.0);
        for (int d = 1; d < n; ++d) {
          narrow += exp(GgdBias<R>{alpha, beta}(d));
          wide += exp(GgdBias<R>{alpha * k, beta}(d));
        }
        return R(1.0) / narrow - R(1.0) / wide;
      });
  const auto farthest_is_smaller = at_least_zero<"m", "n", "beta">([]<class R>(R m, int n, R beta) {
    const Vector<R> f = zeros<R>(n);
    const PowerBias<R> ggd{m, beta};
    const R peak = exp(ggd(n - 1)) / mass(f, ggd, 1, n);
    return R(1.0) / mass(f, LaplaceBias<R>{m}, 0, n) - peak;
  });
  const auto priors = numbers_of({"alpha/m^(-1/beta)", "mu", "m", "n", "beta"});
  const auto rows = grid({{"m", {1, 0.25, 0x1p-8}},
                          {"n", {3, 16, 512}},
                          within("alpha/m^(-1/beta)", 1, 0x1p20),
                          boxes("beta", {0.0625, 0.5, 0.9375}),
                          {"mu", 0}});
  claims["bam/fades_more_than_alibi"] = Claim({
      .title = "BAM is more susceptible to fading attention than ALiBi",
      .source = source("Section 2.5, last paragraph; \"context beyond ALiBi\" in section 2.4"),
      .statement =
          "BAM \"becomes more susceptible to fading attention as it increases the context length "
          "that the LM can attend to\". With beta in (0, 1), for which \"GGD-BAM can see context "
          "beyond ALiBi\" (section 2.4), the peak of the positional prior, at the query's own key, "
          "is at most ALiBi's, at every length.",
      .hypotheses =
          {needed({"beta < 1.", "beta", below(1)}, "For beta = 2 the GGD is the narrower one.",
                  check("beta = 2, alpha = m^(-1/2): p_own under ALiBi - p_own under the GGD >= 0",
                        own_is_smaller_with(1), {priors(1, 0, 0.25, 16, 2)})),
           needed({"beta > 0.", "beta", above(0)},
                  "Below 0 the own key has weight 0 and the peak is at the farthest key: the only "
                  "other one of two has weight 1, against ALiBi's 1/(1 + e^-0.25) = 0.562.",
                  check("beta = -1: 1/sum_{d < n} e^(-m d) - max_d e^(-m d^beta) / sum_{d = "
                        "1..n-1} e^(-m d^beta) >= 0",
                        farthest_is_smaller, {{{"m", 0.25}, {"n", 2}, {"beta", -1}}}))},
      .implicit =
          {not_needed({"mu = 0.", "mu", exactly(0)},
                      "|d + mu|^beta - |mu|^beta <= d^beta for beta <= 1.",
                      check("mu = 5/2, -13/4: p_own under ALiBi - under the GGD >= 0",
                            own_is_smaller_with(1),
                            {priors(1, 2.5, 0.25, 16, 0.5), priors(1, -3.25, 0.25, 16, 0.5)})),
           not_needed(
               "Equal contents.",
               "The denominators compare term by term, whatever factor e^f the contents give both.",
               check("contents within [-1, 1]: p_own under ALiBi - GGD >= 0",
                     own_is_smaller_with(1),
                     {priors(1, 0, 0.25, 5, 0.5).with({"f", {0.5, -1, 1, 0.75, -0.25}})})),
           definition("The peak stands for the sharpness of attention.", "It says what fading is."),
           definition("The comparison is with ALiBi, than which the prior sees more context.",
                      "The sentence does not say more susceptible than what.")},
      .condition = "alpha >= m^(-1/beta)",
      .correction =
          "The condition is exact: the comparison holds at every length if and only if alpha >= "
          "m^(-1/beta); for a smaller alpha it fails with two keys. (On long contexts alone it "
          "holds where sum_{d >= 0} e^(-(d/alpha)^beta) > 1/(1 - e^-m).) For alpha = 1 "
          "(theta_alpha = 0), beta = 1/2 and m = 1/256 the own key keeps more than 0.352 at every "
          "length, and under ALiBi it falls to 0.0039. What a larger alpha does is as the sentence "
          "says: it lowers the peak.",
      .proof = holds_under_condition(
          "(d/alpha)^beta <= m d^beta <= m d for d >= 1 and beta <= 1, so every term of the GGD's "
          "denominator is at least that of ALiBi's, while the own key's numerator is 1 in both. "
          "With two keys the terms are e^(-alpha^-beta) and e^-m: the comparison holds there only "
          "if alpha^-beta <= m. For alpha = 1, beta = 1/2 the denominator is at most 1 + e^-1 + "
          "the integral of e^(-sqrt x) over x >= 1, which is 1 + 5/e = 2.84: p_own >= 0.352 at "
          "every length (0.374 at n = 512); ALiBi's with m = 1/256 is (1 - q)/(1 - q^n), q = e^-m, "
          "0.0045 at n = 512. (d/alpha)^beta falls as alpha grows."),
      .theorem = "theorem_2.fades_more_than_alibi",
      .checks =
          {check("alpha = 1, beta = 1/2, m = 1/256: p_own under ALiBi - p_own under the GGD >= 0",
                 own_is_smaller,
                 grid({{"alpha", 1}, {"beta", 0.5}, {"m", 0x1p-8}, {"n", {512, 16, 2}}})),
           check("the same at every n >= 4, where p_own under the GGD is at least 1/(1 + 5/e): (1 "
                 "- q)/(1 - q^n) - 1/(1 + 5/e) >= 0, q = e^-m, q^n in [0, q^4]",
                 own_is_smaller_at_every_length, {{{"m", 0x1p-8}, within("q^n", 0, 0.9845)}}),
           condition("p_own under ALiBi - p_own under the GGD >= 0, all beta in [1/16, 15/16]",
                     own_is_smaller_with(1), rows),
           condition("term by term: 1 - (d/alpha)^beta/(m d) >= 0 on all d in [1, 2^40]",
                     bias_is_smaller,
                     {{within("d", 1, 0x1p40), within("alpha/m^(-1/beta)", 1, 0x1p40),
                       within("beta", 0x1p-10, 1 - 0x1p-10)}}),
           correction("alpha < m^(-1/beta), two keys: p_own under the GGD - p_own under ALiBi > 0",
                      own_of_two_is_larger,
                      grid({{"m", {1, 0.25, 0x1p-8}},
                            within("alpha/m^(-1/beta)", 0x1p-20, 0.96875),
                            boxes("beta", {0.0625, 0.5, 0.9375})})),
           correction("k >= 17/16: p_own with alpha - p_own with k alpha >= 0", widening_lowers,
                      grid({{"n", {2, 16, 512}},
                            {"alpha", {0.5, 16}},
                            {"beta", {0.125, 0.5, 0.875}},
                            within("k", 1.0625, 0x1p10)}))},
      .mutant = {"The GGD's peak is at least ALiBi's.",
                 check("p_own under the GGD - p_own under ALiBi >= 0", own_is_smaller_with(-1),
                       {priors(1, 0, 0.25, 16, 0.5), priors(1, 0, 1, 3, 0.5)})},
  });

  const auto becomes_additive = above_zero<"d">(
      []<class R>(R d, int halves) { return R(halves / 2.0) - largest_mixed_difference(d); });
  // Every phase that a distance can have, in 128 boxes from 0 to 6.2832 > 2 pi.
  const auto phases = grid({boxes("d", evenly(0, 128 * 0.0490875, 128))});
  claims["bam/rope_additive"] = Claim({
      .title = "RoPE approximates an additive score as the context grows",
      .source = source("Section 4, \"Rotary Position Embedding\", last two sentences"),
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
      .checks = {check(
                     "q = (1, 0), k = (1, 0), k' = (0, 1), one pair of frequency 1: 1/2 - the "
                     "largest |(cos d - sin d) - (cos(d + s) - sin(d + s))|, s = 1, 2, 3 > 0 at a "
                     "large distance",
                     becomes_additive(1), grid({{"d", {512.0, 0x1p15, 0x1p20, 0x1p40}}})),
                 correction("largest mixed difference - 1/2 > 0 at every phase",
                            above_zero<"d">([]<class R>(R d) {
                              return -(R(0.5) - largest_mixed_difference(d));
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
      .proof = holds_under_condition("2 n (2 n + 1) / (n (n + 1)) = 4 - 2/(n + 1)."),
      .theorem = "scalable_softmax.quadratic_cost",
      .checks = check("2/n - |4 - pairs(2 n)/pairs(n)| >= 0", pairs_quadruple(false), lengths),
      .mutant = {"Twice the length has twice the pairs.",
                 check("2/n - |2 - pairs(2 n)/pairs(n)| >= 0", pairs_quadruple(true), lengths)},
  });

  // Head width 2, one frequency, W_q and W_k the identity: q = x + p_i, k = y + p_j with p = (sin,
  // cos), or, with BAM, q = x, k = y and a bias of the position. The content x changes by p_j -
  // p_j'.
  const auto position_meets_content =
      above_zero<"i", "j", "j'">([]<class R>(R i, R j, R other, bool added_to_logits) {
        const R zero(0.0);
        const auto position = [](const R& t) { return std::pair<R, R>{sin(t), cos(t)}; };
        const auto score = [&](const R& content, const R& key) {
          const auto [x_1, x_2] = position(content);
          const auto [p_1, p_2] = position(i);
          const auto [k_1, k_2] = position(key);
          const R y_1(1.0), y_2(0.0);
          if (added_to_logits) return R(x_1 * y_1 + x_2 * y_2 - (i - key));
          return R((x_1 + p_1) * (y_1 + k_1) + (x_2 + p_2) * (y_2 + k_2));
        };
        const R mixed = (score(j, j) - score(j, other)) - (score(other, j) - score(other, other));
        return maximum(zero, mixed) - R(1.0) / R(8.0);
      });
  const auto two_keys = grid({{"i", 200}, {"j", {1, 3, 100}}, {"j'", {0, 2}}});
  claims["bam/sinusoidal_mixes"] = Claim({
      .title = "With sinusoidal encodings queries and keys have content and position in them",
      .source = source("Section 4, \"Sinusoidal Positional Encoding\""),
      .statement =
          "\"In the self-attention mechanism, each q_i, k_j and v_j have both content and "
          "positional information\", while BAM has a separate component for the position: "
          "for some contents x, x' of a query the score of a key changes with its position "
          "by different amounts, [s(x, j) - s(x, j')] - [s(x', j) - s(x', j')] > 1/8.",
      .hypotheses = {needed_as_the_mutant_shows(
          "The vector of the position is added to the embedding.",
          "Where a bias is added to the logits, as in BAM, the difference is 0.")},
      .implicit = {definition(
          "A head of width 2, the identity as W_q and W_k, one frequency.",
          "It is the example: the statement is that some score mixes the two.")},
      .correction =
          "For one query the score is additive in the key's content and position, q . y + q "
          ". p_j: Theorem 1 applies, with a prior that depends on the query's content.",
      .proof =
          holds("The difference is <x - x', p_j - p_j'>. With x - x' = p_j - p_j' it is |p_j - "
                "p_j'|^2 = 2 - 2 cos(j - j'), which is above 0 for integers j and j' that "
                "differ: 0.92 for neighbours. A score f(contents) + g(i, j) has 0."),
      .checks =
          check("[s(x, j) - s(x, j')] - [s(x', j) - s(x', j')] - 1/8 > 0, x - x' = p_j - p_j'",
                position_meets_content(false), two_keys),
      .mutant = {"The position adds a bias to the logits.",
                 check("the same with s = x . y - (i - j)", position_meets_content(true),
                       two_keys)},
  });
}

}  // namespace plumbline::proofs_checks::bam
