// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "proofs_checks/cable/source.hpp"
#include "proofs_checks/rope_score.hpp"
#include "reference/bias/alibi.hpp"
#include "reference/bias/cable_nw.hpp"
#include "reference/bias/fire.hpp"
#include "reference/bias/kerple.hpp"
#include "reference/bias/t5_buckets.hpp"
#include "reference/position/rope.hpp"

namespace plumbline::proofs_checks::cable {
namespace {

/// The outputs of attention, for a logit(i, j) of every pair of positions.
template <class R, class Logit>
Vector<R> attend(const Vector<R>& values, bool causal, const Logit& logit) {
  Vector<R> out(values.size());
  for (int i = 0; i < values.size(); ++i) {
    const int keys = causal ? i + 1 : static_cast<int>(values.size());
    const auto p = softmax_of<R>(keys, [&](int j) { return logit(i, j); });
    out[i] = R(0.0);
    for (int j = 0; j < keys; ++j) out[i] += p[j] * values[j];
  }
  return out;
}

/// The outputs for the tokens themselves as queries, keys and values.
template <class R>
Vector<R> attend_to_itself(const Vector<R>& x, bool causal) {
  return attend(x, causal, [&](int i, int j) { return x[i] * x[j]; });
}

/// The outputs of the reversed tokens, reversed, less those of the tokens.
template <class R, class Outputs>
std::vector<Placed<R>> reversal(const Vector<R>& x, const Outputs& outputs) {
  const Vector<R> out = outputs(x), other = outputs(Vector<R>(x.reverse()));
  const int n = static_cast<int>(out.size());
  return at_each("i", 0, n, [&](int i) { return other[n - 1 - i] - out[i]; });
}

}  // namespace

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
      .theorem = "other_methods.t5_clipped",
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
    Samples samples;
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
      .theorem = "other_methods.fire_psi",
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
      .theorem = "other_methods.fire_prefers_distant",
      .checks = {check("FIRE, f the identity: b(i, j) - b(i, j + 1) > 0", fire_rises, queries),
                 check("ALiBi and Kerple: b(i, j + 1) - b(i, j) > 0", others_fall(+1), queries)},
      .mutant = {"Kerple can as well.",
                 check("ALiBi and Kerple: b(i, j) - b(i, j + 1) > 0", others_fall(-1), queries)},
  });

  const auto gate_is_between = above_zero<"score">([]<class R>(R score, double lower) {
    return std::vector<R>{logistic(score) - R(lower), logistic(-score)};
  });
  const Samples scores_of_keys = {{{"score", 0}},
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
      .theorem = "other_methods.cope_binary_gate_fails",
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
  const Samples gates = {{{"z", {0, 0}}}, {{"z", {1, -2, 0.5, 3, -0.25}}}, {{"z", {-8, 8, -4, 4}}}};
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
      .proof = holds_under_condition(
          "-ln logistic(z) = softplus(-z) >= 0, so the bias of FoX is -(S_i - S_j) with increments "
          "softplus(-z_k) in place of ReLU(z_k): CABLE_NW with the sign of the published code. "
          "Softplus is never 0: FoX cannot be free of penalty, CABLE_NW can."),
      .theorem = "other_methods.fox",
      .checks =
          check("sum ln logistic(z_k) + |S_i - S_j| = 0 with increments softplus(-z_k), j <= i",
                fox_is_cable(false), gates),
      .mutant = {"With increments ReLU(-z_k).",
                 check("sum ln logistic(z_k) + |S_i - S_j| = 0 with increments ReLU(-z_k)",
                       fox_is_cable(true), gates)},
  });

  // The last token of a sequence is the query; a pair is it and a key of the same place in two
  // sequences of one length.
  const auto cope_ignores_context =
      equals_zero<"z", "y">([]<class R>(const Vector<R>& z, const Vector<R>& y) {
        std::vector<Placed<R>> residuals;
        R difference(0.0);
        for (int j = static_cast<int>(z.size()) - 1; j >= 0; --j) {
          difference += logistic(z[j]) - logistic(y[j]);
          residuals.push_back({difference, "j = " + std::to_string(j)});
        }
        return residuals;
      });
  const auto positions_ignore_context = equals_zero<"z", "y", "c", "r">(
      []<class R>(const Vector<R>& z, const Vector<R>& y, R c, const Vector<R>& r) {
        const Vector<R> one = Vector<R>::Constant(1, R(1.0)), zero = zeros<R>(1);
        const reference::Alibi<R> alibi{c};
        const reference::KerpleLog<R> kerple(c, c);
        const reference::Fire<R> fire({one, zero, one, R(0.0), c, R(1.0)}, R(4.0));
        const int K = static_cast<int>(r.size()) - 1;
        const auto t5 = [&](int i, int j) { return r[std::min(i - j, K)]; };
        const int i = static_cast<int>(z.size()) - 1, other = static_cast<int>(y.size()) - 1;
        std::vector<Placed<R>> residuals;
        for (int j = 0; j <= i; ++j) {
          const std::string place = ", j = " + std::to_string(j);
          residuals.push_back({alibi(i, j) - alibi(other, j), "ALiBi" + place});
          residuals.push_back({kerple(i, j) - kerple(other, j), "Kerple" + place});
          residuals.push_back({fire(i, j) - fire(other, j), "FIRE" + place});
          residuals.push_back({t5(i, j) - t5(other, j), "T5-bias" + place});
        }
        return residuals;
      });
  const auto cable_ignores_context =
      equals_zero<"z", "y">([]<class R>(const Vector<R>& z, const Vector<R>& y) {
        const auto bias_of = [](Vector<R> increments) {
          for (int k = 0; k < increments.size(); ++k) increments[k] = relu(increments[k]);
          return reference::CableNw<R>{reference::prefix_sum(increments)};
        };
        const auto one = bias_of(z), other = bias_of(y);
        const int last = static_cast<int>(z.size()) - 1;
        return at_each("j", 0, last, [&](int j) { return one(last, j) - other(last, j); });
      });
  const Samples two_contexts = {{{"z", {0, 1}}, {"y", {0, 2}}},
                                {{"z", {1, -2, 0.5, 3}}, {"y", {1, 2, -0.5, -3}}}};
  claims["cable/existing_context"] = Claim({
      .title = "In contrast to CABLE, existing methods do not use the context",
      .source = source("Section 1, contributions, against section 2, data-dependent encodings, and "
                       "section 5.3"),
      .statement = "CABLE, \"in contrast to existing methods, uses context-aware positional "
                   "information\": what an existing method adds to the score of a pair is the same "
                   "in two sequences of the same length.",
      .implicit =
          {"The existing methods are those of section 2 that add a bias to the scores: ALiBi, "
           "T5-bias, Kerple, Fire and CoPE; of CoPE (Golovneva et al., 2024) the position "
           "sum_{k=j..i} logistic(z_k) is looked at, with z_k the score of query i and key k."},
      .correction = "ALiBi, T5-bias, Kerple and Fire do not use it; what section 2 calls "
                    "\"data-dependent\" does.",
      .proof = refuted(
          "CoPE counts the positions by gates of query and keys, so that they depend on the "
          "tokens. Section 2 lists it with DAPE and FoX as \"data-dependent\", and section 5.3 "
          "says that \"a few context-aware RPEs have already been proposed\". (FoX is concurrent "
          "work: cable/fox.) The formulas of ALiBi, T5-bias, Kerple and Fire have nothing of the "
          "tokens."),
      .checks = {check("CoPE: position in one sequence - position in the other = 0",
                       cope_ignores_context, two_contexts),
                 correction("ALiBi, Kerple, FIRE, T5-bias: bias in one - bias in the other = 0",
                            positions_ignore_context,
                            with(two_contexts, {{{"c", 0.125}, {"r", {0, -1, -1.5}}},
                                                {{"c", 1}, {"r", {0, -0.5, -3}}}}))},
      .mutant = {"CABLE_NW does not use the context either.",
                 check("CABLE_NW: bias in one sequence - bias in the other = 0",
                       cable_ignores_context, two_contexts)},
  });

  const auto moved = equals_zero<"q", "k">([]<class R>(const Vector<R>& q, const Vector<R>& k,
                                                       int key_moves) {
    std::vector<Placed<R>> residuals;
    for (int s : {1, 7, 1000}) {
      residuals.push_back(
          {rope_score<R>(q, 3, k, 1) - rope_score<R>(q, 3 + s, k, 1 + key_moves * s),
           "i = 3, j = 1, s = " + std::to_string(s)});
      residuals.push_back({rope_score<R>(q, 0, k, 5) - rope_score<R>(q, s, k, 5 + key_moves * s),
                           "i = 0, j = 5, s = " + std::to_string(s)});
    }
    return residuals;
  });
  claims["cable/rope_relative"] = Claim({
      .title = "RoPE makes attention a function of the relative distance",
      .source = source("Section 2, RPE"),
      .statement =
          "RoPE rotates query and key, which results in attention being a function of the relative "
          "distance i - j: <R_i q, R_j k> does not change when i and j move by the same amount.",
      .hypotheses = {needed_as_the_mutant_shows(
          "i and j move by the same amount.", "A query that moves alone is at another distance.")},
      .implicit = {needed(
          "The distance is signed.", "The score at i - j = 2 is not that at i - j = -2.",
          check("<R_3 q, R_1 k> - <R_1 q, R_3 k> = 0",
                equals_zero<"q", "k">([]<class R>(const Vector<R>& q, const Vector<R>& k) {
                  return rope_score<R>(q, 3, k, 1) - rope_score<R>(q, 1, k, 3);
                }),
                rope_vectors()))},
      .proof = holds_under_condition(
          "Rotations of one pair by the same frequency add their angles: <R_i q, R_j k> = "
          "<q, R_{j-i} k>. It is the signed distance: at i - j = 1 and -1 the scores differ "
          "in general. (Each vector rotates with its own position, not with the distance, as "
          "\"an angle proportional to their relative positions\" could be read.)"),
      .theorem = "other_methods.rope_relative",
      .checks = check("<R_i q, R_j k> - <R_{i+s} q, R_{j+s} k> = 0", moved(1), rope_vectors()),
      .mutant = {"It does not change when the query alone moves.",
                 check("<R_i q, R_j k> - <R_{i+s} q, R_j k> = 0", moved(0), rope_vectors())},
  });

  // Query and key turned by so many times the distance, against RoPE's own score.
  const auto turned = equals_zero<"q", "k">([]<class R>(const Vector<R>& q, const Vector<R>& k,
                                                        int query_turns, int key_turns) {
    return at_each("i - j", {1, 2, 7, 100}, [&](int d) {
      return rope_score<R>(q, query_turns * d, k, key_turns * d) - rope_score<R>(q, d + 3, k, 3);
    });
  });
  claims["cable/rope_angle"] = Claim({
      .title = "RoPE rotates a query and a key by an angle proportional to their relative position",
      .source = source("Section 2, RPE"),
      .statement =
          "\"RoPE rotates a query and key pair vectors with an angle proportional to their "
          "relative positions before the dot product\": <R_{i-j} q, R_{i-j} k> is RoPE's "
          "score, <R_i q, R_j k>.",
      .implicit = {definition("R_n turns each pair of components by n times its frequency.",
                              "It is the rotation of RoPE.")},
      .condition = "One of the two is rotated by it and the other not: it is the angle by which "
                   "the query is turned against the key.",
      .proof = holds_under_condition(
          "Two vectors that are turned by the same angle keep their product: "
          "<R_{i-j} q, R_{i-j} k> = <q, k>, in which no position is left. RoPE turns each by its "
          "own position, q by i and k by j, and the product is that of R_{i-j} q with k "
          "(cable/rope_relative)."),
      .checks = {check("<R_{i-j} q, R_{i-j} k> - <R_i q, R_j k> = 0, j = 3", turned(1, 1),
                       rope_vectors()),
                 condition("<R_{i-j} q, k> - <R_i q, R_j k> = 0, j = 3", turned(1, 0),
                           rope_vectors())},
      .mutant = {"The key is rotated by it.",
                 check("<q, R_{i-j} k> - <R_i q, R_j k> = 0, j = 3", turned(0, 1), rope_vectors())},
  });

  const auto peaks_at = above_zero<"q">([]<class R>(const Vector<R>& q, int rotated_key) {
    const int query = 8;
    std::vector<Placed<R>> residuals;
    for (int r = 0; r <= query; ++r) {
      const reference::Matrix<R> row = q.transpose();
      const Vector<R> key =
          reference::rope<R>(row, rotated_key * r, R(10000.0), reference::RopePairs::interleaved)
              .transpose();
      const R peak = rope_score<R>(q, query, key, query - r);
      for (int s = 0; s <= query; ++s) {
        if (s == r) continue;
        residuals.push_back({peak - rope_score<R>(q, query, key, query - s),
                             "r = " + std::to_string(r) + ", s = " + std::to_string(s)});
      }
    }
    return residuals;
  });
  claims["cable/rope_need_not_decay"] = Claim({
      .title = "Attention under RoPE need not decay with distance",
      .source = source("Section 2, RPE, after Barbero et al."),
      .statement = "Attention weights under RoPE do not necessarily decay with the distance: for "
                   "every distance r some key scores highest exactly there.",
      .hypotheses = {needed("The query is not 0.", "A query of 0 scores 0 everywhere.",
                            check("score at r minus score at s > 0 with q = 0", peaks_at(1),
                                  {{{"q", {0, 0, 0, 0}}}}))},
      .implicit = {not_needed(
          "The query has a component in the pair that rotates by 1 radian.",
          "Any pair serves: its frequency 10000^(-2p/d) is algebraic, so no multiple of it by a "
          "whole number but 0 is a multiple of 2 pi, which is transcendental.",
          check("score at r minus score at s > 0, q in the pair that rotates by 1/100", peaks_at(1),
                {{{"q", {0, 0, 1, 0}}}, {{"q", {0, 0, -1, 2}}}}))},
      .proof =
          holds("Take k = R_r q. Then <R_i q, R_j k> = sum over pairs of |q_pair|^2 cos((i - j - "
                "r) theta_pair), which is largest at i - j = r; strictly among whole numbers, as a "
                "frequency is algebraic and 2 pi is transcendental. So the claim of Su et al. that "
                "scores decay is no theorem about single pairs of vectors."),
      .checks =
          check("score at distance r minus score at distance s > 0, k = R_r q, r = 0..8, s != r",
                peaks_at(1), rope_vectors()),
      .mutant = {"The same without rotating the key.",
                 check("score at distance r minus score at distance s > 0, k = q", peaks_at(0),
                       rope_vectors())},
  });

  const auto reversed = equals_zero<"x">([]<class R>(const Vector<R>& x, bool causal) {
    return reversal(x, [&](const Vector<R>& y) { return attend_to_itself(y, causal); });
  });
  const Samples tokens = {
      {{"x", {1, 2}}}, {{"x", {0.5, -1, 2, 0.25}}}, {{"x", {3, -3, 1, 0, -0.5}}}};
  const auto reversed_with_bias = equals_zero<"x">([]<class R>(const Vector<R>& x) {
    return reversal(x, [](const Vector<R>& y) {
      return attend(y, false, [&](int i, int j) { return y[i] * y[j] + R(j); });
    });
  });
  const auto reversed_with_maps = equals_zero<"x">([]<class R>(const Vector<R>& x) {
    return reversal(x, [](const Vector<R>& y) {
      return attend(Vector<R>(R(3.0) * y), false,
                    [&](int i, int j) { return -(R(2.0) * y[i] * y[j]); });
    });
  });
  claims["cable/position_agnostic"] = Claim({
      .title = "Attention is position-agnostic",
      .source = source("Section 1; section 2 of the first version"),
      .statement =
          "Transformers are position-agnostic and need position information: without a positional "
          "term, permuting the tokens permutes the outputs of attention and changes nothing else.",
      .hypotheses = {needed(
          "No positional term.", "A bias by the key's position tells orders apart.",
          check("without a mask, bias j for key j: the same", reversed_with_bias, tokens))},
      .implicit = {not_needed(
          "Queries, keys and values are the tokens themselves, of width 1; the argument is the "
          "same for any width and weights.",
          "Maps act on each token alone.",
          check("without a mask, q = 2x, k = -x, v = 3x: the same", reversed_with_maps, tokens))},
      .condition = "No causal mask (an encoder).",
      .proof = holds_under_condition(
          "out_i = sum_j softmax_j(x_i x_j) x_j is a sum over a set: the order of the keys does "
          "not matter. A causal mask makes the set depend on the position: of the tokens (1, 2) "
          "the first attends to itself only, out = 1; in the order (2, 1) the token 1 attends to "
          "both. That is how decoders without positional encoding can learn positions, as section "
          "2 says of NoPE."),
      .theorem = "other_methods.position_agnostic",
      .checks = {check("out of the reversed tokens, reversed, minus out = 0, causal mask, out_i = "
                       "sum_{j <= i} softmax_j(x_i x_j) x_j",
                       reversed(true), tokens),
                 condition("the same without a mask", reversed(false), tokens)},
      .mutant = {"Without a mask all outputs are the same.",
                 check("out_0 - out_last = 0 without a mask",
                       equals_zero<"x">([]<class R>(const Vector<R>& x) {
                         const auto out = attend_to_itself(x, false);
                         return out[0] - out[out.size() - 1];
                       }),
                       tokens)},
  });
}

}  // namespace plumbline::proofs_checks::cable
