// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "proofs_checks/alibi/source.hpp"
#include "proofs_checks/pictures/pictures.hpp"
#include "reference/bias/alibi.hpp"

namespace plumbline::proofs_checks::alibi {

void claims_of_slopes(Claims& claims) {
  const auto article_slopes = equals_zero<"H">([]<class R>(int H) {
    const R x = power(R(256.0), R(1.0) / R(H));
    R to_the(1.0);
    return at_each("i", 0, H, [&](int i) {
      to_the = to_the * x;
      return R(1.0) / to_the - R(std::ldexp(1.0, -i - 1));
    });
  });
  claims["alibi/eight_slopes"] = Claim({
      .title = "Eight heads have the slopes 1/2, 1/4, ..., 1/256",
      .source = source("Technical details; get_alibi_slopes"),
      .statement = "For 8 heads the slopes are the geometric sequence 1/2^1, ..., 1/2^8, and "
                   "get_alibi_slopes, 1 / x^(i+1) with x = (2^8)^(1/8), returns them.",
      .hypotheses = {needed_as_the_mutant_shows({"The layer has 8 heads.", "H", exactly(8)},
                                                "The formula has other ratios for other numbers.")},
      .implicit = {definition(
          "Exact arithmetic.",
          "The statement is one about real numbers; the code rounds to float32.")},
      .proof = holds("x = 256^(1/8) = 2. The code says \"approximately\", for its float32."),
      .theorem = "alibi.eight_slopes",
      .checks = check("1 / x^(i+1) - 2^-(i+1) = 0, x = 256^(1/H), H = 8", article_slopes,
                      grid({{"H", {8}}})),
      .mutant = {"So it is for 16 heads.",
                 check("1 / x^(i+1) - 2^-(i+1) = 0, H = 16", article_slopes, grid({{"H", {16}}}))},
  });

  const auto official_slopes = equals_zero<"H">([]<class R>(int H) {
    const auto simple = reference::alibi_slopes_geometric<R>(H);
    const auto official = reference::alibi_slopes<R>(H);
    return at_each("k", 0, H, [&](int k) { return simple[k] - official[k]; });
  });
  claims["alibi/code_slopes_official"] = Claim({
      .title = "The code's slopes are those of the official implementation",
      .source = source("Code example, docstring of get_alibi_slopes"),
      .statement = "get_alibi_slopes is \"a simplified version of the logic used in the official "
                   "implementation\": m_k = 2^(-8 (k+1)/H), the official slopes.",
      .implicit = {definition(
          "The official implementation is get_slopes of ofirpress/attention_with_linear_biases.",
          "Without one there is nothing to agree with.")},
      .condition = "The number of heads is a power of two.",
      .proof = holds_under_condition(
          "The official implementation has a second rule: for p < H < 2p it takes the slopes of p "
          "heads and appends every second of those of 2p. H = 12: 2^-1 for the first head against "
          "2^(-2/3) from the article's formula. GPT-2 Small has 12 heads."),
      .theorem = "alibi.code_slopes_official",
      .checks = {check("2^(-8 (k+1)/H) - official = 0 for H = 8, 12", official_slopes,
                       grid({{"H", {8, 12}}})),
                 condition("the same for H = 1, 2, 4, ..., 64", official_slopes,
                           grid({{"H", {1, 2, 4, 8, 16, 32, 64}}}))},
      .mutant = {"They agree for 6 heads.", check("2^(-8 (k+1)/H) - official = 0 for H = 6",
                                                  official_slopes, grid({{"H", {6}}}))},
      .pictures = {pictures::slopes_of_12_heads},
  });

  const auto geometric = equals_zero<"H">([]<class R>(int H, bool official) {
    const auto m =
        official ? reference::alibi_slopes<R>(H) : reference::alibi_slopes_geometric<R>(H);
    std::vector<Placed<R>> residuals;
    for (std::size_t h = 1; h + 1 < m.size(); ++h) {
      residuals.push_back(
          {m[h - 1] * m[h + 1] - m[h] * m[h], "h = " + std::to_string(h + 1) + " of 1..H"});
    }
    return residuals;
  });
  claims["alibi/geometric_slopes"] = Claim({
      .title = "The slopes are geometric sequences",
      .source = source("Technical details"),
      .statement = "The slopes m_h are fixed geometric sequences: m_{h-1} m_{h+1} = m_h^2.",
      .implicit = {not_needed("The slopes are those of the official implementation.",
                              "The article's own formula is geometric for every number of heads.",
                              check("m_{h-1} m_{h+1} - m_h^2 = 0, m_h = 2^(-8 h/H)",
                                    geometric(false), grid({{"H", {4, 6, 8, 12}}})))},
      .condition = "The number of heads is a power of two.",
      .proof = holds_under_condition(
          "For H = 2^a all ratios are 2^(-8/H). For H = 12 the official slopes are 2^-1..2^-8 "
          "followed by 2^-0.5, 2^-1.5, 2^-2.5, 2^-3.5: at the seam 2^-7 2^-0.5 is not 2^-16, and "
          "no order of them is geometric, as the exponents 0.5, 1, 1.5, ..., 4, 5, ..., 8 are not "
          "evenly spaced. The article's own code is geometric for every H "
          "(alibi/code_slopes_official)."),
      .theorem = "alibi.geometric_slopes",
      .checks = {check("m_{h-1} m_{h+1} - m_h^2 = 0, official, H = 8, 12", geometric(true),
                       grid({{"H", {8, 12}}})),
                 condition("the same for H = 4, 8, 16, 32", geometric(true),
                           grid({{"H", {4, 8, 16, 32}}}))},
      .mutant = {"So it is for 3 heads.", check("m_{h-1} m_{h+1} - m_h^2 = 0, official, H = 3",
                                                geometric(true), grid({{"H", {3}}}))},
      .pictures = {pictures::slopes_of_12_heads},
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

  const auto scaled_before =
      equals_zero<"q . k", "b", "d_k">([]<class R>(R product, R b, R d_k, bool mutant) {
        const R root = sqrt(d_k);
        return (mutant ? product + b : (product + b) / root) - (product / root + b);
      });
  const auto products = [](double width) {
    return Samples{{{"q . k", 16}, {"b", -0.5}, {"d_k", width}},
                   {{"q . k", -3}, {"b", -8}, {"d_k", width}}};
  };
  claims["alibi/bias_place"] = Claim({
      .title = "The bias is added directly to the product of query and key",
      .source = source("Technical details, sentence before the formula, against the formula"),
      .statement = "\"Adding a static, non-learned bias matrix directly to the QK^T term before "
                   "the softmax\" is the formula softmax(QK^T/sqrt(d_k) + bias): (q . k + "
                   "b)/sqrt(d_k) = q . k/sqrt(d_k) + b.",
      .implicit = {definition(
          "The scores are scaled by 1/sqrt(d_k), as in the article's first formula.",
          "Without a scale there are no two places.")},
      .condition = "The \"QK^T term\" is the scaled one, or d_k = 1.",
      .proof = holds_under_condition(
          "The two differ by b (1/sqrt(d_k) - 1). With d_k = 64 the bias would be an eighth of "
          "what the formula has, and slopes of 1/2 to 1/256 would be 1/16 to 1/2048. The article's "
          "code adds it after scaling."),
      .theorem = "alibi.bias_place",
      .checks = {check("(q . k + b)/sqrt(d_k) - (q . k/sqrt(d_k) + b) = 0", scaled_before(false),
                       products(64)),
                 condition("the same for d_k = 1", scaled_before(false), products(1))},
      .mutant = {"Nothing needs to be scaled at all: q . k + b.",
                 check("q . k + b - (q . k/sqrt(d_k) + b) = 0", scaled_before(true), products(4))},
  });
}

}  // namespace plumbline::proofs_checks::alibi
