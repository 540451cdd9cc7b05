// SPDX-License-Identifier: Apache-2.0
#include "proofs_checks/cable/biases.hpp"
#include "proofs_checks/pictures/pictures.hpp"

namespace plumbline::proofs_checks::cable {
namespace {

/// The increments with one of them larger by 1.
template <class R>
Vector<R> raised(Vector<R> f, int k) {
  f[k] += R(1.0);
  return f;
}

/// The attention of a query to the keys at a distance of W or more.
template <class R>
R attention_beyond(int W, int query, const Vector<R>& logits) {
  const auto p = softmax(logits).probability;
  R beyond(0.0);
  for (int j = 0; j < p.size(); ++j) {
    if (std::abs(query - j) >= W) beyond += p[j];
  }
  return beyond;
}

/// factor e^(-g a W) / (1 - e^(-g a)).
template <class R>
R window_bound(const R& factor, const R& g, const R& a, int W) {
  const R c = g * a;
  return factor * exp(-(c * R(W))) / (R(1.0) - exp(-c));
}

}  // namespace

void claims_of_context(Claims& claims) {
  const auto own_increment = []<class R>(const Vector<R>& f, R g) {
    const int last = last_of(f);
    const auto bias = published_bias<R>(f, g);
    std::vector<R> residuals;
    for (int j = 0; j < last; ++j) {
      residuals.push_back(bias(last, j) - published_bias<R>(raised<R>(f, j), g)(last, j));
    }
    return residuals;
  };
  const auto query_does_not_count = equals_zero<"g", "f">([]<class R>(R g, const Vector<R>& f) {
    const int last = last_of(f);
    return published_bias<R>(f, g)(last, 0) - published_bias<R>(raised<R>(f, last), g)(last, 0);
  });
  const auto anchor_is_better_off = above_zero<"g", "f">([]<class R>(R g, const Vector<R>& f) {
    const auto bias = published_bias<R>(f, g);
    return bias(last_of(f), 0) - bias(last_of(f), 1);
  });
  const auto nearer_not_worse = at_least_zero<"g", "f">(
      []<class R>(R g, const Vector<R>& f) { return nearer_less_farther(g, f); });
  const auto increments = increments_and_gains(false);
  claims["cable/anchors"] = Claim({
      .title = "An anchor's weaker bias keeps attention to it",
      .source = source("Section 5.4, second paragraph"),
      .statement = "Tokens that serve as anchors may receive weaker biases, so that the model "
                   "keeps stronger attention to them even at long distances, while less "
                   "informative tokens are penalised more heavily.",
      .implicit = {"A token's bias is its f, which depends on the token alone (eq. 2); its weight "
                   "g is that of the query (eq. 7).",
                   "Attention is causal: j <= i.",
                   "Increments are negated, as in the published code (cable/penalises_distance). "
                   "With the printed sign everything is reversed: a key is never rewarded more "
                   "than an earlier one."},
      .correction = "A key's penalty does not depend on its own increment but on those of the "
                    "tokens after it, up to the query. A token with a large increment lowers all "
                    "keys before it; a run of small increments keeps all earlier keys near.",
      .proof = refuted("The bias of key j for query i is -g_i (f_{j+1} + ... + f_i): the key's own "
                       "f_j is not in it, for no query i >= j. Nor can the tokens between favour "
                       "it: B_i,j+1 - B_ij = g_i f_{j+1} >= 0, so a key is never penalised less "
                       "than a later one, whatever the parameters. With f = (0, 3), g = 1, an "
                       "anchor with f_0 = 0 and a later token with f_1 = 3: B_10 = -3, B_11 = 0."),
      .theorem = "cable.anchors_fails",
      .checks = {check("a larger own increment of the key means a larger penalty: B_ij - B_ij(f_j "
                       "+ 1) > 0, j < i",
                       above_zero<"f", "g">(own_increment), increments),
                 check("an anchor (f_0 = 0) is penalised less than the token after it (f_1 > 0): "
                       "B_i0 - B_i1 > 0",
                       anchor_is_better_off,
                       {{{"f", {0, 3}}, {"g", 1}}, {{"f", {0, 3, 0.5, 0.25}}, {"g", 2}}}),
                 correction("B_ij - B_ij(f_j + 1) = 0, j < i", equals_zero<"f", "g">(own_increment),
                            increments),
                 correction("B_i,j+1 - B_ij >= 0, j < i", nearer_not_worse, increments)},
      .mutant = {"The own increment of the query does not count either: B_ij - B_ij(f_i + 1) = 0.",
                 check("B_ij - B_ij(f_i + 1) = 0, j < i", query_does_not_count, increments)},
      .pictures = {pictures::bias_maps},
  });

  const auto one_penalty =
      at_least_zero<"g", "sign", "f">([]<class R>(R g, R sign, const Vector<R>& f, bool absolute) {
        return at_each("i = 1, j", {0, 2}, [&](int j) {
          return absolute ? -published_bias<R>(f, g)(1, j) : -(sign * printed_bias<R>(f, g)(1, j));
        });
      });
  const auto strictly_penalised = above_zero<"g", "f">([]<class R>(R g, const Vector<R>& f) {
    const auto bias = published_bias<R>(f, g);
    return std::vector<R>{-bias(1, 0), -bias(1, 2)};
  });
  const auto both_signs = with({{{"f", {1, 1, 1}}, {"g", 1}}, {{"f", {0.5, 2, 0.25}}, {"g", 3}}},
                               grid({{"sign", {1, -1}}}));
  claims["cable/bidirectional"] = Claim({
      .title = "CABLE serves bidirectional attention",
      .source = source("Section 5.5 with eq. 7"),
      .statement = "In BERT, where j > i occurs, B_ij = g_i (S_i - S_j), up to one sign for the "
                   "whole bias, penalises distant pairs: B_ij <= 0 for j before and after i.",
      .implicit = {"Eq. 7 is taken as it stands for j > i; the paper gives no other formula."},
      .correction = "B_ij = -g_i |S_i - S_j|, as the published code has it.",
      .proof = refuted("S does not decrease, so S_i - S_j >= 0 for j < i and <= 0 for j > i: with "
                       "either sign one side is rewarded. Three tokens with f = 1 and g = 1, i = "
                       "1: B_10 = 1 and B_12 = -1."),
      .theorem = "cable.bidirectional_fails",
      .checks = {check("-B_10 >= 0 and -B_12 >= 0 for B_ij = sign g_i (S_i - S_j)",
                       one_penalty(false), both_signs),
                 correction("-B_10 >= 0 and -B_12 >= 0 for B_ij = -g_i |S_i - S_j|",
                            one_penalty(true), both_signs)},
      .mutant =
          {"With -g_i |S_i - S_j| both sides are strictly penalised, also where increments are 0.",
           check("-B_10 > 0 and -B_12 > 0 for f = (1, 0, 1)", strictly_penalised,
                 {{{"f", {1, 0, 1}}, {"g", 1}}})},
      .pictures = {pictures::bidirectional_maps},
  });

  const auto only_positions_count = equals_zero<"g", "f">([]<class R>(R g, const Vector<R>& f) {
    return published_bias<R>(f, g)(1, 0) - published_bias<R>(raised<R>(f, 1), g)(1, 0);
  });
  // A token with increment 3 is put in at position `at`.
  const auto tokens_in_front = equals_zero<"f", "g">([]<class R>(const Vector<R>& f, R g, int at) {
    const int tokens = static_cast<int>(f.size());
    Vector<R> more(tokens + 1);
    for (int k = 0; k < tokens; ++k) more[k < at ? k : k + 1] = f[k];
    more[at] = R(3.0);
    const auto before = published_bias<R>(f, g), after = published_bias<R>(more, g);
    return every_pair(tokens, [&](int i, int j) {
      return after(i < at ? i : i + 1, j < at ? j : j + 1) - before(i, j);
    });
  });
  claims["cable/relative_function_of_positions"] = Claim({
      .title = "The bias is a function of the two positions",
      .source = source("Section 2, after eq. 1"),
      .statement = "CABLE is an additive relative encoding: its B is generated by a function b of "
                   "the positions, B_ij = b(i, j), as in eq. 1.",
      .implicit = {"f and g of the other tokens do not change when tokens are put in front."},
      .correction = "B_ij is a function of g_i and of the increments of the tokens j+1..i; it does "
                    "not change when tokens are put in front.",
      .proof = refuted("B_ij depends on the tokens between j and i: with g = 1, f = (1, 1) gives "
                       "B_10 = -1 and f = (1, 2) gives B_10 = -2, at the same positions. So CABLE "
                       "is no RPE in the sense of the definition after eq. 1. It is relative in a "
                       "weaker sense: tokens put in front change neither S_i - S_j nor g_i."),
      .theorem = "cable.relative_function_of_positions_fails",
      .checks =
          {check(
               "B_10 for f minus B_10 for f + (0, 1) = 0, published sign: B_ij = -g_i |S_i - S_j|",
               only_positions_count, increments),
           correction("B_{i+1,j+1} with a token in front - B_ij = 0 for every pair",
                      tokens_in_front(0), increments)},
      .mutant = {"A token put between the first and the second changes nothing either.",
                 check("B with a token after the first - B = 0", tokens_in_front(1),
                       increments_and_gains(true))},
  });

  const auto at_most_half =
      at_least_zero<"W", "g", "f">([]<class R>(int W, R g, const Vector<R>& f) {
        const Vector<R> logits = row_of(published_bias<R>(f, g), last_of(f));
        return R(0.5) - attention_beyond(W, last_of(f), logits);
      });
  const auto bounded = at_least_zero<"W", "g", "a", "factor", "f">(
      []<class R>(int W, R g, R a, R factor, const Vector<R>& f) {
        const Vector<R> logits = row_of(published_bias<R>(f, g), last_of(f));
        return window_bound(factor, g, a, W) - attention_beyond(W, last_of(f), logits);
      });
  const auto bounded_with_far_content =
      at_least_zero<"W", "g", "a", "f", "content of the farthest key">(
          []<class R>(int W, R g, R a, const Vector<R>& f, R content) {
            Vector<R> logits = row_of(published_bias<R>(f, g), last_of(f));
            logits[0] += content;
            return window_bound(R(1.0), g, a, W) - attention_beyond(W, last_of(f), logits);
          });
  // In the middle the bounds of both sides; else, for the last query, the printed sign.
  const auto bounded_for = at_least_zero<"W", "g", "a", "f">(
      []<class R>(int W, R g, R a, const Vector<R>& f, bool in_the_middle) {
        const int query = in_the_middle ? static_cast<int>(f.size()) / 2 : last_of(f);
        const Vector<R> row = row_of(published_bias<R>(f, g), query);
        return window_bound(R(in_the_middle ? 2.0 : 1.0), g, a, W) -
               attention_beyond(W, query, in_the_middle ? row : Vector<R>(-row));
      });
  const auto even = [](int tokens, double f, double W) {
    return Sample{{"f", std::vector<double>(tokens, f)}, {"g", 1}, {"W", W}};
  };
  const auto even_with_bound = [&](int tokens, double a, double W) {
    return even(tokens, a, W).with({"a", a});
  };
  Samples windows;
  for (double W : {1.0, 4.0, 16.0}) {
    for (double a : {0.25, 1.0}) {
      for (int tokens : {20, 64}) windows.push_back(even_with_bound(tokens, a, W));
    }
  }
  for (Sample& sample : increments_and_gains(true, 20)) {
    if (sample.find("f")->lower.size() < 3) continue;
    windows.push_back(sample.with({"W", 2}).with({"a", 0x1p-6}));
  }
  claims["cable/sliding_window"] = Claim({
      .title = "CABLE resembles sliding window attention",
      .source = source("Section 3, after eq. 7"),
      .statement = "CABLE exhibits an inductive bias similar to sliding window attention: for "
                   "equal content, the attention to keys at a distance of W or more is bounded by "
                   "something that falls to 0 as W grows, whatever the length is.",
      .implicit =
          {needed({"The content scores of the row are equal; if they differ by at most D, the "
                   "bound grows by the factor e^D.",
                   "content of the farthest key", exactly(0)},
                  "A far key with enough content outweighs the bias.",
                  check("e^(-g a W)/(1 - e^(-g a)) - attention at distances >= W >= 0",
                        bounded_with_far_content,
                        with({even_with_bound(8, 1, 4)}, {{{"content of the farthest key", 9}}}))),
           needed("Increments are negated, as in the published code (cable/penalises_distance).",
                  "With the printed sign the farthest key gets most.",
                  check("printed sign: e^(-g a W)/(1 - e^(-g a)) - attention >= W >= 0",
                        bounded_for(false), {even_with_bound(8, 1, 4)})),
           not_needed(
               "Attention is causal: j <= i.",
               "With keys on both sides and B_ij = -g |S_i - S_j| twice the bound serves.",
               check("query in the middle: 2 e^(-g a W)/(1 - e^(-g a)) - attention >= W >= 0",
                     bounded_for(true), {even_with_bound(9, 3, 1), even_with_bound(65, 0.25, 4)}))},
      .condition = "There is an a > 0 below every increment, and the weight is bounded from below.",
      .conditions = {needed({"There is an a > 0 below every increment.", "f", above(0)},
                            "Increments of 0 give even attention.",
                            check("1/2 - attention at distances >= 4 of 64 keys >= 0", at_most_half,
                                  {even(64, 0, 4)})),
                     needed(
                         {"The weight is bounded from below.", "g", at_least(0x1p-6)},
                         "A tiny weight gives nearly even attention.",
                         check("1/2 - attention at distances >= 4 of 64 keys >= 0", at_most_half,
                               {{{"f", std::vector<double>(64, 1)}, {"g", 0x1p-20}, {"W", 4}}}))},
      .proof = holds_under_condition(
          "If every increment is at least a > 0 and the weight is g, a key at distance d has the "
          "bias B <= -g a d and the query itself has 0, so p(d) <= e^(-g a d), and the keys at "
          "distances >= W together have at most e^(-g a W) / (1 - e^(-g a)). Without the condition "
          "nothing bounds it: a head whose increments are 0 attends evenly, and of n = 64 keys "
          "those at distances >= 4 have 60/64; the share grows to 1 with n."),
      .theorem = "cable.sliding_window",
      .checks =
          {check("1/2 - attention at distances >= 4 of 64 keys >= 0, increments >= 0", at_most_half,
                 {even(64, 1, 4), even(64, 0, 4)}),
           condition(
               "e^(-g a W) / (1 - e^(-g a)) - attention at distances >= W >= 0, increments >= a",
               bounded, with(windows, {{{"factor", 1}}}))},
      .mutant = {"A quarter of the bound of the condition.",
                 check("a quarter of the bound - attention at distances >= W >= 0", bounded,
                       with(windows, {{{"factor", 0.25}}}))},
  });

  // What a token's mark becomes at each distance after so many layers: a layer sums over the keys,
  // with the weight 1 for the nearest `window` and `outside` for all others.
  const auto carried = []<class R>(int window, int layers, const R& outside) {
    Vector<R> marks = zeros<R>(40);
    marks[0] = R(1.0);
    for (int layer = 0; layer < layers; ++layer) {
      Vector<R> next = zeros<R>(40);
      for (int i = 0; i < 40; ++i) {
        for (int j = 0; j <= i; ++j) next[i] += (i - j < window ? R(1.0) : outside) * marks[j];
      }
      marks = next;
    }
    return marks;
  };
  const auto nothing_beyond = equals_zero<"window", "layers", "outside">(
      [=]<class R>(int window, int layers, const R& outside) {
        const Vector<R> marks = carried(window, layers, outside);
        return at_each("distance", layers * (window - 1) + 1, 40, [&](int d) { return marks[d]; });
      });
  const auto something_up_to = above_zero<"window", "layers", "outside">(
      [=]<class R>(int window, int layers, const R& outside, int more) {
        const Vector<R> marks = carried(window, layers, outside);
        return at_each("distance", 0, layers * (window - 1) + more + 1,
                       [&](int d) { return marks[d]; });
      });
  const auto stacks = [](double outside) {
    return grid({{"window", {2, 3, 5}}, {"layers", {1, 2, 6}}, {"outside", outside}});
  };
  claims["cable/few_layers"] = Claim({
      .title = "With few layers a window carries information a short way",
      .source = source("Section 5.6"),
      .statement = "\"The sliding window nature of additive RPEs, where, with a low number of "
                   "layers, they struggle to propagate information across longer sequences\": "
                   "through L layers with a window of W keys a token reaches the distance L (W - "
                   "1) and no farther.",
      .implicit = {needed({"Keys outside the window have no weight at all.", "outside", exactly(0)},
                          "With a small weight one layer reaches every distance. An additive bias "
                          "makes the weights of distant keys small, not 0.",
                          check("marks beyond L (W - 1) = 0, with weights of 2^-10 outside",
                                nothing_beyond, stacks(0x1p-10)))},
      .proof = holds_under_condition(
          "A layer carries a token's mark to the W - 1 tokens after it, and L layers to L (W - 1). "
          "So the 6 layers of Tiny reach a quarter as far as the 24 of Medium, for the same W."),
      .checks = {check("marks beyond L (W - 1) = 0", nothing_beyond, stacks(0)),
                 check("marks up to L (W - 1) > 0", something_up_to(0), stacks(0))},
      .mutant = {"It reaches the distance L (W - 1) + 1.",
                 check("marks up to L (W - 1) + 1 > 0", something_up_to(1), stacks(0))},
  });
}

}  // namespace plumbline::proofs_checks::cable
