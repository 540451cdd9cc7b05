// SPDX-License-Identifier: Apache-2.0
#include "proofs_checks/cable/biases.hpp"
#include "reference/bias/cable_nw.hpp"

namespace plumbline::proofs_checks::cable {

void claims_of_bias(Claims& claims) {
  const auto matrix_is_recursion =
      equals_zero<"f">([]<class R>(const Vector<R>& f, bool strictly_lower) {
        const auto sums = reference::prefix_sum(f);
        return at_each("i", 0, f.size(), [&](int i) {
          R row(0.0);
          for (int j = 0; j < f.size(); ++j) {
            const bool one = strictly_lower ? j < i : j <= i;
            row += R(one ? 1.0 : 0.0) * f[j];
          }
          return row - sums[i];
        });
      });
  const auto not_decreasing = at_least_zero<"f">([]<class R>(const Vector<R>& f) {
    const auto sums = reference::prefix_sum(f);
    std::vector<Placed<R>> residuals = {{sums[0], "S_0"}};
    for (int i = 1; i < sums.size(); ++i) {
      residuals.push_back(
          {sums[i] - sums[i - 1], "S_" + std::to_string(i) + " - S_" + std::to_string(i - 1)});
    }
    return residuals;
  });
  const auto increments = increments_and_gains(false);
  claims["cable/cumulative_sum"] = Claim({
      .title = "S = L f is the cumulative sum",
      .source = source("Section 3, eqs 3-4"),
      .statement =
          "With L the lower triangular matrix of ones, S = L f is the cumulative sum of f, and S "
          "lies in R_+^t: S_i = f_0 + ... + f_i, non-negative and not decreasing.",
      .hypotheses = {needed(
          {"f = ReLU(X w_c) >= 0 (eq. 2).", "f", at_least(0)},
          "With a negative increment the sum falls.",
          check("S_0 >= 0 and S_{i+1} - S_i >= 0", not_decreasing, {{{"f", {-1, 1}}}}))},
      .implicit = {definition(
          "Rows and columns count from the same number.",
          "It says what the indices are. Otherwise L leaves out the token itself.")},
      .proof = holds("Row i of L picks f_0..f_i. A sum of non-negative numbers is not negative, "
                     "and S_{i+1} - S_i = f_{i+1} >= 0."),
      .theorem = "cable.cumulative_sum",
      .checks = {check("(L f)_i - S_i = 0 with S_i = S_{i-1} + f_i", matrix_is_recursion(false),
                       increments),
                 check("S_0 >= 0 and S_{i+1} - S_i >= 0", not_decreasing, increments)},
      .mutant = {"The same with L_ij = 1 for j < i only, which leaves the token itself out.",
                 check("(L f)_i - S_i = 0, L strictly lower triangular", matrix_is_recursion(true),
                       increments)},
  });

  const auto positive_part = []<class R>(R z) { return relu(z); };
  const auto not_negative = at_least_zero<"z">(positive_part);
  const auto point = [](double z) { return Sample{{"z", z}}; };
  claims["cable/relu_positive"] = Claim({
      .title = "ReLU ensures that the biases are positive",
      .source = source("Section 3, after eq. 2"),
      .statement = "Here ReLU ensures the biases are positive: f_k = ReLU(x_k w_c) > 0.",
      .implicit = {not_needed(
          "Pre-activations x_k w_c take every real value.",
          "ReLU is not negative anywhere, so nowhere on a part of the line.",
          check("ReLU(z) >= 0 for z in [-2, -1]", not_negative, {{within("z", -2, -1)}}))},
      .condition = "\"Positive\" means non-negative: f_k >= 0.",
      .proof = holds_under_condition(
          "ReLU(z) = max(z, 0) is 0 for every z <= 0: f = 0 at z = -1. It is never negative, which "
          "is what R_+ in \"f : R^(t x d) -> R_+^t\" then has to mean. The difference matters: "
          "where f = 0, distance costs nothing (cable/penalties_increase)."),
      .theorem = "cable.relu_positive",
      .checks = {check("ReLU(z) > 0 at z = 1, 0, -1", above_zero<"z">(positive_part),
                       {point(1), point(0), point(-1)}),
                 condition("ReLU(z) >= 0 for all z in [-2^100, 2^100]", not_negative,
                           {{within("z", -0x1p100, 0)},
                            {within("z", 0, 0x1p100)},
                            {within("z", -1, 1)}})},
      .mutant = {"ReLU(z) - z > 0.",
                 check("ReLU(z) - z > 0 at z = 1",
                       above_zero<"z">([]<class R>(R z) { return relu(z) - z; }), {point(1)})},
  });

  const auto weight = above_zero<"z">(
      []<class R>(R z, double offset, double sign) { return R(offset) + R(sign) * softplus(z); });
  claims["cable/softplus_modulates"] = Claim({
      .title = "The weight can dampen and amplify, and is positive",
      .source = source("Section 3, before eq. 6"),
      .statement = "g = Softplus(X w_s) > 0 lets the model dampen (g < 1) or amplify (g > 1) the "
                   "positional biases.",
      .implicit = {needed(
          "Pre-activations take every real value; the boxes cover [-30, 30].",
          "Where they stay negative, the weight cannot amplify.",
          check("g(z) - 1 > 0 for z in [-30, -1]", weight(-1, 1), {{within("z", -30, -1)}}))},
      .proof = holds_under_condition(
          "ln(1 + e^z) > 0 increases from 0 to infinity and passes 1 at z = ln(e - 1) = "
          "0.541: every positive weight is reached and no other. So the weight cannot "
          "switch a bias off or turn its sign, and at X = 0 it is ln 2 = 0.693, not 1."),
      .theorem = "cable.softplus_modulates",
      .checks = {check("g(z) > 0 for z in [-30, 30]", weight(0, 1),
                       {{within("z", -30, -1)}, {within("z", -1, 1)}, {within("z", 1, 30)}}),
                 check("1 - g(z) > 0 for z in [-30, 0.5]", weight(1, -1),
                       {{within("z", -30, 0)}, {within("z", 0, 0.5)}}),
                 check("g(z) - 1 > 0 for z in [0.625, 30]", weight(-1, 1),
                       {{within("z", 0.625, 1)}, {within("z", 1, 30)}})},
      .mutant = {"At X = 0 the weight is 1 or more.",
                 check("g(0) - 1 > 0", weight(-1, 1), {{{"z", 0}}})},
  });

  // Tokens x_k of width 1 and one weight w_c: B_ij of CABLE minus that of CABLE_NW.
  const auto without_weights =
      equals_zero<"w_c", "x">([]<class R>(R w, const Vector<R>& x, bool mutant) {
        const R weight = softplus(R(0.0));
        Vector<R> plain(x.size()), scaled(x.size());
        for (int k = 0; k < x.size(); ++k) {
          plain[k] = relu(x[k] * w);
          scaled[k] = relu(mutant ? x[k] * w : x[k] * (w / weight));
        }
        const auto bias = published_bias<R>(scaled, weight);
        const reference::CableNw<R> bias_nw{reference::prefix_sum(plain)};
        return every_pair(static_cast<int>(x.size()),
                          [&](int i, int j) { return bias(i, j) - bias_nw(i, j); });
      });
  const auto tokens = with({{{"x", {1, 2}}}, {{"x", {0.5, -1, 2, 0, -3, 0.25}}}},
                           grid({{"w_c", {1, -0.75, 3, 0}}}));
  claims["cable/flexibility"] = Claim({
      .title = "Adding the weights only adds flexibility",
      .source = source("Section 3, before eq. 6"),
      .statement = "To further enhance flexibility, a linear layer learns a weight vector g: every "
                   "bias of CABLE_NW is a bias of CABLE for some parameters of eqs 2 and 6.",
      .hypotheses = {needed("f is a ReLU (eq. 2).",
                            "A softplus is not homogeneous: scaling w_c does not scale it.",
                            check("ln 2 Softplus(x w_c/ln 2) - Softplus(x w_c) = 0",
                                  equals_zero<"x w_c">([]<class R>(R z) {
                                    const R ln_2 = log(R(2.0));
                                    return ln_2 * softplus(R(z / ln_2)) - softplus(z);
                                  }),
                                  {{{"x w_c", 1}}}))},
      .implicit = {definition("The same parameters serve every input X.",
                              "It is the order of \"some parameters\" and \"every input\".")},
      .proof =
          holds("w_s = 0 gives every token the weight Softplus(0) = ln 2, for every input, and "
                "ReLU(X w_c / ln 2) = ReLU(X w_c) / ln 2: the factors cancel. No bias terms are "
                "needed (for the reduction to ALiBi they are: cable/alibi_reduction_code_sign)."),
      .theorem = "cable.flexibility",
      .checks = check("B(w_c / ln 2, w_s = 0) - B_NW(w_c) = 0 for every pair of tokens",
                      without_weights(false), tokens),
      .mutant = {"w_s = 0 with w_c unchanged gives CABLE_NW.",
                 check("B(w_c, w_s = 0) - B_NW(w_c) = 0", without_weights(true), tokens)},
  });

  const auto cached_row = equals_zero<"f", "g">([]<class R>(const Vector<R>& f, R g, bool mutant) {
    const int n = last_of(f);
    const Vector<R> old_tokens = f.head(n);
    const auto cache = reference::prefix_sum(old_tokens);
    const R sum_n = mutant ? cache[n - 1] : cache[n - 1] + f[n];
    std::vector<R> residuals;
    R between(0.0);
    for (int j = n - 1; j >= 0; --j) {
      between += f[j + 1];
      residuals.push_back(g * between - g * (sum_n - cache[j]));
    }
    return residuals;
  });
  // Three tokens; when the last came, the second's increment was another.
  const auto stale_cache =
      equals_zero<"f", "f_1 before", "g">([]<class R>(const Vector<R>& f, R f_1_before, R g) {
        const R cached_sum = f[0] + f_1_before;
        return g * (f[1] + f[2]) - g * (cached_sum + f[2] - f[0]);
      });
  claims["cable/prefix_sum_cache"] = Claim({
      .title = "Cached cumulative sums serve inference",
      .source = source("Section 5.2"),
      .statement = "For inference the cumulative sums are cached, so there is no need to "
                   "re-calculate them for all tokens each time: with S_0..S_{n-1} kept, the row of "
                   "the new token n is B_nj = -g_n (S_{n-1} + f_n - S_j).",
      .implicit =
          {needed("The f of earlier tokens do not change when a token is appended: attention is "
                  "causal in all layers below.",
                  "A cache of sums of other increments gives another row.",
                  check("-g (S'_1 + f_2 - S_0) + g (f_1 + f_2) = 0, S'_1 = f_0 + f_1 before",
                        stale_cache, {{{"f", {1, 2, 1}}, {"f_1 before", 3}, {"g", 1}}})),
           not_needed(
               "Increments are negated, as in the published code (cable/penalises_distance).",
               "The identity is one of sums and holds for either sign.",
               check("g (S_{n-1} + f_n - S_j) - g (f_{j+1} + ... + f_n) = 0", cached_row(false),
                     increments_and_gains(false, 10)))},
      .proof = holds_under_condition(
          "S_j for j < n is a sum of f_0..f_j and does not change when a token is "
          "appended; S_n = S_{n-1} + f_n. So S_n - S_j = f_{j+1} + ... + f_n, one "
          "addition for the new token and one subtraction for each key."),
      .theorem = "cable.prefix_sum_cache",
      .checks = check("cached row + g (f_{j+1} + ... + f_n) = 0", cached_row(false), increments),
      .mutant = {"The same without the own increment of the new token.",
                 check("-g (S_{n-1} - S_j) + g (f_{j+1} + ... + f_n) = 0", cached_row(true),
                       increments)},
  });
}

}  // namespace plumbline::proofs_checks::cable
