// SPDX-License-Identifier: Apache-2.0
#include "proofs_checks/alibi/rows.hpp"
#include "proofs_checks/alibi/source.hpp"
#include "proofs_checks/pictures/pictures.hpp"
#include "reference/bias/alibi.hpp"

namespace plumbline::proofs_checks::alibi {

void claims_of_locality(Claims& claims) {
  const auto rows = [](const std::vector<std::vector<double>>& contents) {
    return grid({vectors("content", contents), {"m", 0.5}});
  };
  const auto nearer_gets_more =
      at_least_zero<"content", "m">([]<class R>(const Vector<R>& content, R m) {
        const int keys = static_cast<int>(content.size());
        const reference::Alibi<R> bias{m};
        Vector<R> logits(keys);
        for (int j = 0; j < keys; ++j) logits[j] = content[j] + bias(keys - 1, j);
        const auto p = softmax(logits).probability;
        return at_each("j", 0, keys - 1, [&](int j) { return p[j + 1] - p[j]; });
      });
  const auto more_of_both_sides = at_least_zero<"m">([]<class R>(R m) {
    const reference::Alibi<R> bias{m};
    Vector<R> logits(6);
    for (int j = 0; j < 6; ++j) logits[j] = bias(3, j);
    const auto p = softmax(logits).probability;
    return std::vector<R>{p[1] - p[0], p[2] - p[1], p[3] - p[2]};
  });
  claims["alibi/further_less_attention"] = Claim({
      .title = "The further apart the words, the less attention",
      .source = source("Intuition"),
      .statement = "The further apart the words, the larger the penalty, and the less attention "
                   "they will pay to each other: p_ij <= p_i,j+1 for j < i.",
      .implicit = {definition("\"Attention\" is the weight p_ij; content scores are any reals.",
                              "It says what is compared."),
                   not_needed(
                       {"Attention is causal: j <= i.", "keys after the query", exactly(0)},
                       "For keys before the query, keys after it change the denominator only.",
                       check("p_3,j+1 - p_3j >= 0 for j < 3 of 6 keys of equal content",
                             more_of_both_sides, {{{"m", 0.5}, {"keys after the query", 2}}}))},
      .condition =
          "The content scores are equal (or rise towards the query, or fall by at most m a step).",
      .proof = holds_under_condition(
          "The penalty m |i - j| does grow with distance. The attention also depends on the "
          "content: with slope 1/2, a content score of 4 at distance 1 and 0 at distance 0 the "
          "farther key gets e^3.5 = 33 times the weight. For equal content p falls in every step "
          "by e^(-m)."),
      .checks = {check("p_i,j+1 - p_ij >= 0 for any content", nearer_gets_more,
                       rows({{0, 0, 0}, {4, 0}, {1, -2, 3, 0}})),
                 condition(
                     "the same for content that is equal, rises, or falls by at most m a step",
                     nearer_gets_more, rows({{0, 0}, {2, 2, 2, 2}, {0, 1, 5}, {1, 0.5, 0}}))},
      .mutant = {"The content scores may fall by 1 with every step towards the query.",
                 check("p_i,j+1 - p_ij >= 0 for content that falls by 1", nearer_gets_more,
                       rows({{1, 0}, {2, 1, 0}}))},
  });

  const auto local_share = above_zero<"keys", "m">([]<class R>(int keys, R m) {
    const auto p = weights_by_distance(m, keys);
    R near(0.0);
    for (int d = 0; d < 10; ++d) near += p[d];
    return near - R(99.0) / R(100.0);
  });
  const auto lengths = [](double m) { return grid({{"keys", {11, 20, 100, 400}}, {"m", m}}); };
  const auto share_with_content = above_zero<"keys", "m", "content of the farthest key">(
      []<class R>(int keys, R m, R content_of_the_farthest_key) {
        const reference::Alibi<R> bias{m};
        Vector<R> logits(keys);
        for (int d = 0; d < keys; ++d) logits[d] = bias(d, 0);
        logits[keys - 1] += content_of_the_farthest_key;
        const auto p = softmax(logits).probability;
        R near(0.0);
        for (int d = 0; d < 10; ++d) near += p[d];
        return near - R(99.0) / R(100.0);
      });
  claims["alibi/steep_head_is_local"] = Claim({
      .title = "A large slope focuses on very local context",
      .source = source("Intuition; technical details"),
      .statement = "With a large slope (1/2) the head focuses only on very local context, the last "
                   "few words: for equal content, the ten nearest keys get more than 99 percent of "
                   "the attention, at every length.",
      .hypotheses = {needed_as_the_mutant_shows(
          {"The slope is large: 1/2 or more.", "m", at_least(0.5)},
          "A smaller slope reaches farther.")},
      .implicit = {needed(
                       {"The content scores are equal; if they differ by at most D, the far keys "
                        "get at most e^D times as much.",
                        "content of the farthest key", exactly(0)},
                       "A far key with enough content gets most of the attention.",
                       check("attention at distances 0..9 - 0.99 > 0, the farthest key has content",
                             share_with_content,
                             {{{"keys", 20}, {"m", 0.5}, {"content of the farthest key", 12}}})),
                   definition("\"The last few\" is read as ten, \"only\" as 99 percent.",
                              "Without numbers there is nothing to check.")},
      .proof = holds("The keys at distances >= 10 get (e^(-5) - e^(-n/2))/(1 - e^(-n/2)) < e^(-5) "
                     "= 0.0067 of n keys."),
      .checks = check("attention at distances 0..9 - 0.99 > 0, m = 1/2", local_share, lengths(0.5)),
      .mutant = {"The same of the slope 1/16.",
                 check("attention at distances 0..9 - 0.99 > 0, m = 1/16", local_share,
                       lengths(0.0625))},
      .pictures = {pictures::steep_and_gentle},
  });

  const auto nine_tenths =
      at_least_zero<"m", "d">([]<class R>(R m, R d) { return exp(-(m * d)) - R(9.0) / R(10.0); });
  const auto distances = [](const std::vector<double>& ds) {
    return grid({{"m", 0x1p-8}, {"d", ds}});
  };
  claims["alibi/gentle_head_reaches_far"] = Claim({
      .title = "A small slope looks far back with almost no degradation",
      .source = source("Intuition; technical details"),
      .statement = "With a small slope (1/256) heads look far back into the context with almost no "
                   "degradation, a name mentioned chapters ago, and attend to distant tokens "
                   "almost as easily as nearby ones.",
      .implicit =
          {needed({"The content scores are equal: a larger score of the distant key can outweigh "
                   "the penalty, 7.8 for 2,000 words.",
                   "s", exactly(0)},
                  "A nearest key with more content gets more.",
                  check("e^(s - m d) - 0.9 >= 0 where the far key's content is s more",
                        at_least_zero<"s", "m", "d">([]<class R>(R s, R m, R d) {
                          return exp(s - m * d) - R(9.0) / R(10.0);
                        }),
                        {{{"m", 0x1p-8}, {"d", 20}, {"s", -1}}})),
           definition(
               "\"Almost\" is read as at least nine tenths of the weight of the nearest key.",
               "Without a number there is nothing to check."),
           definition("A token is a word, a chapter has the 2,000 words of the introduction.",
                      "It gives \"chapters ago\" a distance.")},
      .condition = "d <= 26, a tenth of 1/m.",
      .proof = holds_under_condition(
          "For equal content a key at distance d has e^(-d/256) times the weight of the nearest. "
          "One of the article's chapters, 2,000 words, leaves e^(-7.8) = 0.0004 of it, its 10,000 "
          "words e^(-39) = 1e-17. Read as nine tenths of the weight, \"almost\" ends at d = 256 "
          "ln(10/9) = 26.97. What is true is that 1/256 reaches 128 times as far as 1/2."),
      .checks = {check("e^(-m d) - 0.9 >= 0 for d = 26, 2000, 10000, m = 1/256", nine_tenths,
                       distances({26, 2000, 10000})),
                 condition("the same for d <= 26", nine_tenths, distances({1, 5, 10, 20, 26}))},
      .mutant = {"It holds for d = 27.",
                 check("e^(-m d) - 0.9 >= 0 for d = 27", nine_tenths, distances({27}))},
      .pictures = {pictures::steep_and_gentle},
  });
}

}  // namespace plumbline::proofs_checks::alibi
