// SPDX-License-Identifier: Apache-2.0
#include "proofs_checks/alibi/source.hpp"
#include "proofs_checks/pictures/pictures.hpp"
#include "proofs_checks/rope_score.hpp"
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

template <class R>
Vector<R> rotate(const Vector<R>& x, const R& angle) {
  const R c = cos(angle), s = sin(angle);
  return Vector<R>{{c * x[0] - s * x[1], s * x[0] + c * x[1]}};
}

}  // namespace

void claims_of_distance(Claims& claims) {
  const auto moved = equals_zero<"m">([]<class R>(R m, bool by_key) {
    const reference::Alibi<R> bias{m};
    const reference::AlibiKeyPosition<R> key_position{m};
    std::vector<R> residuals;
    for (int s : {1, 95, 10000}) {
      for (int d : {0, 1, 5}) {
        residuals.push_back(by_key ? key_position(5 + s, 5 - d + s) - key_position(5, 5 - d)
                                   : bias(5 + s, 5 - d + s) - bias(5, 5 - d));
      }
    }
    return residuals;
  });
  const Samples three_slopes = {{{"m", 0.5}}, {{"m", 0.1}}, {{"m", 0x1p-8}}};
  claims["alibi/translation_invariance"] = Claim({
      .title = "A distance of 5 is always a distance of 5",
      .source = source("Why does this work so well, 1"),
      .statement = "The bias is a relative measure of distance: it does not matter if a sentence "
                   "has 100 words or 10,000: b(i + s, j + s) = b(i, j).",
      .hypotheses = {needed("Query and key move by the same s.",
                            "A key that stays behind is farther away.",
                            check("b(5 + 1, 5) - b(5, 5) = 0", equals_zero<"m">([]<class R>(R m) {
                                    const reference::Alibi<R> bias{m};
                                    return bias(6, 5) - bias(5, 5);
                                  }),
                                  three_slopes))},
      .implicit = {definition("Exact arithmetic.",
                              "The statement is one about real numbers; m |i - j| is rounded in "
                              "floating point, though alike for equal distances.")},
      .proof =
          holds("|(i + s) - (j + s)| = |i - j|. The bias m j of the original code, equal up to a "
                "constant of the row, is not invariant, though the weights under it are."),
      .theorem = "alibi.translation_invariance",
      .checks = check("b(i + s, j + s) - b(i, j) = 0, s up to 10000", moved(false), three_slopes),
      .mutant = {"So is m j, which the original code adds.",
                 check("m (j + s) - m j = 0", moved(true), three_slopes)},
  });

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
      .proof = holds("p(a)/p(b) = e^(-m (a - b)) e^(s_a - s_b) with the content scores s: the "
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
      .proof = holds("The keys at distances >= 10 get (e^(-5) - e^(-n/2))/(1 - e^(-n/2)) < e^(-5) "
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

  const auto rotated = equals_zero<"phi", "q", "k">(
      []<class R>(R phi, const Vector<R>& q, const Vector<R>& k, bool key_rotates) {
        const R none(0.0);
        const auto q_0 = rotate(q, none), k_0 = rotate(k, none);
        const auto q_phi = rotate(q, phi), k_phi = rotate(k, key_rotates ? phi : none);
        return at_each("i = 7, j", {0, 3, 7}, [&](int j) {
          return rope_score<R>(q_phi, 7, k_phi, j) - rope_score<R>(q_0, 7, k_0, j);
        });
      });
  const Samples vectors = {{{"q", {1, 0}}, {"k", {0, 1}}, {"phi", 1}},
                           {{"q", {0.5, -2}}, {"k", {3, 0.25}}, {"phi", -0.75}}};
  claims["alibi/rope_rotation_invariance"] = Claim({
      .title = "RoPE preserves rotation invariance within its planes",
      .source = source("Comparison with RoPE"),
      .statement =
          "RoPE preserves certain geometric properties, such as rotation invariance "
          "within 2D subspaces: rotating query and key by one angle in the plane of a pair "
          "leaves all scores as they are.",
      .implicit = {needed_as_the_mutant_shows(
          "One angle for each pair of components, the same for query and key.",
          "Rotating one of them changes the angle between them.")},
      .proof = holds("Rotations of a plane commute: <R_i R_phi q, R_j R_phi k> = <R_phi R_i q, "
                     "R_phi R_j k> = <R_i q, R_j k>."),
      .theorem = "other_methods.rope_rotation_invariance",
      .checks = check("<R_i R_phi q, R_j R_phi k> - <R_i q, R_j k> = 0", rotated(true), vectors),
      .mutant = {"Rotating the query alone leaves them as well.",
                 check("<R_i R_phi q, R_j k> - <R_i q, R_j k> = 0", rotated(false), vectors)},
  });
}

}  // namespace plumbline::proofs_checks::alibi
