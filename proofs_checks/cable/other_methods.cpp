// SPDX-License-Identifier: Apache-2.0
#include "proofs_checks/cable/source.hpp"
#include "reference/bias/alibi.hpp"
#include "reference/bias/cable_nw.hpp"
#include "reference/bias/fire.hpp"
#include "reference/bias/kerple.hpp"
#include "reference/bias/t5_buckets.hpp"

namespace plumbline::proofs_checks::cable {

void claims_of_other_methods(Claims& claims) {
  // The table's scalars are their own numbers, r_k = k.
  const auto clipped_is_bucket = equals_zero<"largest d">([]<class R>(int last, bool encoder) {
    const reference::T5Buckets bucket(32, 128, encoder);
    const reference::ClippedDistance clipped(31);
    return at_each("d", 0, last + 1, [&](int d) { return R(bucket(d, 0) - clipped(d, 0)); });
  });
  const auto upto = [](double distance) { return Sample{{"largest d", distance}}; };
  claims["cable/t5_clipped"] = Claim({
      .title = "The T5 bias is a table of clipped distances",
      .source = source("Section 2, T5-bias"),
      .statement = "T5-bias is b(i, j) = r_min(i - j, K) with learnable r_0..r_K.",
      .implicit =
          {definition(
               "T5's own causal map with its defaults, 32 buckets and a largest distance of 128.",
               "It says which T5 is meant."),
           needed("Attention is causal: j <= i.",
                  "The map of an encoder has half of the buckets for each side: one each up to 7 "
                  "only.",
                  check("encoder: bucket(d) - min(d, 31) = 0 for d = 0..16",
                        clipped_is_bucket(true), {upto(16)}))},
      .condition = "Distances up to 16, half of the buckets. (The code of the paper uses a plain "
                   "clipped table, as printed.)",
      .proof = holds_under_condition(
          "T5 maps distances to 32 buckets: one for each of 0..15, then 16 whose width grows with "
          "the logarithm up to 128. Distances 17 and 18 share the bucket of 16, and 19 begins the "
          "next. With r the number of the bucket: b(17) = 16, clipped 17. No other K or r helps: "
          "b(16) = b(17) makes a clipped table constant from K = 16 on, while T5 tells 18 from 19. "
          "The two agree as long as no bucket holds two distances."),
      .checks = {check("bucket(d) - min(d, 31) = 0 for d = 0..200", clipped_is_bucket(false),
                       {upto(200)}),
                 condition("the same for d = 0..16", clipped_is_bucket(false), {upto(16)})},
      .mutant = {"They agree up to d = 17.", check("bucket(d) - min(d, 31) = 0 for d = 0..17",
                                                   clipped_is_bucket(false), {upto(17)})},
  });

  const auto definite = at_least_zero<"r_1", "r_2", "c", "x">(
      []<class R>(R r_1, R r_2, const Vector<R>& c, const Vector<R>& x) {
        R total(0.0);
        for (int i = 0; i < c.size(); ++i) {
          for (int j = 0; j < i; ++j) {
            const R penalty = r_1 * power(absolute(R(x[i] - x[j])), r_2);
            total -= R(2.0) * c[i] * c[j] * penalty;
          }
        }
        return total;
      });
  const auto forms = [](const std::vector<double>& powers) {
    return with({{{"x", {-1, 0, 1}}, {"c", {1, -2, 1}}},
                 {{"x", {0, 1, 2, 3}}, {"c", {1, -1, -1, 1}}},
                 {{"x", {0, 1, 5, 9, 10}}, {"c", {2, -3, 0.5, 1, -0.5}}}},
                grid({{"r_1", 1}, {"r_2", powers}}));
  };
  claims["cable/kerple_kernel"] = Claim({
      .title = "The power form of Kerple is a kernel for all parameters",
      .source = source("Section 2, Kerple"),
      .statement = "-r_1 |i - j|^r_2 with r_1, r_2 > 0 is a shift-invariant kernel: conditionally "
                   "positive definite, sum c_i c_j b(i, j) >= 0 whenever the c_i sum to 0.",
      .hypotheses = {needed({"r_1 > 0.", "r_1", above(0)},
                            "A negative r_1 turns the sign of the form.",
                            check("sum c_i c_j b(i, j) >= 0 with r_1 = -1", definite,
                                  {{{"x", {0, 1}}, {"c", {1, -1}}, {"r_1", -1}, {"r_2", 1}}})),
                     definition("r_2 > 0.",
                                "0^r_2, the bias of a token on itself, has no value for r_2 < 0.")},
      .implicit = {definition("\"Kernel\" is meant as in Kerple, conditionally positive definite; "
                              "shift invariance alone would be true of every function of i - j.",
                              "It says what a kernel is."),
                   needed("The c_i sum to 0.",
                          "With two equal c the form is -2 r_1 |x_1 - x_0|^r_2.",
                          check("sum c_i c_j b(i, j) >= 0 with c = (1, 1)", definite,
                                {{{"x", {0, 1}}, {"c", {1, 1}}, {"r_1", 1}, {"r_2", 1}}}))},
      .condition = "r_2 <= 2.",
      .proof = holds_under_condition(
          "At -1, 0, 1 with c = (1, -2, 1) the sum is r_1 (8 - 2 * 2^r_2): for r_2 = 3 it is -8 "
          "r_1. For 0 < r_2 <= 2, -|x|^r_2 is conditionally positive definite (Schoenberg), as "
          "Kerple states. That b depends on i - j only holds for all parameters."),
      .checks = {check("sum c_i c_j b(i, j) >= 0 for r_2 = 1, 3", definite, forms({1, 3})),
                 condition("sum c_i c_j b(i, j) >= 0 for r_2 <= 2", definite,
                           forms({0.25, 0.5, 1, 1.5, 2}))},
      .mutant = {"It holds up to r_2 = 2.25.",
                 check("sum c_i c_j b(i, j) >= 0 for r_2 = 2.25", definite, forms({2.25}))},
  });

  const auto increases = above_zero<"c", "x">([]<class R>(R c, R x, double sign) {
    return R(sign) * (log1p(c * (x + R(1.0))) - log1p(c * x));
  });
  // For c < 0, psi ends before the last of them.
  const auto distances = [](const std::vector<double>& cs) {
    std::vector<Sample> samples;
    for (double c : cs) {
      for (double x : {0.0, 1.0, 7.0, 15360.0}) {
        if (c > 0 || x < 15360) samples.push_back({{"c", c}, {"x", x}});
      }
    }
    return samples;
  };
  claims["cable/fire_psi"] = Claim({
      .title = "FIRE's psi increases monotonically",
      .source = source("Section 2, Fire"),
      .statement =
          "psi : x -> log(c x + 1) is a monotonically increasing function of the distance x >= 0.",
      .hypotheses = {not_needed({"x >= 0.", "x", at_least(0)}, "It increases wherever 1 + c x > 0.",
                                check("psi(x + 1) - psi(x) > 0, -1/c < x < 0", increases(+1),
                                      {{{"c", 1}, {"x", -0.5}}, {{"c", 8}, {"x", -0.125 / 2}}}))},
      .implicit = {definition(
          "c is any real number; the paper does not restrict it. (The published code takes |c|.)",
          "The condition replaces it.")},
      .condition = "c > 0.",
      .proof = holds_under_condition("psi' = c/(c x + 1), which has the sign of c where psi is "
                                     "defined: for c = 0 psi is 0 everywhere, for c < 0 it falls "
                                     "and ends at x = -1/c. For c > 0 it increases on all x >= 0."),
      .checks = {check("psi(x + 1) - psi(x) > 0 for c = 1, 0, -1/16", increases(+1),
                       distances({1, 0, -0.0625})),
                 condition("psi(x + 1) - psi(x) > 0 for c > 0", increases(+1),
                           distances({0.1, 1, 8, 0x1p-10}))},
      .mutant = {"It falls for c > 0.",
                 check("psi(x) - psi(x + 1) > 0 for c > 0", increases(-1), distances({1}))},
  });

  const auto fire_rises = above_zero<"i", "c", "L">([]<class R>(int i, R c, R L) {
    const Vector<R> one = Vector<R>::Constant(1, R(1.0)), zero = zeros<R>(1);
    const reference::Fire<R> bias({one, zero, one, R(0.0), c, R(1.0)}, L);
    return at_each("j", 0, i, [&](int j) { return bias(i, j) - bias(i, j + 1); });
  });
  const auto others_fall = above_zero<"i", "c">([]<class R>(int i, R c, double sign) {
    const reference::Alibi<R> alibi{c};
    const reference::KerpleLog<R> kerple(c, c);
    std::vector<R> residuals;
    for (int j = 0; j < i; ++j) {
      residuals.push_back(R(sign) * (alibi(i, j + 1) - alibi(i, j)));
      residuals.push_back(R(sign) * (kerple(i, j + 1) - kerple(i, j)));
    }
    return residuals;
  });
  const auto queries = grid({{"i", {1, 7}}, {"c", {0.125, 1, 8}}, {"L", 4}});
  // -r d and -r_1 ln(1 + r_2 d) with r = r_1 = r_2 = c, outside of what the published code allows.
  const auto formulas_fall = above_zero<"i", "c">([]<class R>(int i, R c) {
    const auto kerple = [&](int d) { return -(c * log1p(R(c * R(d)))); };
    std::vector<Placed<R>> residuals;
    for (int d = 1; d <= i; ++d) {
      residuals.push_back({-(c * R(d - 1)) + c * R(d), "ALiBi, i - j = " + std::to_string(d)});
      residuals.push_back({kerple(d - 1) - kerple(d), "Kerple, i - j = " + std::to_string(d)});
    }
    return residuals;
  });
  claims["cable/fire_prefers_distant"] = Claim({
      .title = "FIRE can assign more attention to distant pairs, ALiBi and Kerple cannot",
      .source = source("Section 2, Fire"),
      .statement =
          "The formulation allows Fire to assign more attention to distant query-key pairs, "
          "contrary to ALiBi and Kerple, which tend to focus on nearby tokens: some f gives a bias "
          "that grows with distance, while no slope of ALiBi and no r_1, r_2 > 0 of Kerple does.",
      .hypotheses = {needed(
          {"The parameters of Kerple, and ALiBi's slope, are positive.", "c", above(0)},
          "With negative ones the bias rises with the distance.",
          check("ALiBi and Kerple: b(i, j + 1) - b(i, j) > 0, c < 0", formulas_fall,
                {{{"i", 7}, {"c", -0.0625}}}))},
      .implicit = {definition("Attention is causal: j <= i.",
                              "FIRE's psi(i - j)/psi(max(L, i)) is defined there."),
                   not_needed("The parameters of Kerple are at least 0.01, as in its code.",
                              "The logarithm increases for every positive parameter.",
                              check("ALiBi and Kerple: b(i, j + 1) - b(i, j) > 0, c = 2^-10",
                                    formulas_fall, {{{"i", 7}, {"c", 0x1p-10}}}))},
      .proof = holds("With f the identity on [0, 1], one ReLU with weights 1, the bias is psi(i - "
                     "j)/psi(max(L, i)), which grows with i - j as psi does. -r |i - j| and -r_1 "
                     "ln(1 + r_2 |i - j|) fall in every step for positive parameters."),
      .checks = {check("FIRE, f the identity: b(i, j) - b(i, j + 1) > 0", fire_rises, queries),
                 check("ALiBi and Kerple: b(i, j + 1) - b(i, j) > 0", others_fall(+1), queries)},
      .mutant = {"Kerple can as well.",
                 check("ALiBi and Kerple: b(i, j) - b(i, j + 1) > 0", others_fall(-1), queries)},
  });

  const auto gate_is_between = above_zero<"score">([]<class R>(R score, double lower) {
    return std::vector<R>{logistic(score) - R(lower), logistic(-score)};
  });
  const std::vector<Sample> scores_of_keys = {{{"score", 0}},
                                              {within("score", -30, -1)},
                                              {within("score", -1, 1)},
                                              {within("score", 1, 30)}};
  claims["cable/cope_binary_gate"] = Claim({
      .title = "CoPE has a binary gate",
      .source = source("Section 2, data-dependent encodings"),
      .statement = "CoPE applies fixed ALiBi-style biases with a learned binary gate; CABLE avoids "
                   "binarization. A gate is 0 or 1: gate (1 - gate) = 0.",
      .implicit = {"CoPE as its authors define it (Golovneva et al., 2024, section 4): g_ij = "
                   "logistic(q_i . k_j)."},
      .correction = "The gate of CoPE is continuous, strictly between 0 and 1.",
      .proof = refuted(
          "CoPE's gate is the logistic of q_i . k_j, strictly between 0 and 1 for every finite "
          "score: at score 0 it is 1/2, and gate (1 - gate) = 1/4. Positions are sums of such "
          "gates, fractional, and interpolated. Nor are its biases fixed or ALiBi-style: the term "
          "added is q_i . e[p_ij] with learned embeddings e, not -r p_ij."),
      .checks = {check("gate (1 - gate) = 0 for scores in [-30, 30], gate = 1/(1 + e^-score)",
                       equals_zero<"score">(
                           []<class R>(R score) { return logistic(score) * logistic(-score); }),
                       scores_of_keys),
                 correction("gate > 0 and 1 - gate > 0 for scores in [-30, 30]", gate_is_between(0),
                            scores_of_keys)},
      .mutant = {"The gate is at least 1/4.", check("gate - 1/4 > 0 and 1 - gate > 0",
                                                    gate_is_between(0.25), {{{"score", -2}}})},
  });

  const auto fox_is_cable = equals_zero<"z">([]<class R>(const Vector<R>& z, bool mutant) {
    Vector<R> increments(z.size());
    for (int k = 0; k < z.size(); ++k) {
      increments[k] = mutant ? relu(R(-z[k])) : softplus(R(-z[k]));
    }
    const reference::CableNw<R> bias{reference::prefix_sum(increments)};
    std::vector<R> residuals;
    for (int i = 0; i < z.size(); ++i) {
      R forgotten(0.0);
      for (int j = i - 1; j >= 0; --j) {
        forgotten += log(logistic(z[j + 1]));
        residuals.push_back(forgotten - bias(i, j));
      }
    }
    return residuals;
  });
  const std::vector<Sample> gates = {
      {{"z", {0, 0}}}, {{"z", {1, -2, 0.5, 3, -0.25}}}, {{"z", {-8, 8, -4, 4}}}};
  claims["cable/fox"] = Claim({
      .title = "FoX is a similar idea",
      .source = source("Section 2, NoPE and data-dependent encodings"),
      .statement = "FoX suggested a similar idea, a forgetting gate, without conditioning the "
                   "slope on the query: its bias sum_{k=j+1..i} ln f_k with f = logistic(z) is the "
                   "bias of CABLE_NW with other increments.",
      .implicit = {definition("Attention is causal: j <= i.",
                              "FoX's sum over k = j + 1..i is empty for j >= i."),
                   needed("The increments of CABLE_NW are negated, as in the published code.",
                          "ln f_k is negative; with the printed sign the two biases are opposite.",
                          check("ln logistic(z_1) - Softplus(-z_1) = 0",
                                equals_zero<"z_1">([]<class R>(R z) {
                                  return log(logistic(z)) - softplus(R(-z));
                                }),
                                {{{"z_1", 0}}}))},
      .proof = holds(
          "-ln logistic(z) = softplus(-z) >= 0, so the bias of FoX is -(S_i - S_j) with increments "
          "softplus(-z_k) in place of ReLU(z_k): CABLE_NW with the sign of the published code. "
          "Softplus is never 0: FoX cannot be free of penalty, CABLE_NW can."),
      .checks =
          check("sum ln logistic(z_k) + |S_i - S_j| = 0 with increments softplus(-z_k), j <= i",
                fox_is_cable(false), gates),
      .mutant = {"With increments ReLU(-z_k).",
                 check("sum ln logistic(z_k) + |S_i - S_j| = 0 with increments ReLU(-z_k)",
                       fox_is_cable(true), gates)},
  });
}

}  // namespace plumbline::proofs_checks::cable
