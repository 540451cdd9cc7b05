// SPDX-License-Identifier: Apache-2.0
#include "proofs_checks/bam/priors.hpp"
#include "proofs_checks/pictures/pictures.hpp"

namespace plumbline::proofs_checks::bam {

void claims_of_vanishing_weights(Claims& claims) {
  const auto falls_below_half = above_zero<"m", "n">([]<class R>(R m, int n) {
    const R q = exp(-m), limit = (R(1.0) - q) / (R(2.0) - q);
    const Vector<R> delta = Vector<R>::Constant(n, -(m * R(n)));
    return limit / R(2.0) - weight_of_farthest(delta, LaplaceBias<R>{m});
  });
  // The same with q^n = t anywhere in [0, 1], so at every length: p = 1 / (1 + (1 - t)/(1 - q)).
  const auto falls_somewhere = above_zero<"m", "q^n">([]<class R>(R m, R q_n) {
    const R q = exp(-m), one(1.0);
    const R p = one / (one + (one - q_n) / (one - q));
    return (one - q) / (R(2.0) - q) / R(2.0) - p;
  });
  const auto below_rate =
      at_least_zero<"F", "m", "delta">([]<class R>(R F, R m, const Vector<R>& delta, bool mutant) {
        const R spread = mutant ? F : F + F;
        const R rate = exp(spread - m * R(static_cast<int>(delta.size())));
        return rate - weight_of_farthest(delta, LaplaceBias<R>{m});
      });
  // The rate of the condition where n keys after the query, without content, join the denominator.
  const auto below_rate_both_sides =
      at_least_zero<"F", "m", "delta">([]<class R>(R F, R m, const Vector<R>& delta) {
        const int n = static_cast<int>(delta.size());
        R others(0.0);
        for (int d = 0; d < n; ++d) {
          const R term = exp(delta[d] + m * R(n - d));
          others += d == 0 ? term : term + term;  // every distance but 0 on either side
        }
        return exp(F + F - m * R(n)) - R(1.0) / (R(1.0) + others);
      });
  claims["bam/lemma_3"] = Claim({
      .title = "Under ALiBi the weight of a key tends to 0 with its distance",
      .source = source("Lemma 3, section 2.2, and appendix B.3"),
      .statement =
          "If p_ij = softmax(q_i K^T + M_i + A_i) then lim p_ij = 0 as |j - i| -> infinity.",
      .hypotheses =
          {definition("a_ij = -m |j - i|.", "It is ALiBi."),
           not_needed("The causal mask.", "Keys after the query only add to the denominator.",
                      check("as many keys after the query: e^(2 F - m n) - p >= 0 on all contents",
                            below_rate_both_sides, {contents_within(1, 16).with({"m", 0.5})})),
           definition("\"A fixed query q_i\".",
                      "Set aside: it contradicts the limit, as a query at a fixed i has no "
                      "distances beyond i - 1.")},
      .implicit =
          {needed({"m > 0.", "m", above(0)},
                  "For m < 0 the farthest key gets most at every length: p >= 1 - e^m. (At m = 0 "
                  "the weight is at most e^(2 F)/n by bam/fading_peaks: it falls with the length, "
                  "though not at the rate.)",
                  check("equal contents: 1/4 - p_far > 0 at every length, e^(m n) in [0, 1]",
                        above_zero<"m", "e^(m n)">([]<class R>(R m, R e_m_n) {
                          const R t = exp(m), one(1.0);
                          return R(0.25) - (one - t) / (one - t * e_m_n);
                        }),
                        {{{"m", -1}, within("e^(m n)", 0, 1)}})),
           definition(
               "The length grows with the distance: a query at a fixed i sees distances up to i - "
               "1 only, where no limit can be taken. The limit is one over queries i -> infinity.",
               "Otherwise there is no limit."),
           definition("The content may depend on i and j in any way.",
                      "It says how general it is.")},
      .condition = "The content scores are bounded, |q_i k_j| <= F for all i and j.",
      .correction = "Rate: p_ij <= e^(2 F - m |i - j|), for every length and all such contents.",
      .proof = holds_under_condition(
          "p_ij <= e^(f_j - m d) / e^(f_i) <= e^(2 F - m d), as the query's own key is one of the "
          "terms of the denominator and has bias 0. Without a bound on the content: f_j = m (i - "
          "j) at the farthest key and 0 elsewhere gives p_ij = 1/(1 + sum_{k < d} q^k), q = e^-m, "
          "which falls to (1 - q)/(2 - q) and not to 0. The proof's step \"the score becomes minus "
          "infinity, so the softmax becomes 0\" needs the bound on q_i k_j."),
      .theorem = "vanishing_weights.lemma_3",
      .checks = {check("f_far = m n, others 0: (1 - q)/(2 - q)/2 - p > 0 at some length, q = e^-m, "
                       "p = 1/(1 + sum_{d < n} q^d)",
                       falls_below_half, grid({{"m", {1.0, 0.5, 0x1p-8}}, {"n", {512, 16, 1}}})),
                 check("the same at every length, q^n in [0, 1]", falls_somewhere,
                       grid({{"m", {1.0, 0.5, 0x1p-8}}, within("q^n", 0, 1)})),
                 condition("e^(2 F - m n) - p >= 0 on all contents in [-F, F]", below_rate(false),
                           with(bounded_contents({0, 1, 8}, {1, 2, 16, 256}),
                                grid({{"m", {1.0, 0.5, 0x1p-8}}})))},
      .mutant = {"The rate is e^(F - m d).", check("e^(F - m n) - p >= 0", below_rate(true),
                                                   {{{"F", 4}, {"m", 3}, {"delta", {-8, -8}}}})},
      .pictures = {pictures::alibi_decay},
  });

  const auto vanishing_are_local = at_least_zero<"n", "w">([]<class R>(int n, int w) {
    const Vector<R> f = zeros<R>(n);
    const auto none = [](int) { return R(0.0); };
    const R inside = mass(f, none, 0, w);
    return inside / (inside + mass(f, none, w, n)) - R(1.0) / R(2.0);
  });
  const auto alibi_is_local = at_least_zero<"F", "m", "w", "f">(
      []<class R>(R F, R m, int w, const Vector<R>& f, int shift) {
        const R one(1.0);
        const int n = static_cast<int>(f.size());
        const LaplaceBias<R> bias{m};
        const R inside = mass(f, bias, 0, w), outside = mass(f, bias, w, n);
        const R tail = exp(bias(w + shift));
        return exp(F + F) * tail / (one - tail) - one / (one + inside / outside);
      });
  Samples windows;
  for (double F : {0.0, 1.0, 4.0}) {
    for (std::size_t n : {16, 256}) {
      windows = joined(
          {windows, grid({{"F", F}, {"m", {1, 0.25}}, {"w", {1, 4, 15}}, within("f", -F, F, n)})});
    }
  }
  std::vector<double> far_content(16, 0.0);
  far_content[15] = 20;
  claims["bam/lemma_3_locality"] = Claim({
      .title = "A weight that tends to 0 with the distance makes attention local",
      .source =
          source("Lemmas 3 and 4, sections 2.2 and 2.3, \"becomes local attention\", shown by "
                 "lim p_ij = 0 in appendices B.3 and B.4"),
      .statement = "lim p_ij = 0 as |j - i| -> infinity means local attention. Checked through a "
                   "consequence: where all weights of distant keys vanish, a window of some fixed "
                   "size keeps half of the mass.",
      .hypotheses = {"The limit of Lemma 3 is what shows that attention is local."},
      .implicit = {"Local means that the mass outside a window is small however long the text is."},
      .correction =
          "What makes ALiBi local is a bound on mass: with |f| <= F, the keys beyond a window of w "
          "get at most e^(2 F) q^w / (1 - q^w) of the mass, q = e^-m, whatever the length is.",
      .correction_hypotheses =
          {needed("The content scores are bounded, |f| <= F.",
                  "A far key with enough content holds nearly all of the mass.",
                  check("e^(2 F) q^w/(1 - q^w) - mass beyond w >= 0 with F = 0, f_15 = 20",
                        alibi_is_local(0), {{{"F", 0}, {"m", 1}, {"w", 4}, {"f", far_content}}})),
           needed({"m > 0.", "m", above(0)},
                  "For m < 0 the bound is negative; for m = 0 it divides by 0.",
                  check("m = -1: e^(2 F) q^w/(1 - q^w) - mass beyond w >= 0", alibi_is_local(0),
                        {{{"F", 0}, {"m", -1}, {"w", 4}, {"f", std::vector<double>(16, 0.0)}}}))},
      .proof = refuted(
          "Without any positional score (NoPE) and with equal contents p_ij = 1/n -> 0, the limit "
          "of the lemma, and a window of w keys holds w/n -> 0 of the mass: every window loses, as "
          "n = 4 w leaves w/n = 1/4 for every w. The limit of single weights therefore tells "
          "nothing about locality. For ALiBi the mass outside is at most e^F q^w/(1 - q) and "
          "inside at least e^(-F) (1 - q^w)/(1 - q)."),
      .checks = {check("NoPE, equal contents: mass within w - 1/2 >= 0", vanishing_are_local,
                       grid({{"n", {32, 128, 512, 1024}}, {"w", 8}})),
                 correction("e^(2 F) q^w/(1 - q^w) - mass beyond w >= 0 on all contents in [-F, F]",
                            alibi_is_local(0), windows)},
      .mutant = {"The bound with w + 1 in place of w.",
                 check("e^(2 F) q^(w+1)/(1 - q^(w+1)) - mass beyond w >= 0", alibi_is_local(1),
                       windows)},
  });

  // The farthest key alone has content, as much as its bias takes away, and beta = 1 or 2 with
  // alpha = 1: sum_{d < n} e^b <= 1/(1 - 1/e), so its weight stays above (e - 1)/(2 e - 1).
  const auto falls_below_quarter =
      above_zero<"n", "alpha", "beta", "mu">([]<class R>(int n, R alpha, R beta, R mu) {
        const GgdBias<R> bias{alpha, beta, mu};
        const Vector<R> delta = Vector<R>::Constant(n, bias(n));
        return R(0.25) - weight_of_farthest(delta, bias);
      });
  // The same for alpha = 1 and any beta >= 1, at every length: e^(-d^beta) <= e^-d.
  const auto falls_with_others =
      above_zero<"s">([]<class R>(R s) { return R(0.25) - R(1.0) / (R(2.0) + s); });
  // The rate of the condition, solved for the distance; any other keys in the denominator.
  const auto ggd_below_eps =
      above_zero<"F", "eps", "alpha", "beta", "mu", "d/N", "f_own - f_far", "others">(
          []<class R>(R F, R eps, R alpha, R beta, R mu, R times, R content, R others) {
            const R own = -GgdBias<R>{alpha, beta, mu}(0), one(1.0);
            const R wanted = F + F + own + log(R(2.0) / eps);
            const R N = absolute(mu) + alpha * power(wanted, one / beta);
            const R far = power((times * N + mu) / alpha, beta);
            const R part = exp(own - far - content);  // of the own key's term
            return eps - part / (one + part * (one + others));
          });
  const auto distances = [](double F, std::vector<double> betas, double times) {
    return grid({{"F", F},
                 {"eps", {0.5, 0x1p-10}},
                 {"alpha", {0.5, 4.0}},
                 {"beta", betas},
                 {"mu", {0, 2.5, -3.25}},
                 within("d/N", 1, times),
                 within("f_own - f_far", -2 * F, 2 * F),
                 within("others", 0, 0x1p40)});
  };
  const auto ggd_below_rate = at_least_zero<"F", "delta", "alpha", "beta", "mu">(
      []<class R>(R F, const Vector<R>& delta, R alpha, R beta, R mu, bool mutant) {
        const GgdBias<R> bias{alpha, beta, mu};
        const int n = static_cast<int>(delta.size());
        const R spread = mutant ? R(0.0) : F + F;
        return exp(spread + (bias(n) - bias(0))) - weight_of_farthest(delta, bias);
      });
  // For beta = 3 without those whose weights lie beyond the doubles.
  const auto contents_and_priors =
      joined({with(bounded_contents({0, 4}, {1, 4, 64}),
                   grid({{"alpha", {0.5, 4.0}}, {"beta", {0.25, 1.0}}, {"mu", {0, 2.5, -3.25}}})),
              with(bounded_contents({0, 4}, {1, 4}),
                   grid({{"alpha", 4}, {"beta", 3}, {"mu", {0, 2.5, -3.25}}}))});
  claims["bam/lemma_4"] = Claim({
      .title = "Under a GGD prior with beta > 0 the weight of a key tends to 0 with its distance",
      .source = source("Lemma 4, section 2.3, and appendix B.4"),
      .statement = "If p_ij = softmax(q_i K^T + M_i + B_i), b_ij = -|(j - i - mu)/alpha|^beta, "
                   "then lim p_ij = 0 as |j - i| -> infinity, for any beta > 0 and alpha >= 0 "
                   "(section 2.3; alpha > 0 in B.4).",
      .hypotheses =
          {not_needed({"beta > 0.", "beta", above(0)},
                      "For beta < 0 every key but the own one has a bias in [-alpha^|beta|, 0], so "
                      "p <= e^(2 F + alpha^|beta|)/n, which tends to 0 as well: that is why "
                      "bam/theorem_4 is refuted. What needs beta > 0 is the rate in the distance.",
                      check("beta < 0: e^(2 F + alpha^|beta|)/n - p >= 0 on all contents",
                            far_weight_below_rate(),
                            {contents_within(2, 15).with({"alpha", 4}).with({"beta", -0.25}),
                             contents_within(2, 255).with({"alpha", 1}).with({"beta", -2})})),
           not_needed({"alpha >= 0 or alpha > 0, by section.", "alpha", at_least(0)},
                      "The condition is the second and implies the first.",
                      check("alpha in [-8, -2^-10] fails the condition: -alpha >= 0",
                            at_least_zero<"alpha">([]<class R>(R alpha) { return -alpha; }),
                            {{within("alpha", -8, -0x1p-10)}})),
           definition("\"A fixed query q_i\".",
                      "Set aside: it contradicts the limit, as a query at a fixed i has no "
                      "distances beyond i - 1.")},
      .implicit =
          {definition("The length grows with the distance, as in bam/lemma_3.",
                      "Otherwise there is no limit."),
           definition("The content may depend on i and j in any way.",
                      "It says how general it is."),
           not_needed(
               {"mu = 0, which the proof takes and the statement does not.", "mu", exactly(0)},
               "The rate holds for every mu.",
               check("e^(2 F + b_far - b_own) - p >= 0 with mu not 0", ggd_below_rate(false),
                     with({contents_within(1, 16)},
                          grid({{"alpha", 2}, {"beta", 0.5}, {"mu", {2.5, -3.25}}}))))},
      .condition = "alpha > 0, and the content scores are bounded: |q_i k_j| <= F for all i and j.",
      .conditions = {definition(
                         "alpha > 0.",
                         "For alpha = 0 the bias of the key at mu is |0/0|^beta (bam/alpha_zero)."),
                     needed("The content scores are bounded: |q_i k_j| <= F for all i and j.",
                            "The farthest key can make up for its bias at every length.", {})},
      .correction =
          "Rate: p_ij <= e^(2 F + |mu/alpha|^beta - |(d + mu)/alpha|^beta), d = i - j, for every "
          "length; so p_ij < eps from d = |mu| + alpha (2 F + |mu/alpha|^beta + "
          "ln(2/eps))^(1/beta) on. It is slow for small beta: alpha = 1, beta = 0.01 takes off "
          "1.15 at d = 10^6.",
      .proof = holds_under_condition(
          "The denominator is at least e^(f_i + b_ii) with b_ii = -|mu/alpha|^beta, the numerator "
          "e^(f_j + b_ij): the rate. Without a bound on the content the farthest key can make up "
          "for its bias: f_j = -b_ij, others 0, alpha = 1, mu = 0, beta >= 1 leaves p_ij >= 1/(1 + "
          "1/(1 - 1/e)) = 0.387 at every length, as d^beta >= d (for beta = 1, alpha = 1/m it is "
          "ALiBi, and machine-checked as vanishing_weights.lemma_3_fails_without_bound). The rate "
          "falls with d beyond |mu| and tends to 0, so that the limit follows from it; it is "
          "machine-checked as vanishing_weights.lemma_4_rate. The sentence \"plug infinity back\" "
          "in B.4 means minus infinity."),
      .theorem = "vanishing_weights.lemma_4",
      .checks = {check("f_far = -b_far, others 0: 1/4 - p > 0 at some length, p = 1/(1 + sum_{d < "
                       "n} e^(-(d/alpha)^beta))",
                       falls_below_quarter,
                       grid({{"alpha", 1}, {"beta", {1, 2}}, {"mu", 0}, {"n", {24, 8, 1}}})),
                 check("the same at every length and for every beta >= 1: 1/4 - 1/(2 + s) > 0, s = "
                       "sum_{1 <= d < n} e^(-d^beta) in [0, 1/(e - 1)]",
                       falls_with_others, {{within("s", 0, 0.582)}}),
                 condition("e^(2 F + b_far - b_own) - p >= 0 on all contents in [-F, F]",
                           ggd_below_rate(false), contents_and_priors),
                 condition(
                     "at every distance d >= N = |mu| + alpha (2 F + |mu/alpha|^beta + "
                     "ln(2/eps))^(1/beta), on all contents in [-F, F] and with any other "
                     "keys: eps - p > 0",
                     ggd_below_eps,
                     joined({distances(0, {0.125, 0.25, 1}, 0x1p20),
                             distances(4, {0.125, 0.25, 1}, 0x1p20), distances(4, {3}, 0x1p10)}))},
      .mutant = {"The rate is e^(b_far - b_own) whatever the content is.",
                 check("e^(b_far - b_own) - p >= 0", ggd_below_rate(true),
                       {{{"F", 4}, {"delta", {-8, -8}}, {"alpha", 4}, {"beta", 0.5}, {"mu", 0}}})},
      .pictures = {pictures::ggd_decay},
  });
}

}  // namespace plumbline::proofs_checks::bam
