// SPDX-License-Identifier: Apache-2.0
#include "proofs_checks/cable/biases.hpp"
#include "reference/bias/alibi.hpp"
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

  // The bias of equation 7 against what two further coordinates of query and key give: (g S_i, -g)
  // and (1, S_j); with `first` 0, the second coordinate alone.
  const auto coordinates =
      equals_zero<"f", "g">([]<class R>(const Vector<R>& f, const R& g, double first) {
        std::vector<Placed<R>> residuals;
        Vector<R> S = f;
        for (int k = 1; k < S.size(); ++k) S[k] = S[k - 1] + f[k];
        for (int i = 0; i < S.size(); ++i) {
          for (int j = 0; j <= i; ++j) {
            const R product = R(first) * (g * S[i]) * R(1.0) + (-g) * S[j];
            residuals.push_back({g * (S[i] - S[j]) - product,
                                 "i = " + std::to_string(i) + ", j = " + std::to_string(j)});
          }
        }
        return residuals;
      });
  claims["cable/queries_and_keys"] = Claim({
      .title = "CABLE adds positional information only to queries and keys",
      .source = source("Section 3, after equation 7"),
      .statement =
          "\"CABLE adds positional information only to the queries and keys (not the "
          "values)\": the scores with the bias of equation 7 are those of queries and keys "
          "with further coordinates, q . k + g_i (S_i - S_j) = (q, g_i S_i, -g_i) . (k, 1, "
          "S_j).",
      .hypotheses = {definition("B_ij = g_i (S_i - S_j), equation 7.", "It is the bias.")},
      .implicit = {definition("What is added to queries and keys may be further coordinates; the "
                              "paper adds B to the logits.",
                              "A query and a key have no other way to hold a bias.")},
      .proof =
          holds("g_i S_i 1 + (-g_i) S_j = g_i (S_i - S_j). For each head B has rank at most 2. "
                "After the softmax the first of the two coordinates makes no difference, as "
                "g_i S_i is the same for all keys of a query. (With the published code's "
                "absolute value, which BERT needs, it is no such product.)"),
      .checks = check("g (S_i - S_j) - (g S_i, -g) . (1, S_j) = 0, j <= i", coordinates(1),
                      increments_and_gains(false)),
      .mutant = {"The coordinates -g_i and S_j alone give these scores.",
                 check("g (S_i - S_j) - (-g) S_j = 0, j <= i", coordinates(0),
                       increments_and_gains(false))},
  });

  // The attention of the last query to equal contents, with the weight added to the bias.
  const auto added_weight =
      equals_zero<"f", "g">([]<class R>(const Vector<R>& f, R g, bool of_equation_7) {
        const int last = last_of(f);
        const Vector<R> plain = row_of(published_bias<R>(f, R(1.0)), last);
        const Vector<R> weighted = row_of(published_bias<R>(f, g), last);
        const Vector<R> with_weight = plain + same_gain<R>(g, plain.size());
        const auto p = softmax(with_weight).probability;
        const auto q = softmax(of_equation_7 ? weighted : plain).probability;
        return at_each("j", 0, last + 1, [&](int j) { return R(p[j] - q[j]); });
      });
  const auto added_weight_of_the_key = equals_zero<"f", "g">([]<class R>(const Vector<R>& f, R g) {
    const int last = last_of(f);
    const Vector<R> plain = row_of(published_bias<R>(f, R(1.0)), last);
    Vector<R> with_weight = plain;
    with_weight[0] += g;
    return softmax(with_weight).probability[0] - softmax(plain).probability[0];
  });
  claims["cable/weight_is_added"] = Claim({
      .title = "CABLE adds its weights to the scores",
      .source = source("Caption of Figure 2, against equation 7"),
      .statement = "\"CABLE adds learned, token-specific context-aware biases and weights to the "
                   "scores\": adding the weight g_i to the scores q . k + (S_i - S_j) gives the "
                   "attention of equation 7, with B_ij = g_i (S_i - S_j).",
      .implicit = {"Increments are negated, as in the published code (cable/penalises_distance); "
                   "the printed sign makes no difference here.",
                   "The contents are equal."},
      .correction = "The weight multiplies the bias. Added to the scores of query i, g_i makes no "
                    "difference to its attention.",
      .proof = refuted(
          "g_i is the same for all keys of query i, so that e^(g_i) is a factor of all terms of "
          "the softmax and cancels: what is left is CABLE_NW. With f = (1, 1) and g = 2 equation 7 "
          "gives the first key e^(-2)/(1 + e^(-2)) = 0.12 of the attention, an added weight "
          "e^(-1)/(1 + e^(-1)) = 0.27."),
      .checks = {check("p_j with g_i added - p_j of equation 7 = 0", added_weight(true),
                       {{{"f", {1, 1}}, {"g", 2}}, {{"f", {0.5, 2, 0.25}}, {"g", 3}}}),
                 correction("p_j with g_i added - p_j of CABLE_NW = 0", added_weight(false),
                            increments_and_gains(false))},
      .mutant = {"A weight of the key, added, makes no difference either.",
                 check("p_0 with g_0 added for key 0 - p_0 of CABLE_NW = 0",
                       added_weight_of_the_key, {{{"f", {1, 1}}, {"g", 2}}})},
  });

  // ReLU(a x + b y + c) at four points, by u = a + c and v = b + c, less what is asked for there.
  const auto takes_values = equals_zero<"u", "v", "c">([]<class R>(R u, R v, R c, double both) {
    return std::vector<Placed<R>>{{relu(c), "(0, 0)"},
                                  {relu(u) - R(1.0), "(1, 0)"},
                                  {relu(v) - R(1.0), "(0, 1)"},
                                  {relu(R(u + v - c)) - R(both), "(1, 1)"}};
  });
  const auto convex = at_least_zero<"w", "c", "x", "y">([]<class R>(const Vector<R>& w, R c,
                                                                    const Vector<R>& x,
                                                                    const Vector<R>& y) {
    const Vector<R> middle = R(0.5) * Vector<R>(x + y);
    const auto ends = [&](const auto& of) {
      return R(R(0.5) * (of(R(dot(w, x) + c)) + of(R(dot(w, y) + c))) - of(R(dot(w, middle) + c)));
    };
    return std::vector<Placed<R>>{{ends([](const R& z) { return R(relu(z)); }), "increment"},
                                  {ends([](const R& z) { return R(softplus(z)); }), "weight"}};
  });
  const double far = 0x1p20;
  const Samples all_maps = {
      {within("c", 0.25, far), within("u", -far, far), within("v", -far, far)},
      {within("c", -far, 0.25), within("u", -far, 0.75), within("v", -far, far)},
      {within("c", -far, 0.25), within("u", 0.75, far), within("v", -far, 0.75)},
      {within("c", -far, 0.25), within("u", 0.75, far), within("v", 0.75, far)}};
  claims["cable/lightweight_mlp"] = Claim({
      .title = "CABLE applies an MLP over the input",
      .source = source("Section 2, last paragraph, and section 5.3, against section 3 (\"two "
                       "separate linear layers\"), equation 2 and equation 6"),
      .statement =
          "CABLE \"applies a lightweight MLP over the input representations\": what a token "
          "gets from equation 2 can be any function that an MLP has. Examined at one: 0 "
          "at (0, 0), 1 at (1, 0) and (0, 1), 0 at (1, 1).",
      .implicit =
          {"An MLP has a hidden layer. With two hidden units it has this function, ReLU(x + "
           "y) - 2 ReLU(x + y - 1).",
           "The linear layer has a bias term, as in the published code; with |a + c|, "
           "|b + c|, |c| up to 2^20 (the derivation needs no bound)."},
      .correction = "It applies two linear layers beside each other, each with one activation and "
                    "none hidden, as section 3 says: both are convex in the token's vector.",
      .proof = refuted(
          "ReLU(c) = 0 means c <= 0; then a + c = 1 and b + c = 1 make a + b + c = 2 - c >= 2, not "
          "0. So a hidden layer is what equation 2 lacks, and equation 6 lacks it too. The cost "
          "that section 5.3 compares is that of the linear maps (cable/dape_cost)."),
      .checks = {exists("some a, b, c: ReLU(a x + b y + c) = 0, 1, 1, 0 at (0, 0), (1, 0), (0, 1), "
                        "(1, 1)",
                        takes_values(0), all_maps),
                 correction("(F(x) + F(y))/2 - F((x + y)/2) >= 0 for F = ReLU(w . x + c) and "
                            "softplus(w . x + c)",
                            convex,
                            {{{"w", {1, 1}}, {"c", -1}, {"x", {1, 0}}, {"y", {0, 2}}},
                             {{"w", {2, -1}}, {"c", 0.5}, {"x", {-1, 3}}, {"y", {2, 0.25}}},
                             {{"w", {0.5, 4}}, {"c", 0}, {"x", {0, -1}}, {"y", {1, 1}}}})},
      .mutant = {"It can be 0, 1, 1 and 1 at these points.",
                 exists("some a, b, c: ReLU(a x + b y + c) = 0, 1, 1, 1", takes_values(1),
                        all_maps)},
  });

  const auto alibi_of_two_heads =
      equals_zero<"m of one head", "m of the other">([]<class R>(R m, R other) {
        return at_each("distance", {1, 5}, [&](int d) {
          return R(reference::Alibi<R>{m}(9, 9 - d) - reference::Alibi<R>{other}(9, 9 - d));
        });
      });
  const auto alibi_of_two_texts =
      equals_zero<"m", "f", "h">([]<class R>(R m, const Vector<R>& f, const Vector<R>& h) {
        const int last = last_of(f);
        const reference::Alibi<R> bias{m};
        return at_each("j", 0, last, [&](int j) { return R(bias(last, j) - bias(last_of(h), j)); });
      });
  const auto cable_of_two_texts =
      equals_zero<"m", "f", "h">([]<class R>(R m, const Vector<R>& f, const Vector<R>& h) {
        const int last = last_of(f);
        return at_each("j", 0, last, [&](int j) {
          return R(published_bias<R>(f, m)(last, j) - published_bias<R>(h, m)(last, j));
        });
      });
  const Samples two_texts = {{{"m", 0.5}, {"f", {1, 1}}, {"h", {1, 2}}},
                             {{"m", 0x1p-8}, {"f", {0, 1, 0.5}}, {"h", {2, 0.25, 3}}}};
  claims["cable/unlike_alibi"] = Claim({
      .title = "Unlike ALiBi's, CABLE's biases depend on head and context",
      .source = source("Section 5.4, third sentence, against the caption of Figure 2"),
      .statement = "\"Unlike ALiBi, which applies a fixed bias uniformly across all layers and "
                   "tokens, CABLE biases are both head- and context-dependent\": ALiBi's depend on "
                   "neither, b(i, j) is the same in two heads and in two texts.",
      .implicit = {definition("ALiBi's slopes of eight heads, 1/2 to 1/256.",
                              "It says which heads are compared.")},
      .condition = "It is the context in which the two differ, not the head.",
      .proof = holds_under_condition(
          "ALiBi has \"head-specific slopes\" (caption of Figure 2): at distance 1 the first of "
          "eight heads has -1/2, the second -1/4. It is uniform across layers and tokens, as the "
          "sentence says. Of its bias nothing is in the tokens; CABLE's f is made of them."),
      .checks = {check("-m d + m' d = 0 for two heads of ALiBi", alibi_of_two_heads,
                       {{{"m of one head", 0.5}, {"m of the other", 0.25}}}),
                 condition("ALiBi's b(i, j) in one text - b(i, j) in another = 0",
                           alibi_of_two_texts, two_texts)},
      .mutant = {"CABLE's is the same in two texts.",
                 check("CABLE's B_ij in one text - B_ij in another = 0", cable_of_two_texts,
                       two_texts)},
  });
}

}  // namespace plumbline::proofs_checks::cable
