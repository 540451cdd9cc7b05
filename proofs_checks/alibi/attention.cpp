// SPDX-License-Identifier: Apache-2.0
// What the bias makes of the weights of attention.
#include "proofs_checks/alibi/source.hpp"
#include "proofs_checks/pictures/pictures.hpp"
#include "reference/bias/alibi.hpp"

namespace plumbline::proofs_checks::alibi {
namespace {

/// The weight of the key at each distance 0..keys-1, of equal contents.
template <class R>
Vector<R> weights_by_distance(const R& slope, int keys) {
  const reference::Alibi<R> bias{slope};
  return softmax_of<R>(keys, [&](int d) { return bias(d, 0); });
}

/// The weights of the keys 0..keys-1 for a query among them.
template <class R>
Vector<R> weights_for(int query, const R& slope, int keys) {
  const reference::Alibi<R> bias{slope};
  return softmax_of<R>(keys, [&](int j) { return bias(query, j); });
}

/// The share of the ten nearest keys less 99 percent.
template <class R>
R share_of_the_nearest(const Vector<R>& p) {
  R near(0.0);
  for (int d = 0; d < 10; ++d) near += p[d];
  return near - R(99.0) / R(100.0);
}

}  // namespace

void claims_of_attention(Claims& claims) {
  const auto same_ratio = equals_zero<"m">([]<class R>(R m) {
    std::vector<R> residuals;
    for (int keys : {12, 100}) {
      const auto p = weights_by_distance(m, keys);
      for (int a : {1, 5, 11}) residuals.push_back(log(p[a]) - log(p[0]) + m * R(a));
    }
    return residuals;
  });
  const auto limit = at_least_zero<"m">([]<class R>(R m) {
    std::vector<R> residuals;
    for (int keys : {12, 100}) {
      const auto p = weights_by_distance(m, keys);
      for (int d : {0, 5, 11}) {
        const R above = p[d] - exp(-(m * R(d))) * (R(1.0) - exp(-m));
        residuals.push_back(above);
        residuals.push_back(p[d] * exp(-(m * R(keys))) - above);
      }
    }
    return residuals;
  });
  const Samples powers_of_two = {{{"m", 0x1p-8}}, {{"m", 0.0625}}, {{"m", 0.5}}};
  const auto ratio_with_content = equals_zero<"m", "s at distance 1">([]<class R>(R m, R s) {
    const reference::Alibi<R> bias{m};
    const auto p =
        softmax_of<R>(12, [&](int d) { return d == 1 ? R(bias(d, 0) + s) : bias(d, 0); });
    return log(p[1]) - log(p[0]) + m;
  });
  const auto ratio_both_sides = equals_zero<"m">([]<class R>(R m) {
    const reference::Alibi<R> bias{m};
    const auto p = weights_for(6, m, 12);
    return at_each("j", 0, 12, [&](int j) { return log(p[j]) - log(p[6]) - bias(6, j); });
  });
  claims["alibi/preferences_preserved"] = Claim({
      .title = "The preferences between near and far are preserved",
      .source = source("Why does this work so well, 1"),
      .statement = "The pattern of preferences between near and far tokens is preserved even when "
                   "absolute positions become much larger than during training: the ratio of the "
                   "weights at two distances is the same at every position.",
      .implicit = {needed({"The content scores at the two distances are the same at both "
                           "positions; the checks take equal ones.",
                           "s at distance 1", exactly(0)},
                          "The ratio has the factor e^(s_a - s_b) of the content.",
                          check("ln p(1) - ln p(0) + m = 0 with content s at distance 1",
                                ratio_with_content, {{{"m", 0.5}, {"s at distance 1", 1}}})),
                   not_needed("Attention is causal: j <= i.",
                              "Keys after the query change the denominator, which cancels.",
                              check("ln p_6j - ln p_66 + m |6 - j| = 0 for all j of 12 keys",
                                    ratio_both_sides, powers_of_two))},
      .correction = "The ratios of weights are preserved exactly; the weights themselves fall with "
                    "the number of keys n to a positive limit, at the rate e^(-m n).",
      .proof = holds_under_condition(
          "p(a)/p(b) = e^(-m (a - b)) e^(s_a - s_b) with the content scores s: the "
          "denominator, which depends on the position, cancels. The weights themselves "
          "do depend on it: for equal content p(d) = e^(-m d) (1 - e^(-m))/(1 - e^(-m "
          "n)) with n keys, which falls to e^(-m d) (1 - e^(-m)) as n grows; relative "
          "to the limit the difference is e^(-m n)/(1 - e^(-m n))."),
      .theorem = "alibi.preferences_preserved",
      .checks = {check("ln p(a) - ln p(b) + m (a - b) = 0 for 12 and 100 keys", same_ratio,
                       powers_of_two),
                 correction("0 <= p(d) - e^(-m d) (1 - e^(-m)) <= p(d) e^(-m n), n = 12, 100",
                            limit, powers_of_two)},
      .mutant = {"The weight at distance 5 is the same for 12 and for 100 keys.",
                 check("p(5) of 100 keys - p(5) of 12 keys = 0", equals_zero<"m">([]<class R>(R m) {
                         return weights_by_distance(m, 100)[5] - weights_by_distance(m, 12)[5];
                       }),
                       powers_of_two)},
  });

  const auto contents_of = [](const std::vector<std::vector<double>>& contents) {
    return grid({vectors("content", contents), {"m", 0.5}});
  };
  const auto nearer_gets_more =
      at_least_zero<"content", "m">([]<class R>(const Vector<R>& content, R m) {
        const int keys = static_cast<int>(content.size());
        const reference::Alibi<R> bias{m};
        const auto p = softmax_of<R>(keys, [&](int j) { return content[j] + bias(keys - 1, j); });
        return at_each("j", 0, keys - 1, [&](int j) { return p[j + 1] - p[j]; });
      });
  const auto more_of_both_sides = at_least_zero<"m">([]<class R>(R m) {
    const auto p = weights_for(3, m, 6);
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
      .theorem = "alibi.further_less_attention",
      .checks = {check("p_i,j+1 - p_ij >= 0 for any content", nearer_gets_more,
                       contents_of({{0, 0, 0}, {4, 0}, {1, -2, 3, 0}})),
                 condition(
                     "the same for content that is equal, rises, or falls by at most m a step",
                     nearer_gets_more,
                     contents_of({{0, 0}, {2, 2, 2, 2}, {0, 1, 5}, {1, 0.5, 0}}))},
      .mutant = {"The content scores may fall by 1 with every step towards the query.",
                 check("p_i,j+1 - p_ij >= 0 for content that falls by 1", nearer_gets_more,
                       contents_of({{1, 0}, {2, 1, 0}}))},
  });

  const auto local_share = above_zero<"keys", "m">(
      []<class R>(int keys, R m) { return share_of_the_nearest(weights_by_distance(m, keys)); });
  const auto lengths = [](double m) { return grid({{"keys", {11, 20, 100, 400}}, {"m", m}}); };
  const auto share_with_content = above_zero<"keys", "m", "content of the farthest key">(
      []<class R>(int keys, R m, R content_of_the_farthest_key) {
        const reference::Alibi<R> bias{m};
        return share_of_the_nearest(softmax_of<R>(keys, [&](int d) {
          return d == keys - 1 ? R(bias(d, 0) + content_of_the_farthest_key) : bias(d, 0);
        }));
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
      .proof = holds_under_condition(
          "The keys at distances >= 10 get (e^(-5) - e^(-n/2))/(1 - e^(-n/2)) < e^(-5) "
          "= 0.0067 of n keys."),
      .theorem = "alibi.steep_head_is_local",
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
      .theorem = "alibi.gentle_head_reaches_far",
      .checks = {check("e^(-m d) - 0.9 >= 0 for d = 26, 2000, 10000, m = 1/256", nine_tenths,
                       distances({26, 2000, 10000})),
                 condition("the same for d <= 26", nine_tenths, distances({1, 5, 10, 20, 26}))},
      .mutant = {"It holds for d = 27.",
                 check("e^(-m d) - 0.9 >= 0 for d = 27", nine_tenths, distances({27}))},
      .pictures = {pictures::steep_and_gentle},
  });

  const Samples slopes = {{{"m", 0.5}}, {{"m", 0.1}}, {{"m", 0x1p-8}}};
  const auto dimmed =
      equals_zero<"content", "m">([]<class R>(const Vector<R>& content, R m, bool renormalised) {
        const int keys = static_cast<int>(content.size());
        const reference::Alibi<R> bias{m};
        const auto plain = softmax(content).probability;
        const auto biased = softmax_of<R>(keys, [&](int d) { return R(content[d] + bias(d, 0)); });
        Vector<R> seen(keys);
        for (int d = 0; d < keys; ++d) seen[d] = plain[d] * exp(-(m * R(d)));
        const R total = renormalised ? R(sum(seen)) : R(1.0);
        return at_each("distance", 0, keys, [&](int d) { return R(biased[d] - seen[d] / total); });
      });
  const auto clear_then_opaque = at_least_zero<"m">([]<class R>(R m) {
    const auto transparency = [&](int d) { return R(exp(-(m * R(d)))); };
    return at_each("distance", 0, 8, [&](int d) { return transparency(d) - transparency(d + 1); });
  });
  const Samples contents_by_distance =
      grid({vectors("content", {{0, 0, 0}, {1, -2, 3, 0.5}}), {"m", {0.5, 0x1p-8}}});
  claims["alibi/transparency"] = Claim({
      .title = "The bias is a mask whose transparency falls with the distance",
      .source = source("Intuition, after the first figure"),
      .statement =
          "\"Think of this as applying a mask of varying transparency over the text history\", "
          "clear "
          "for recent words and more opaque further back: the weights are those without a bias, "
          "each times t(d) = e^(-m d), divided by their sum; t(0) = 1, and t falls.",
      .hypotheses = {definition("The slope is positive.", "Otherwise nothing is hidden.")},
      .implicit = {needed_as_the_mutant_shows(
          "What is seen through the mask is normalised again.",
          "Dimmed weights add up to less than 1, so near words become brighter.")},
      .proof = holds_under_condition(
          "e^(s_d - m d) = e^(s_d) e^(-m d); the sum of all is the only normaliser. So the far "
          "words do not only get darker: what they lose the near ones gain."),
      .checks = {check("p_d - t(d) p'_d / sum of t p' = 0, with p' without a bias", dimmed(true),
                       contents_by_distance),
                 check("t(d) - t(d + 1) >= 0", clear_then_opaque, slopes)},
      .mutant = {"They are the dimmed weights themselves.",
                 check("p_d - t(d) p'_d = 0", dimmed(false), contents_by_distance)},
  });
}

}  // namespace plumbline::proofs_checks::alibi
