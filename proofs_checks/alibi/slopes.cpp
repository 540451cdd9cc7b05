// SPDX-License-Identifier: Apache-2.0
// The slopes of the heads.
#include <fmt/format.h>

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

  const auto falling = above_zero<"H">([]<class R>(int H, bool official) {
    const auto m =
        official ? reference::alibi_slopes<R>(H) : reference::alibi_slopes_geometric<R>(H);
    return at_each("h", 0, H - 1, [&](int h) { return m[h] - m[h + 1]; });
  });
  const auto all_differ = above_zero<"H">([]<class R>(int H) {
    const auto m = reference::alibi_slopes<R>(H);
    std::vector<Placed<R>> residuals;
    for (int a = 0; a < H; ++a) {
      for (int b = 0; b < a; ++b) {
        residuals.push_back(
            {absolute(R(m[a] - m[b])), fmt::format("heads {} and {}", b + 1, a + 1)});
      }
    }
    return residuals;
  });
  claims["alibi/slope_of_its_own"] = Claim({
      .title = "Every head has a slope of its own",
      .source = source("Introduction (\"different heads should decay at different rates\"); "
                       "intuition (\"a different fading rate or slope for each attention head\")"),
      .statement = "ALiBi uses a different slope for each attention head: the article's slopes "
                   "fall from head to head, m_1 > m_2 > ... > m_H, and no two of the official "
                   "ones are equal.",
      .implicit = {definition("The heads of one layer; all layers have the same slopes.",
                              "It says which heads are compared.")},
      .proof = holds("m_(h+1) = 2^(-8/H) m_h < m_h. The official slopes of a number that is no "
                     "power of two are two interleaved sequences, whose exponents differ by half "
                     "a step."),
      .checks = {check("m_h - m_(h+1) > 0, m_h = 2^(-8 h/H)", falling(false),
                       grid({{"H", {2, 3, 8, 12, 16, 64}}})),
                 check("|m_a - m_b| > 0, official slopes, a > b", all_differ,
                       grid({{"H", {2, 3, 8, 12, 25}}}))},
      .mutant = {"The official slopes of 12 heads fall from head to head, too.",
                 check("m_h - m_(h+1) > 0, official, H = 12", falling(true), grid({{"H", {12}}}))},
  });

  const auto ratio = equals_zero<"H">([]<class R>(int H, double heads_of_ratio) {
    const auto m = reference::alibi_slopes_geometric<R>(H);
    const R step = power(R(2.0), R(-8.0) / R(heads_of_ratio == 0 ? H : heads_of_ratio));
    auto residuals = at_each("h", 0, H - 1, [&](int h) { return R(m[h + 1] - m[h] * step); });
    residuals.push_back({m[H - 1] - R(0x1p-8), "the last head"});
    return residuals;
  });
  claims["alibi/ratio_of_slopes"] = Claim({
      .title = "The ratio of the slopes depends on the number of heads",
      .source = source("Code example, comment in get_alibi_slopes"),
      .statement = "\"We want a geometric sequence where the ratio depends on the number of "
                   "heads\": m_(h+1) = 2^(-8/H) m_h, and the last slope is 1/256 for every H.",
      .implicit = {definition("Exact arithmetic.",
                              "The statement is one about real numbers; the code rounds.")},
      .proof = holds("m_h = x^-h with x = 256^(1/H): the ratio is 1/x = 2^(-8/H), 1/2 for 8 heads "
                     "and 0.63 for 12, and m_H = x^-H = 1/256. More heads fill the range between "
                     "more densely; none reaches farther (alibi/gentle_head_reaches_far)."),
      .checks = check("m_(h+1) - 2^(-8/H) m_h = 0 and m_H - 1/256 = 0", ratio(0),
                      grid({{"H", {1, 4, 6, 8, 12, 16}}})),
      .mutant = {"The ratio is 1/2 for every number of heads.",
                 check("m_(h+1) - m_h/2 = 0 for 16 heads", ratio(8), grid({{"H", {16}}}))},
  });
}

}  // namespace plumbline::proofs_checks::alibi
