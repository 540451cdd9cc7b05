// SPDX-License-Identifier: Apache-2.0
// The code example, statement by statement, and what it costs.
#include <fmt/format.h>

#include <algorithm>

#include "proofs_checks/alibi/source.hpp"
#include "reference/bias/alibi.hpp"

namespace plumbline::proofs_checks::alibi {
namespace {

using Shape = std::vector<int>;

/// The shape of the sum or product of two tensors, which are aligned at their last dimensions;
/// empty if they do not fit.
Shape broadcast(Shape a, Shape b) {
  while (a.size() < b.size()) a.insert(a.begin(), 1);
  while (b.size() < a.size()) b.insert(b.begin(), 1);
  for (std::size_t k = 0; k < a.size(); ++k) {
    if (a[k] != b[k] && a[k] != 1 && b[k] != 1) return {};
    a[k] = std::max(a[k], b[k]);
  }
  return a;
}

/// The dimensions of a tensor less those that the comment beside it has.
template <class R>
void compare_shapes(std::vector<Placed<R>>& residuals, const std::string& tensor,
                    const Shape& computed, const Shape& commented) {
  const int more = static_cast<int>(computed.size()) - static_cast<int>(commented.size());
  residuals.push_back({R(more), "the number of dimensions of " + tensor});
  for (std::size_t k = 0; k < std::min(computed.size(), commented.size()); ++k) {
    residuals.push_back(
        {R(computed[k] - commented[k]), "dimension " + std::to_string(k + 1) + " of " + tensor});
  }
}

}  // namespace

void claims_of_listing(Claims& claims) {
  const auto shapes = equals_zero<"H", "L">([]<class R>(int H, int L, bool unsqueezed_once) {
    const Shape slopes = unsqueezed_once ? Shape{H, 1} : Shape{H, 1, 1};
    const Shape relative = broadcast({1, L}, {L, 1});
    Shape relative_of_a_head = relative;
    relative_of_a_head.insert(relative_of_a_head.begin(), 1);
    const Shape bias = broadcast(slopes, relative_of_a_head);
    const Shape mask = broadcast(bias, {1, L, L});
    std::vector<Placed<R>> residuals;
    compare_shapes(residuals, "relative_positions", relative, {L, L});
    compare_shapes(residuals, "alibi_bias", bias, {H, L, L});
    compare_shapes(residuals, "final_mask", mask, {H, L, L});
    compare_shapes(residuals, "biased_scores", broadcast({1, H, L, L}, mask), {1, H, L, L});
    return residuals;
  });
  claims["alibi/listing_shapes"] = Claim({
      .title = "The tensors of the code have the shapes of its comments",
      .source = source("Code example, comments on shapes and first printed line"),
      .statement =
          "slopes (num_heads, 1, 1); \"(1, L) - (L, 1) -> (L, L)\"; alibi_bias and the returned "
          "tensor (num_heads, seq_len, seq_len), which the last lines add to scores (1, num_heads, "
          "seq_len, seq_len) and print: with 8 heads and 10 positions (8, 10, 10).",
      .hypotheses = {needed_as_the_mutant_shows(
          "The slopes are unsqueezed twice.",
          "Of shape (H, 1) they would be multiplied along the queries.")},
      .implicit = {definition("PyTorch's rule: shapes are aligned at the last dimension, and a "
                              "dimension of 1 is repeated.",
                              "It says what a sum of two tensors is.")},
      .proof = holds("(1, L) - (L, 1) is (L, L). (H, 1, 1) * (1, L, L) is (H, L, L), with the mask "
                     "(1, L, L) as well, and with scores (1, H, L, L) it is (1, H, L, L). It "
                     "prints torch.Size([8, 10, 10])."),
      .checks = check("computed dimension - commented dimension = 0", shapes(false),
                      grid({{"H", {1, 8, 12}}, {"L", {1, 8, 10, 1024}}})),
      .mutant = {"One unsqueeze would do.",
                 check("computed dimension - commented dimension = 0, slopes (H, 1)", shapes(true),
                       grid({{"H", {8}}, {"L", {8, 10}}}))},
  });

  const auto distances = equals_zero<"L">([]<class R>(double L, bool swapped) {
    const auto position = [](double k) { return static_cast<float>(k); };  // dtype=torch.float32
    std::vector<Placed<R>> residuals;
    for (double i : {0.0, 1.0, L - 2, L - 1}) {
      for (double j : {0.0, 1.0, L - 2, L - 1}) {
        const float difference = swapped ? position(i) - position(j) : position(j) - position(i);
        residuals.push_back(
            {R(double{difference}) - R(j - i), fmt::format("i = {}, j = {}", i, j)});
      }
    }
    return residuals;
  });
  const auto of_lengths = [](const std::vector<double>& lengths) { return grid({{"L", lengths}}); };
  claims["alibi/listing_positions"] = Claim({
      .title = "The code's relative positions are j - i",
      .source = source("Code example, step 2 and its comments"),
      .statement = "positions is [0, 1, 2, ..., seq_len-1], of dtype float32, and \"relative_"
                   "positions[i, j] = j - i\" is positions[j] - positions[i].",
      .implicit = {definition("float32 has 24 binary digits and rounds to nearest, to even if two "
                              "are equally near.",
                              "It says what the tensor can hold.")},
      .condition = "seq_len <= 2^24 + 1 = 16,777,217.",
      .proof = holds_under_condition(
          "unsqueeze(0) has position j in column j, unsqueeze(1) position i in row i, so the "
          "difference is j - i, which is negative or zero for j <= i as the comment has it. All "
          "whole numbers up to 2^24 are float32 numbers, so positions and differences are exact "
          "for 10 and for 10,000 words. 2^24 + 1 is none: positions 2^24 and 2^24 + 1 become one "
          "number, and their distance 0."),
      .checks = {check("float32(j) - float32(i) - (j - i) = 0", distances(false),
                       of_lengths({10, 1024, 10000, 0x1p24 + 2})),
                 condition("the same for L <= 2^24 + 1", distances(false),
                           of_lengths({4, 10, 1024, 10000, 0x1p24 + 1}))},
      .mutant = {"The two unsqueezes may be exchanged.",
                 check("float32(i) - float32(j) - (j - i) = 0", distances(true), of_lengths({10}))},
  });

  const auto penalty = above_zero<"m", "d">(
      []<class R>(R m, int d) { return R(-reference::AlibiSigned<R>{m}(9, 9 - d)); });
  const auto past = [](const std::vector<double>& ds) {
    return grid({{"m", {0.5, 0x1p-8}}, {"d", ds}});
  };
  claims["alibi/listing_sign"] = Claim({
      .title = "The code's bias is negative for the past",
      .source = source("Code example, step 3 and its comments"),
      .statement =
          "\"The bias should be negative. Since relative_positions (j - i) is already "
          "negative for the past, we just multiply by the positive slopes\": m (j - i) < 0 "
          "for the past, which step 4 calls j <= i.",
      .hypotheses = {needed(
          {"The slopes are positive.", "m", above(0)},
          "A slope of 0 is no penalty, a negative one a reward.",
          check("-m (j - i) > 0 for m = 0", penalty, grid({{"m", 0.0}, {"d", {1, 5}}})))},
      .implicit = {definition("Query 9 of the ten in the example.", "It says which row is read.")},
      .condition = "j < i: the own key is not meant.",
      .proof = holds_under_condition(
          "m (j - i) < 0 for j < i. At j = i it is 0: the own key has no penalty, as in the "
          "formula. The second comment, \"negative or zero\" for j <= i, has it right."),
      .checks = {check("-m (j - i) > 0 at distances 0, 1, 5, 9", penalty, past({0, 1, 5, 9})),
                 condition("the same for j < i", penalty, past({1, 5, 9}))},
      .mutant = {"For the key after the query as well.",
                 check("-m (j - i) > 0 at j = i + 1", penalty, past({-1}))},
  });

  // e^(score) with the mask's minus infinity, whose exponential is 0, from diagonal `first` on.
  const auto unnormalised = []<class R>(const R& score, int i, int j, int first) {
    return j - i >= first ? R(0.0) : R(exp(score));
  };
  const auto future_is_masked = equals_zero<"s", "m">([=]<class R>(const Vector<R>& s, R m) {
    const reference::AlibiSigned<R> bias{m};
    const int keys = static_cast<int>(s.size());
    std::vector<Placed<R>> residuals;
    for (int i = 0; i < keys; ++i) {
      const auto visible = softmax_of<R>(i + 1, [&](int j) { return R(s[j] + bias(i, j)); });
      R total(0.0);
      for (int j = 0; j < keys; ++j) total += unnormalised(R(s[j] + bias(i, j)), i, j, 1);
      for (int j = 0; j < keys; ++j) {
        const R weight = unnormalised(R(s[j] + bias(i, j)), i, j, 1) / total;
        residuals.push_back(
            {j <= i ? R(weight - visible[j]) : weight, fmt::format("i = {}, j = {}", i, j)});
      }
    }
    return residuals;
  });
  const auto row_has_a_key = above_zero<"s", "m">([=]<class R>(const Vector<R>& s, R m, int first) {
    const reference::AlibiSigned<R> bias{m};
    const int keys = static_cast<int>(s.size());
    return at_each("i", 0, keys, [&](int i) {
      R total(0.0);
      for (int j = 0; j < keys; ++j) total += unnormalised(R(s[j] + bias(i, j)), i, j, first);
      return total;
    });
  });
  const auto scores_and_slopes =
      grid({vectors("s", {{0, 0, 0}, {1, -2, 3, 0.5}}), {"m", {0.5, 0x1p-8}}});
  claims["alibi/listing_mask"] = Claim({
      .title = "The code's mask hides the future and nothing else",
      .source = source("Code example, step 4, usage and softmax"),
      .statement = "\"We strictly mask out the future (where j > i)\": triu(ones * -inf, "
                   "diagonal=1) is added to the bias; after the softmax the keys j > i have the "
                   "weight 0, and the others are as if these were not there.",
      .hypotheses = {needed_as_the_mutant_shows(
          "diagonal=1.", "From the diagonal on, the first query has no key and its row is 0/0.")},
      .implicit = {definition("Minus infinity plus a number is minus infinity, and its exponential "
                              "0, as in IEEE arithmetic.",
                              "It says what the mask does in a softmax.")},
      .proof = holds("triu keeps minus infinity where j - i >= 1 and puts zeros elsewhere, by "
                     "choosing and not by multiplying, which would give NaN. The bias m (j - i) is "
                     "finite, so the sum is minus infinity for j > i, whatever its sign, and "
                     "-m (i - j) otherwise. The own key is always there, so no row is 0/0."),
      .checks = {check("p_ij - softmax over j <= i = 0, and p_ij = 0 for j > i", future_is_masked,
                       scores_and_slopes),
                 check("sum of e^(score + mask) > 0 for every query", row_has_a_key(1),
                       scores_and_slopes)},
      .mutant = {"diagonal=0 would do.",
                 check("sum of e^(score + mask) > 0 for every query, diagonal=0", row_has_a_key(0),
                       scores_and_slopes)},
  });

  const auto returned = equals_zero<"m">([=]<class R>(R m, bool causal) {
    const reference::AlibiSigned<R> code{m};
    const reference::Alibi<R> formula{m};
    std::vector<Placed<R>> residuals;
    for (int i = 0; i < 5; ++i) {
      for (int j = 0; j < (causal ? i + 1 : 5); ++j) {
        residuals.push_back({unnormalised(code(i, j), i, j, 1) - exp(formula(i, j)),
                             fmt::format("i = {}, j = {}", i, j)});
      }
    }
    return residuals;
  });
  const auto two_slopes = grid({{"m", {0.5, 0x1p-8}}});
  const auto entries = equals_zero<"heads", "L", "hidden">(
      []<class R>(R heads, R L, R hidden) { return heads * L * (L - R(1.0)) / R(2.0) - hidden; });
  claims["alibi/listing_returns"] = Claim({
      .title = "build_alibi_bias returns the bias",
      .source = source("Code example, docstring of build_alibi_bias"),
      .statement = "\"Build the ALiBi bias tensor of shape (num_heads, seq_len, seq_len)\": its "
                   "entries are bias_ij = -m |i - j| of the formula. Examined as e^bias, which is "
                   "0 at minus infinity.",
      .implicit = {definition("The tensor that is returned, final_mask.",
                              "alibi_bias of step 3 is another (alibi/code_bias).")},
      .condition = "j <= i, for queries that see the past.",
      .proof = holds_under_condition(
          "What is returned is the bias with the causal mask: minus infinity for j > i, in L (L - "
          "1)/2 entries of each head, 360 of the example's 800. The name biased_scores = scores + "
          "alibi shows that this is meant; a model that has its own mask, or an encoder, cannot "
          "use the function."),
      .checks = {check("e^(entry) - e^(-m |i - j|) = 0 for all i, j < 5", returned(false),
                       two_slopes),
                 condition("the same for j <= i", returned(true), two_slopes),
                 correction("8 heads of 10 positions: H L (L - 1)/2 - 360 = 0", entries,
                            {{{"heads", 8}, {"L", 10}, {"hidden", 360}}})},
      .mutant = {"A tenth of the example's entries is minus infinity.",
                 check("H L (L - 1)/2 - 80 = 0", entries,
                       {{{"heads", 8}, {"L", 10}, {"hidden", 80}}})},
  });

  const auto printed_bias = equals_zero<"H", "L">([]<class R>(int H, int L) {
    const std::vector<R> slopes = reference::alibi_slopes_geometric<R>(H);
    return reference::AlibiSigned<R>{slopes[0]}(L - 1, L - 2) + R(0.5);
  });
  claims["alibi/listing_prints"] = Claim({
      .title = "The code prints a bias of -0.5 for head 0, one step back",
      .source = source("Code example, last line"),
      .statement = "\"Bias for Head 0 at last position (looking back 1 step)\", alibi[0, -1, -2] "
                   "with four digits, is -m_1 = -1/2: -0.5000.",
      .hypotheses = {needed_as_the_mutant_shows({"num_heads = 8.", "H", exactly(8)},
                                                "The first slope is 2^(-8/H)."),
                     not_needed({"seq_len = 10.", "L", exactly(10)},
                                "Every query but the first has a key one step back.",
                                check("alibi[0, L-1, L-2] + 1/2 = 0 for other lengths",
                                      printed_bias, grid({{"H", 8}, {"L", {2, 11, 1024}}})))},
      .implicit = {definition("Index -1 is the last query, -2 the last key but one.",
                              "It says which entry is read.")},
      .proof =
          holds("i = 9, j = 8: (1/2) (8 - 9) = -1/2, and the mask is 0 there. x = 256^(1/8) is "
                "2 in floating point as well, so the eight slopes, which the docstring calls "
                "approximate, are exact."),
      .checks = check("alibi[0, L-1, L-2] + 1/2 = 0", printed_bias, grid({{"H", 8}, {"L", 10}})),
      .mutant = {"With 4 heads it is -1/2 as well.",
                 check("alibi[0, L-1, L-2] + 1/2 = 0 for 4 heads", printed_bias,
                       grid({{"H", 4}, {"L", 10}}))},
  });

  const auto variance = equals_zero<"d", "variance">([]<class R>(R d, R v, bool scaled) {
    return d * v * v / (scaled ? d : R(1.0)) - R(1.0);  // of a sum of d products
  });
  claims["alibi/listing_dummy_scores"] = Claim({
      .title = "Standard normal numbers represent the scaled scores",
      .source = source("Code example, usage: attention_scores"),
      .statement =
          "\"Attention scores (dummy data) representing QK^T / sqrt(d_k)\" are torch.randn, of "
          "mean 0 and variance 1: so are the scaled scores of random queries and keys.",
      .hypotheses = {needed_as_the_mutant_shows("They are divided by sqrt(d_k).",
                                                "The variance of the product itself is d_k.")},
      .implicit = {needed({"The components of queries and keys are independent, of mean 0 and "
                           "variance 1.",
                           "variance", exactly(1)},
                          "With a variance of 4 the scores have 16.",
                          check("variance of q . k/sqrt(d) - 1 = 0 for components of variance 4",
                                variance(true), grid({{"d", {64}}, {"variance", {4}}})))},
      .proof = holds_under_condition("q . k is a sum of d uncorrelated products of variance 1, "
                                     "so its variance is d, and that of q . k/sqrt(d) is 1."),
      .checks = check("variance of q . k/sqrt(d) - 1 = 0", variance(true),
                      grid({{"d", {8, 64, 128}}, {"variance", 1}})),
      .mutant = {"Without the scale.", check("variance of q . k - 1 = 0", variance(false),
                                             grid({{"d", {64}}, {"variance", 1}}))},
  });

  const auto code_is_formula = equals_zero<"m">([]<class R>(R m, bool causal) {
    const reference::Alibi<R> formula{m};
    std::vector<Placed<R>> residuals;
    for (int i = 0; i < 5; ++i) {
      for (int j = 0; j < (causal ? i + 1 : 5); ++j) {
        residuals.push_back({m * R(j - i) - formula(i, j),
                             "i = " + std::to_string(i) + ", j = " + std::to_string(j)});
      }
    }
    return residuals;
  });
  const auto dyadic_slopes = grid({{"m", {0.5, 0x1p-8}}});
  claims["alibi/code_bias"] = Claim({
      .title = "The code computes the bias of the formula",
      .source = source("Code example against the formula"),
      .statement = "build_alibi_bias computes bias_ij = -m |i - j|, as slopes * (j - i).",
      .implicit = {definition("The tensor alibi_bias of step 3, before the mask of step 4.",
                              "It is what the claim is about.")},
      .condition = "Attention is causal, j <= i.",
      .proof = holds_under_condition(
          "m (j - i) = -m |i - j| for j <= i. For j > i the product is +m |i - j|, a reward; the "
          "code then adds minus infinity there, so its result is right, while the product without "
          "the mask (an encoder) is not: i = 0, j = 1, m = 1/2 gives +1/2 in place of -1/2."),
      .theorem = "alibi.code_bias",
      .checks = {check("m (j - i) + m |i - j| = 0 for all i, j < 5", code_is_formula(false),
                       dyadic_slopes),
                 condition("the same for j <= i", code_is_formula(true), dyadic_slopes)},
      .mutant = {"m (i - j) would do as well for j <= i.",
                 check("m (i - j) + m |i - j| = 0 for j <= i", equals_zero<"m">([]<class R>(R m) {
                         const reference::Alibi<R> formula{m};
                         return m * R(1.0) - formula(1, 0);
                       }),
                       dyadic_slopes)},
  });

  // Additions for a sequence: the positions at the input (L D), and in each layer those to the
  // scores: of a mask to all L^2 of each head, or of the bias alone to the visible ones.
  const auto fewer_additions = at_least_zero<"L", "D", "heads", "layers">(
      []<class R>(R L, R D, R heads, R layers, bool mask_is_added) {
        const R scores = layers * heads * L * (mask_is_added ? L : (L + R(1.0)) / R(2.0));
        const R absolute_positions = L * D + (mask_is_added ? scores : R(0.0));
        return absolute_positions - scores;
      });
  const auto gpt2_small = [](const std::vector<double>& lengths) {
    return grid({{"L", lengths}, {"D", 768}, {"heads", 12}, {"layers", 12}});
  };
  claims["alibi/efficiency"] = Claim({
      .title = "ALiBi saves the additions of the positional embeddings",
      .source = source("Why does this work so well, 2; conclusion (\"improves model efficiency\")"),
      .statement =
          "ALiBi \"eliminates the computational overhead of adding these embeddings at the input "
          "layer\" and \"improves model efficiency\": it takes no more additions than adding a "
          "vector to each of the L embeddings of width D.",
      .implicit = {definition("The model is GPT-2 Small: D = 768, 12 heads, 12 layers.",
                              "The article names none."),
                   definition("Additions are counted; the bias is computed beforehand.",
                              "It says what the overhead is.")},
      .condition = "A mask is added to all scores anyway, and the bias is part of it, as in the "
                   "article's code.",
      .proof = holds_under_condition(
          "What vanishes is L D additions, once. What is added is a bias for each visible pair of "
          "each head in each layer, N H L (L + 1)/2: for GPT-2 Small and L = 1024 75,571,200 "
          "against 786,432. Only if a mask is added anyway do these cost nothing, and then the "
          "mask is stored for each head. Both are small beside the layers' 85 million "
          "multiplications for each token."),
      .checks = {check("L D - N H L (L + 1)/2 >= 0 for L = 10, 1024", fewer_additions(false),
                       gpt2_small({10, 1024})),
                 condition("(L D + N H L^2) - N H L^2 >= 0", fewer_additions(true),
                           gpt2_small({10, 1024, 8192}))},
      .mutant = {"With 32 tokens it saves additions without a mask, too.",
                 check("L D - N H L (L + 1)/2 >= 0 for L = 32", fewer_additions(false),
                       gpt2_small({32}))},
  });
}

}  // namespace plumbline::proofs_checks::alibi
