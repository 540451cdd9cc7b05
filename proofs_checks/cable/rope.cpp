// SPDX-License-Identifier: Apache-2.0
#include "reference/position/rope.hpp"

#include "proofs_checks/cable/source.hpp"
#include "proofs_checks/rope_score.hpp"

namespace plumbline::proofs_checks::cable {
namespace {

/// The outputs of attention, for a logit(i, j) of every pair of positions.
template <class R, class Logit>
Vector<R> attend(const Vector<R>& values, bool causal, const Logit& logit) {
  Vector<R> out(values.size());
  for (int i = 0; i < values.size(); ++i) {
    const int keys = causal ? i + 1 : static_cast<int>(values.size());
    Vector<R> logits(keys);
    for (int j = 0; j < keys; ++j) logits[j] = logit(i, j);
    const auto p = softmax(logits).probability;
    out[i] = R(0.0);
    for (int j = 0; j < keys; ++j) out[i] += p[j] * values[j];
  }
  return out;
}

/// The outputs for the tokens themselves as queries, keys and values.
template <class R>
Vector<R> attend_to_itself(const Vector<R>& x, bool causal) {
  return attend(x, causal, [&](int i, int j) { return x[i] * x[j]; });
}

/// The outputs of the reversed tokens, reversed, less those of the tokens.
template <class R, class Outputs>
std::vector<Placed<R>> reversal(const Vector<R>& x, const Outputs& outputs) {
  const Vector<R> out = outputs(x), other = outputs(Vector<R>(x.reverse()));
  const int n = static_cast<int>(out.size());
  return at_each("i", 0, n, [&](int i) { return other[n - 1 - i] - out[i]; });
}

}  // namespace

void claims_of_rope(Claims& claims) {
  const auto moved = equals_zero<"q", "k">([]<class R>(const Vector<R>& q, const Vector<R>& k,
                                                       int key_moves) {
    std::vector<Placed<R>> residuals;
    for (int s : {1, 7, 1000}) {
      residuals.push_back(
          {rope_score<R>(q, 3, k, 1) - rope_score<R>(q, 3 + s, k, 1 + key_moves * s),
           "i = 3, j = 1, s = " + std::to_string(s)});
      residuals.push_back({rope_score<R>(q, 0, k, 5) - rope_score<R>(q, s, k, 5 + key_moves * s),
                           "i = 0, j = 5, s = " + std::to_string(s)});
    }
    return residuals;
  });
  claims["cable/rope_relative"] = Claim({
      .title = "RoPE makes attention a function of the relative distance",
      .source = source("Section 2, RPE"),
      .statement =
          "RoPE rotates query and key, which results in attention being a function of the relative "
          "distance i - j: <R_i q, R_j k> does not change when i and j move by the same amount.",
      .hypotheses = {needed_as_the_mutant_shows(
          "i and j move by the same amount.", "A query that moves alone is at another distance.")},
      .implicit = {needed(
          "The distance is signed.", "The score at i - j = 2 is not that at i - j = -2.",
          check("<R_3 q, R_1 k> - <R_1 q, R_3 k> = 0",
                equals_zero<"q", "k">([]<class R>(const Vector<R>& q, const Vector<R>& k) {
                  return rope_score<R>(q, 3, k, 1) - rope_score<R>(q, 1, k, 3);
                }),
                rope_vectors()))},
      .proof =
          holds("Rotations of one pair by the same frequency add their angles: <R_i q, R_j k> = "
                "<q, R_{j-i} k>. It is the signed distance: at i - j = 1 and -1 the scores differ "
                "in general. (Each vector turns with its own position, not with the distance, as "
                "\"an angle proportional to their relative positions\" could be read.)"),
      .checks = check("<R_i q, R_j k> - <R_{i+s} q, R_{j+s} k> = 0", moved(1), rope_vectors()),
      .mutant = {"It does not change when the query alone moves.",
                 check("<R_i q, R_j k> - <R_{i+s} q, R_j k> = 0", moved(0), rope_vectors())},
  });

  const auto peaks_at = above_zero<"q">([]<class R>(const Vector<R>& q, int turned_key) {
    const int query = 8;
    std::vector<Placed<R>> residuals;
    for (int r = 0; r <= query; ++r) {
      const reference::Matrix<R> row = q.transpose();
      const Vector<R> key =
          reference::rope<R>(row, turned_key * r, R(10000.0), reference::RopePairs::interleaved)
              .transpose();
      const R peak = rope_score<R>(q, query, key, query - r);
      for (int s = 0; s <= query; ++s) {
        if (s == r) continue;
        residuals.push_back({peak - rope_score<R>(q, query, key, query - s),
                             "r = " + std::to_string(r) + ", s = " + std::to_string(s)});
      }
    }
    return residuals;
  });
  claims["cable/rope_need_not_decay"] = Claim({
      .title = "Attention under RoPE need not decay with distance",
      .source = source("Section 2, RPE, after Barbero et al."),
      .statement = "Attention weights under RoPE do not necessarily decay with the distance: for "
                   "every distance r some key scores highest exactly there.",
      .hypotheses = {needed("The query is not 0.", "A query of 0 scores 0 everywhere.",
                            check("score at r minus score at s > 0 with q = 0", peaks_at(1),
                                  {{{"q", {0, 0, 0, 0}}}}))},
      .implicit = {not_needed(
          "The query has a component in the pair that turns by 1 radian.",
          "Any pair serves: its frequency 10000^(-2p/d) is algebraic, so no multiple of it by a "
          "whole number but 0 is a multiple of 2 pi, which is transcendental.",
          check("score at r minus score at s > 0, q in the pair that turns by 1/100", peaks_at(1),
                {{{"q", {0, 0, 1, 0}}}, {{"q", {0, 0, -1, 2}}}}))},
      .proof =
          holds("Take k = R_r q. Then <R_i q, R_j k> = sum over pairs of |q_pair|^2 cos((i - j - "
                "r) theta_pair), which is largest at i - j = r; strictly among whole numbers, as a "
                "frequency is algebraic and 2 pi is transcendental. So the claim of Su et al. that "
                "scores decay is no theorem about single pairs of vectors."),
      .checks =
          check("score at distance r minus score at distance s > 0, k = R_r q, r = 0..8, s != r",
                peaks_at(1), rope_vectors()),
      .mutant = {"The same without turning the key.",
                 check("score at distance r minus score at distance s > 0, k = q", peaks_at(0),
                       rope_vectors())},
  });

  const auto reversed = equals_zero<"x">([]<class R>(const Vector<R>& x, bool causal) {
    return reversal(x, [&](const Vector<R>& y) { return attend_to_itself(y, causal); });
  });
  const std::vector<Sample> tokens = {
      {{"x", {1, 2}}}, {{"x", {0.5, -1, 2, 0.25}}}, {{"x", {3, -3, 1, 0, -0.5}}}};
  // Without a mask.
  const auto reversed_with_bias = equals_zero<"x">([]<class R>(const Vector<R>& x) {
    return reversal(x, [](const Vector<R>& y) {
      return attend(y, false, [&](int i, int j) { return y[i] * y[j] + R(j); });
    });
  });
  const auto reversed_with_maps = equals_zero<"x">([]<class R>(const Vector<R>& x) {
    return reversal(x, [](const Vector<R>& y) {
      return attend(Vector<R>(R(3.0) * y), false,
                    [&](int i, int j) { return -(R(2.0) * y[i] * y[j]); });
    });
  });
  claims["cable/position_agnostic"] = Claim({
      .title = "Attention is position-agnostic",
      .source = source("Section 1; section 2 of the first version"),
      .statement =
          "Transformers are position-agnostic and need position information: without a positional "
          "term, permuting the tokens permutes the outputs of attention and changes nothing else.",
      .hypotheses = {needed(
          "No positional term.", "A bias by the key's position tells orders apart.",
          check("without a mask, bias j for key j: the same", reversed_with_bias, tokens))},
      .implicit = {not_needed(
          "Queries, keys and values are the tokens themselves, of width 1; the argument is the "
          "same for any width and weights.",
          "Maps act on each token alone.",
          check("without a mask, q = 2x, k = -x, v = 3x: the same", reversed_with_maps, tokens))},
      .condition = "No causal mask (an encoder).",
      .proof = holds_under_condition(
          "out_i = sum_j softmax_j(x_i x_j) x_j is a sum over a set: the order of the keys does "
          "not matter. A causal mask makes the set depend on the position: of the tokens (1, 2) "
          "the first attends to itself only, out = 1; in the order (2, 1) the token 1 attends to "
          "both. That is how decoders without positional encoding can learn positions, as section "
          "2 says of NoPE."),
      .checks = {check("out of the reversed tokens, reversed, minus out = 0, causal mask, out_i = "
                       "sum_{j <= i} softmax_j(x_i x_j) x_j",
                       reversed(true), tokens),
                 condition("the same without a mask", reversed(false), tokens)},
      .mutant = {"Without a mask all outputs are the same.",
                 check("out_0 - out_last = 0 without a mask",
                       equals_zero<"x">([]<class R>(const Vector<R>& x) {
                         const auto out = attend_to_itself(x, false);
                         return out[0] - out[out.size() - 1];
                       }),
                       tokens)},
  });
}

}  // namespace plumbline::proofs_checks::cable
