// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "proofs_checks/cable/biases.hpp"
#include "proofs_checks/pictures/pictures.hpp"
#include "reference/bias/alibi.hpp"

namespace plumbline::proofs_checks::cable {

void claims_of_alibi_reduction(Claims& claims) {
  // Two tokens, the first with increment 0: B_10 - ALiBi_10 for the second token's pre-activation
  // z, the gain g and the slope m. S_1 - S_0 = ReLU(z) whatever the first increment is.
  const auto bias_is_alibi = equals_zero<"z", "g", "m">([]<class R>(R z, R g, R m, bool published) {
    const Vector<R> increments{{R(0.0), relu(z)}};
    const R bias =
        published ? published_bias<R>(increments, g)(1, 0) : printed_bias<R>(increments, g)(1, 0);
    return bias - reference::Alibi<R>{m}(1, 0);
  });
  const double large = 0x1p100;  // the derivation covers all reals; the box, all trained weights
  const auto every_parameter =
      grid({boxes("z", {-large, 0, large}), within("g", 0, large), within("m", 0x1p-8, 0.5)});
  claims["cable/alibi_reduction_as_printed"] = Claim({
      .title = "CABLE as printed reduces to ALiBi",
      .source = source("Section 3, after eq. 7, with eqs 2-7"),
      .statement = "Some parameters of eqs 2-7 give every token the bias -1 and the weight 1/2^h, "
                   "and with them B_ij = -(i - j)/2^h, the bias of ALiBi.",
      .hypotheses = {"f = ReLU(X w_c) (eq. 2), S = L f (eqs 3-4), g = Softplus(X w_s) (eq. 6), "
                     "B_ij = g_i (S_i - S_j) (eq. 7)."},
      .implicit = {"\"Each token's bias\" is f, the only quantity that eqs 2-7 have per token "
                   "besides the weight.",
                   "Attention is causal: j <= i.", "The slope is positive."},
      .correction = "With the published code's sign the pair z = 1, g = m gives ALiBi with slope m "
                    "(cable/alibi_reduction_code_sign for every token at once); with f set to -1 "
                    "by hand, eqs 3-5 and 7 do (cable/alibi_reduction_values).",
      .proof = refuted(
          "A ReLU is never negative, so no z gives f = -1: |ReLU(z) + 1| >= 1. Nor do other "
          "parameters help: S_i - S_j = sum_{k=j+1..i} ReLU(z_k) >= 0 and g_i > 0, so B_ij >= 0 > "
          "-m (i - j) for j < i, and the distance from ALiBi is at least m. The boxes cover the "
          "parameters up to 2^100; the two inequalities hold for all reals."),
      .theorem = "cable_alibi.alibi_reduction_as_printed_fails",
      .checks = {exists("some z, g: ReLU(z) + 1 = 0",
                        equals_zero<"z">([]<class R>(R z) { return relu(z) + R(1.0); }),
                        grid({boxes("z", {-large, 0, large})})),
                 exists("some z, g: printed B_10 + m = 0, m in [2^-8, 1/2]", bias_is_alibi(false),
                        every_parameter),
                 correction("z = 1, g = m: published B_10 + m = 0", bias_is_alibi(true),
                            {{{"z", 1}, {"g", 0.125}, {"m", 0.125}}})},
      .mutant = {"Some z < 0 with any g gives ALiBi under the published sign.",
                 exists("some z <= 0, g: published B_10 + m = 0", bias_is_alibi(true),
                        {every_parameter.front()})},
  });

  const auto printed_is_alibi =
      equals_zero<"g", "m", "f">([]<class R>(R g, R m, const Vector<R>& f) {
        const auto bias = printed_bias<R>(f, g);
        const reference::Alibi<R> alibi{m};
        std::vector<Placed<R>> residuals;
        for (int i = 0; i <= last_of(f); ++i) {
          for (int j = 0; j <= i; ++j) {
            residuals.push_back({bias(i, j) - alibi(i, j),
                                 "i = " + std::to_string(i) + ", j = " + std::to_string(j)});
          }
        }
        return residuals;
      });
  // Heads h = 1..8 and 2 to 9 tokens, each with the increment `f`.
  const auto heads = [](double f) {
    Samples samples;
    for (int h = 1; h <= 8; ++h) {
      const double weight = std::ldexp(1.0, -h);
      samples.push_back({{"f", std::vector<double>(h + 1, f)}, {"g", weight}, {"m", weight}});
    }
    return samples;
  };
  claims["cable/alibi_reduction_values"] = Claim({
      .title = "The values -1 and 1/2^h in eqs 3-5 and 7 give ALiBi",
      .source = source("Section 3, after eq. 7"),
      .statement =
          "With f_k = -1 and g_i = 1/2^h put in by hand, eqs 3-5 and 7 give B_ij = -(i - j)/2^h.",
      .hypotheses = {needed_as_the_mutant_shows(
          {"f_k = -1 for every token, g_i = 1/2^h for every query.", "f", exactly(-1)},
          "f_k = +1 gives the reward m (i - j).")},
      .implicit =
          {definition(
               "Eqs 2 and 6 are set aside: ReLU never gives -1 (cable/alibi_reduction_as_printed).",
               "It is what putting the values in by hand means; with eq. 2 there is no f = -1."),
           needed("Attention is causal: for j > i the formula gives a reward.",
                  "Eq. 7 has the sign of i - j, ALiBi has not.",
                  check("printed B_01 + m |0 - 1| = 0: a key after the query",
                        equals_zero<"g", "m", "f">([]<class R>(R g, R m, const Vector<R>& f) {
                          return printed_bias<R>(f, g)(0, 1) - reference::Alibi<R>{m}(0, 1);
                        }),
                        heads(-1)))},
      .proof = holds_under_condition(
          "S_i = -(i + 1), so S_i - S_j = -(i - j) and B_ij = -(i - j)/2^h, which is -m "
          "|i - j| with m = 1/2^h for j <= i. All numbers are dyadic: the identity is "
          "exact in every reading."),
      .theorem = "cable_alibi.alibi_reduction_values",
      .checks = check("printed B_ij + m (i - j) = 0 with f = -1, g = m = 1/2^h", printed_is_alibi,
                      heads(-1)),
      .mutant = {"f_k = +1 gives ALiBi under the printed sign.",
                 check("printed B_ij + m (i - j) = 0 with f = +1, g = m = 1/2^h", printed_is_alibi,
                       heads(+1))},
  });

  // With weights 0, whatever the tokens are.
  const auto terms_give_alibi = equals_zero<"m">([]<class R>(R m, bool mutant) {
    const R increment = relu(R(1.0));
    const R pre_activation = mutant ? m : log(exp(m) - R(1.0));
    const R gain = softplus(pre_activation);
    const auto bias = published_bias<R>(Vector<R>::Constant(5, increment), gain);
    const reference::Alibi<R> alibi{m};
    std::vector<R> residuals =
        every_pair(5, [&](int i, int j) { return bias(i, j) - alibi(i, j); });
    residuals.push_back(increment - R(1.0));
    residuals.push_back(gain - m);
    return residuals;
  });
  // 1/2^h, the official slopes of 12 heads that are dyadic, and a few others.
  const auto slopes =
      grid({{"m", {0.5, 0.25, 0.125, 0x1p-4, 0x1p-5, 0x1p-6, 0x1p-7, 0x1p-8, 1.0, 0.75, 3.0}}});
  claims["cable/alibi_reduction_code_sign"] = Claim({
      .title = "CABLE with the sign of the published code reduces to ALiBi",
      .source = source("Section 3, after eq. 7, with the sign of axiomlab/Cable"),
      .statement = "With B_ij = -g_i sum_{k=j+1..i} f_k, some parameters give every token of every "
                   "input the increment f = ReLU(X w_c) = 1 and the weight g = Softplus(X w_s) = "
                   "m, and with them B_ij = -m (i - j), the bias of ALiBi with slope m > 0.",
      .hypotheses =
          {definition("f = ReLU(X w_c) (eq. 2), g = Softplus(X w_s) (eq. 6), without bias terms.",
                      "It says what f and g are; the condition replaces its last words."),
           needed({"The slope m is above 0.", "m", above(0)},
                  "A softplus takes positive values only.",
                  exists("some z in [-2^10, 2^10] has Softplus(z) = m",
                         equals_zero<"z", "m">([]<class R>(R z, R m) { return softplus(z) - m; }),
                         {{{"m", -0.5}, within("z", -0x1p10, 0)},
                          {{"m", -0.5}, within("z", 0, 0x1p10)}}))},
      .implicit = {definition("The same parameters serve every input X.",
                              "It is the order of \"some parameters\" and \"every input\".")},
      .condition = "The two linear maps have a bias term, as in the published code: weights 0, "
                   "bias terms 1 and ln(e^m - 1).",
      .proof = holds_under_condition(
          "f = 1 gives S_i - S_j = i - j and B_ij = -m |i - j|, in both directions. Reaching these "
          "values: ReLU(0 x + 1) = 1, and Softplus(z) = ln(1 + e^z) = m has the one solution z = "
          "ln(e^m - 1) for m > 0. Without bias terms it fails: tokens x and -x need w x = 1 and -w "
          "x = 1 at once; also X = 0 forces f = 0 and g = ln 2."),
      .theorem = "cable_alibi.alibi_reduction_code_sign",
      .checks =
          {exists("some w_c without bias term: both of the tokens 1, -1 get f = 1",
                  equals_zero<"w_c">([]<class R>(R w) {
                    return std::vector<Placed<R>>{{relu(w) - R(1.0), "the token 1"},
                                                  {relu(-w) - R(1.0), "the token -1"}};
                  }),
                  grid({boxes("w_c", {-large, 0, large})})),
           condition(
               "with bias terms 1 and ln(e^m - 1): f - 1 = 0, g - m = 0, B_ij + m |i - j| = 0",
               terms_give_alibi(false), slopes)},
      .mutant = {"The bias term m, in place of ln(e^m - 1), gives the weight m.",
                 check("with bias terms 1 and m: g - m = 0, B_ij + m |i - j| = 0",
                       terms_give_alibi(true), slopes)},
  });

  const auto is_half_power = equals_zero<"H">([]<class R>(int H) {
    const auto m = reference::alibi_slopes<R>(H);
    return at_each("h", 1, H + 1, [&](int h) { return m[h - 1] - R(std::ldexp(1.0, -h)); });
  });
  const auto is_geometric = equals_zero<"H">([]<class R>(int H) {
    const auto m = reference::alibi_slopes<R>(H);
    return at_each("h", 1, H + 1,
                   [&](int h) { return log(m[h - 1]) + R(8.0 * h) / R(H) * log(R(2.0)); });
  });
  const auto layers = [](const std::vector<double>& heads) { return grid({{"H", heads}}); };
  claims["cable/slope_half_power_h"] = Claim({
      .title = "ALiBi's slope of head h is 1/2^h",
      .source = source("Section 3, after eq. 7: the weight 1/2^h"),
      .statement = "The official ALiBi slope of head h = 1..H of a layer with H heads is 1/2^h.",
      .implicit = {needed(
                       "h counts the heads of a layer from 1.",
                       "Counted from 0, head 0 would have 1.",
                       check("m_h - 2^-h = 0, h = 0, ..., 7", equals_zero<"H">([]<class R>(int H) {
                               return reference::alibi_slopes<R>(H)[0] - R(1.0);
                             }),
                             layers({8}))),
                   definition("\"ALiBi\" is the schedule of its authors' code "
                              "(ofirpress/attention_with_linear_biases).",
                              "The paper on ALiBi gives the rule for powers of two only.")},
      .condition = "The layer has H = 8 heads (CABLE's tiny model has; small has 12, medium 16).",
      .correction = "For H a power of two the official slope is 2^(-8 h / H). For other H the "
                    "slopes of the next smaller power of two are followed by every second slope of "
                    "its double; H = 12 has the exponents 1..8, 0.5, 1.5, 2.5, 3.5.",
      .proof = holds_under_condition(
          "2^(-8 h / H) = 2^(-h) for some h >= 1 exactly if H = 8. Other powers of two differ at h "
          "= 1: H = 16 has 2^(-1/2) = 0.7071 in place of 1/2. For p < H < 2p, p a power of two: p "
          "= 8 agrees for h <= 8 and then differs, as 2^(-1/2) follows at h = 9 in place of "
          "2^(-9); p not 8 differs at h = 1 already."),
      .theorem = "cable_alibi.slope_half_power_h",
      .checks = {check("m_h - 2^-h = 0 for H = 8, 16, 12, 1, 2, 3, 4, 6, 9, 32", is_half_power,
                       layers({8, 16, 12, 1, 2, 3, 4, 6, 9, 32})),
                 condition("m_h - 2^-h = 0 for H = 8", is_half_power, layers({8})),
                 correction("ln m_h + (8 h / H) ln 2 = 0 for H = 1, 2, 4, ..., 64", is_geometric,
                            layers({1, 2, 4, 8, 16, 32, 64}))},
      .mutant = {"The formula 2^(-8 h / H) holds for H = 12 as well.",
                 check("ln m_h + (8 h / H) ln 2 = 0 for H = 12", is_geometric, layers({12}))},
      .pictures = {pictures::slopes_of_12_heads},
  });
}

}  // namespace plumbline::proofs_checks::cable
