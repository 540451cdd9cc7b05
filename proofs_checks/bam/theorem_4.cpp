// SPDX-License-Identifier: Apache-2.0
#include "proofs_checks/bam/priors.hpp"
#include "proofs_checks/pictures/pictures.hpp"

namespace plumbline::proofs_checks::bam {

void claims_of_theorem_4(Claims& claims) {
  // p - c for the farthest of n keys besides the query's own, equal contents; the own key has
  // weight 0, so the others stand at distances 1..n. From n = 2.75/c on, above e/c, p is below c.
  const auto far_stays_above =
      at_least_zero<"n", "alpha", "beta", "c">([]<class R>(int n, R alpha, R beta, R c) {
        const GgdBias<R> bias{alpha, beta};
        const Vector<R> f = zeros<R>(n + 1);
        return exp(bias(n)) / mass(f, bias, 1, n + 1) - c;
      });
  // p_d - e^(b_d) p_NoPE,d at every distance d >= 1, for any content f[d], d = 0 the own key; for
  // the mutant without e^(b_d).
  const auto not_damped = at_least_zero<"f", "alpha", "beta">(
      []<class R>(const Vector<R>& f, R alpha, R beta, bool mutant) {
        const int n = static_cast<int>(f.size()) - 1;
        const GgdBias<R> bias{alpha, beta};
        Vector<R> logits(n);
        for (int d = 1; d <= n; ++d) logits[d - 1] = f[d] + bias(d);
        const auto with = softmax(logits).probability;
        const auto without = softmax(f).probability;
        return at_each("d", 1, n + 1, [&](int d) {
          return with[d - 1] - (mutant ? R(1.0) : exp(bias(d))) * without[d];
        });
      });
  // Contents f_n = ln(n - 1) at the farthest key and 0 elsewhere, against the rate with F = 0.
  const auto unbounded_far =
      at_least_zero<"n", "alpha", "beta">([]<class R>(int n, R alpha, R beta) {
        const GgdBias<R> bias{alpha, beta};
        const Vector<R> f = zeros<R>(n + 1);
        const R far = R(n - 1) * exp(bias(n));
        return exp(-bias(1)) / R(n) - far / (far + mass(f, bias, 1, n));
      });
  const auto factor_tends_to_one =
      at_least_zero<"alpha", "beta", "d">([]<class R>(R alpha, R beta, R d) {
        const R bias = -power(d / alpha, beta);
        return exp(bias) - R(1.0) + power(alpha / d, absolute(beta));
      });
  // The query's own key first, all keys with the bias of a mu that is at no key.
  const auto not_damped_with_mu = at_least_zero<"f", "alpha", "beta", "mu">(
      []<class R>(const Vector<R>& f, R alpha, R beta, R mu) {
        const GgdBias<R> bias{alpha, beta, mu};
        const auto with = weights(f, bias), without = softmax(f).probability;
        return at_each("d", 1, f.size(),
                       [&](int d) { return with[d] - exp(bias(d)) * without[d]; });
      });
  const auto any_contents =
      with(contents(false, 20), grid({{"alpha", {1, 4}}, {"beta", {-0.5, -2}}}));
  claims["bam/theorem_4"] = Claim({
      .title = "With beta < 0 the weight of a key does not tend to 0 with its distance",
      .source = source("Theorem 4, section 2.4, and appendix B.7"),
      .statement = "For all beta < 0 and alpha > 0, if p_ij = softmax(q_i K^T + M_i + B_i) then "
                   "lim p_ij is not 0 as |j - i| -> infinity.",
      .hypotheses = {"beta < 0, alpha > 0 (B.7; section 2.4 has alpha >= 0), mu = 0.",
                     "\"A fixed query q_i\"."},
      .implicit = {"The length grows with the distance, as in Lemmas 3 and 4, whose proofs this "
                   "one repeats. At a fixed length the statement is empty: every softmax weight is "
                   "positive, ALiBi's as well."},
      .correction =
          "With |f| <= F: p_ij <= e^(2 F + alpha^|beta|) / (i - 1) -> 0. What beta < 0 gives is "
          "relative: p_ij >= e^(b_ij) p_ij^NoPE with e^(b_ij) -> 1, for every content and length, "
          "so a distant key gets in the limit at least what it gets without any positional score.",
      .correction_hypotheses =
          {needed("The content scores are bounded, |f| <= F (for the rate).",
                  "The farthest of n keys keeps 1/2 if its content is ln(n - 1) more and alpha is "
                  "small.",
                  check("e^(alpha^|beta|)/n - p_far >= 0 with f_far = ln 1024", unbounded_far,
                        {{{"alpha", 0.125}, {"beta", -1}, {"n", 1025}}})),
           needed({"beta < 0 (for e^(b_ij) -> 1; the bound itself holds for every bias <= 0).",
                   "beta", below(0)},
                  "For beta > 0 the factor e^(b_ij) tends to 0.",
                  check("e^(b(d)) - 1 + (alpha/d)^|beta| >= 0 with beta = 1", factor_tends_to_one,
                        {{{"alpha", 1}, {"beta", 1}, {"d", 10}}})),
           not_needed({"mu = 0.", "mu", exactly(0)},
                      "For every mu all biases are at most 0, so NoPE's denominator is at least "
                      "BAM's and p_d >= e^(b_d) p_d^NoPE.",
                      check("mu = 1, -5/2: p_d - e^(b_d) p_d^NoPE >= 0", not_damped_with_mu,
                            {{{"alpha", 1}, {"beta", -1}, {"mu", 1}, {"f", {1, 0, -2, 3}}},
                             {{"alpha", 1}, {"beta", -1}, {"mu", -2.5}, {"f", {1, 0, -2, 3}}}}))},
      .proof = refuted(
          "b_ij -> 0, but the limit is taken inside a softmax whose length is held fixed while the "
          "distance grows beyond it. The denominator has i - 1 terms of at least e^(-F - "
          "alpha^|beta|): the weight falls like 1/i. With equal contents and alpha = 1, p <= e/(i "
          "- 1): below any c at i = 1 + e/c. B.7 ends with softmax(q_i K^T + M_i), \"not "
          "necessarily zero\": that is NoPE's weight, which tends to 0 as well. NoPE's denominator "
          "has every term of BAM's divided by e^b <= 1, and the own key's: the relative bound. "
          "(The sentence \"plug 0 back ... minus infinity ... 0\" in B.7 is left over from B.6.)"),
      .checks =
          {check("equal contents, alpha = 1: p_far - c >= 0 at every length n, p_far = e^(b(n)) / "
                 "sum_{d=1..n} e^(b(d)), b(d) = -(d/alpha)^beta",
                 far_stays_above,
                 with(grid({{"alpha", 1}, {"beta", {-1, -0.25}}}), {{{"c", 0.1}, {"n", 28}},
                                                                    {{"c", 0.01}, {"n", 275}},
                                                                    {{"c", 0.001}, {"n", 2750}}})),
           check("and it comes back above c at some longer one: e/n - c >= 0, e/n >= p_far",
                 at_least_zero<"n", "c">([]<class R>(R n, R c) { return exp(R(1.0)) / n - c; }),
                 {{{"c", 0.1}, within("n", 28, 0x1p60)},
                  {{"c", 0.01}, within("n", 275, 0x1p60)},
                  {{"c", 0.001}, within("n", 2750, 0x1p60)},
                  {{"c", 1e-9}, within("n", 2.75e9, 0x1p60)}}),
           correction("e^(2 F + alpha^|beta|)/n - p_far >= 0 on all contents in [-F, F]",
                      far_weight_below_rate(),
                      with(bounded_contents({0, 2}, {1, 15, 255}),
                           grid({{"alpha", {0.5, 4}}, {"beta", {-0.25, -2}}}))),
           correction("p_ij - e^(b_ij) p_ij^NoPE >= 0", not_damped(false), any_contents)},
      .mutant = {"p_ij >= p_ij^NoPE at every distance.",
                 check("p_ij - p_ij^NoPE >= 0", not_damped(true), any_contents)},
      .pictures = {pictures::negative_beta_decay},
  });

  // |alpha/x|^(s beta) - |x/alpha|^beta, s = 1 as printed, -1 corrected; for the mutant -2.
  const auto inverted_power =
      equals_zero<"alpha", "beta", "x">([]<class R>(R alpha, R beta, R x, int s) {
        return power(alpha / x, R(s) * beta) - power(x / alpha, beta);
      });
  const auto points = grid(
      {{"x", {2.0, 100.0, 0x1p-4}}, {"alpha", {1.0, 0.5, 3.0}}, {"beta", {-1.0, -0.25, -2.0}}});
  claims["bam/inversion_exponent"] = Claim({
      .title = "Inverting the quotient keeps the exponent",
      .source = source("Appendices B.6 and B.7, \"the following manipulation\""),
      .statement = "When beta < 0, -|(j - i)/alpha|^beta = -|alpha/(j - i)|^beta.",
      .hypotheses = {"beta < 0, alpha > 0, j is not i."},
      .implicit =
          {"The exponent is beta in both places, as both copies in the extracted text have it."},
      .correction = "-|x/alpha|^beta = -|alpha/x|^(-beta) = -|alpha/x|^|beta|.",
      .proof = refuted("x = 2, alpha = 1, beta = -1: 1/2 on the left and 2 on the right. With the "
                       "printed exponent the two limits of the proofs would change places: "
                       "|alpha/x|^beta -> 0 as x -> 0 and -> infinity as x -> infinity. With -beta "
                       "the limits are those that the proofs state."),
      .checks = {check("|alpha/x|^beta - |x/alpha|^beta = 0", inverted_power(1), points),
                 correction("|alpha/x|^(-beta) - |x/alpha|^beta = 0", inverted_power(-1), points)},
      .mutant = {"|alpha/x|^(-2 beta) = |x/alpha|^beta.",
                 check("|alpha/x|^(-2 beta) - |x/alpha|^beta = 0", inverted_power(-2), points)},
  });
}

}  // namespace plumbline::proofs_checks::bam
