// SPDX-License-Identifier: Apache-2.0
#include "proofs_checks/cable/biases.hpp"
#include "proofs_checks/cable/claims.hpp"
#include "proofs_checks/cable/source.hpp"
#include "proofs_checks/samples.hpp"
#include "reference/attention/softmax.hpp"
#include "reference/core/primitives.hpp"

namespace plumbline::proofs_checks::cable {
namespace {

template <bool bounded>
struct Window {
  static constexpr Relation relation = Relation::at_least_zero;
  template <class R>
  std::vector<R> operator()(const Inputs<R>& in) const {
    const int last = static_cast<int>(in["f"].size()) - 1;
    const int W = static_cast<int>(reference::representative(in.number("W")));
    const auto bias = published_bias<R>(in["f"], in.number("g"));
    reference::Vector<R> logits(last + 1);
    for (int j = 0; j <= last; ++j) logits[j] = bias(last, j);
    const auto p = reference::softmax(logits).probability;
    R beyond(0.0);
    for (int j = 0; j <= last - W; ++j) beyond += p[j];
    if (!bounded) return {R(0.5) - beyond};
    const R c = in.number("g") * in.number("a");
    const R divisor = R(1.0) - reference::exp(-c);
    return {in.number("factor") * reference::exp(-(c * R(W))) / divisor - beyond};
  }
};

Sample even(int tokens, double f, double W) {
  return Sample{}.with("f", std::vector<double>(tokens, f)).with("g", {1}).with("W", {W});
}

std::vector<Sample> windows(double factor) {
  std::vector<Sample> samples;
  for (double W : {1.0, 4.0, 16.0}) {
    for (double a : {0.25, 1.0}) {
      for (int tokens : {20, 64}) {
        samples.push_back(even(tokens, a, W).with("a", {a}).with("factor", {factor}));
      }
    }
  }
  for (const Sample& s : increments_and_gains(true, 20)) {
    if (s.quantities[0].lower.size() < 3) continue;
    samples.push_back(Sample{s}.with("W", {2}).with("a", {0.015625}).with("factor", {factor}));
  }
  return samples;
}

enum class Row { far_content, printed_sign, both_sides };

/// The bound of the condition where one hypothesis fails, for the last query or, with the bound of
/// each side, the middle one.
template <Row row>
struct WindowOf {
  static constexpr Relation relation = Relation::at_least_zero;
  template <class R>
  std::vector<R> operator()(const Inputs<R>& in) const {
    const int n = static_cast<int>(in["f"].size()), query = row == Row::both_sides ? n / 2 : n - 1;
    const int W = static_cast<int>(reference::representative(in.number("W")));
    const auto bias = published_bias<R>(in["f"], in.number("g"));
    reference::Vector<R> logits(n);
    for (int j = 0; j < n; ++j) {
      logits[j] = row == Row::printed_sign ? -bias(query, j) : bias(query, j);
    }
    if constexpr (row == Row::far_content) logits[0] += in.number("content of the farthest key");
    const auto p = reference::softmax(logits).probability;
    R beyond(0.0);
    for (int j = 0; j < n; ++j) {
      if (std::abs(query - j) >= W) beyond += p[j];
    }
    const R c = in.number("g") * in.number("a"), sides(row == Row::both_sides ? 2.0 : 1.0);
    return {sides * reference::exp(-(c * R(W))) / (R(1.0) - reference::exp(-c)) - beyond};
  }
};

}  // namespace

Claim sliding_window() {
  Claim claim;
  claim.id = "cable/sliding_window";
  claim.title = "CABLE resembles sliding window attention";
  claim.source = source("Section 3, after eq. 7");
  claim.statement =
      "CABLE exhibits an inductive bias similar to sliding window attention: for equal content, "
      "the attention to keys at a distance of W or more is bounded by something that falls to 0 as "
      "W grows, whatever the length is.";
  claim.condition =
      "There is an a > 0 below every increment, and the weight is bounded from below.";
  claim.derivation =
      "If every increment is at least a > 0 and the weight is g, a key at distance d has the bias "
      "B <= -g a d and the query itself has 0, so p(d) <= e^(-g a d), and the keys at distances >= "
      "W together have at most e^(-g a W) / (1 - e^(-g a)). Without the condition nothing bounds "
      "it: a head whose increments are 0 attends evenly, and of n = 64 keys those at distances >= "
      "4 have 60/64; the share grows to 1 with n.";
  claim.derived = Verdict::holds_under_condition;
  claim.checks = [] {
    return together(
        {for_all(Role::statement,
                 "1/2 - attention at distances >= 4 of 64 keys >= 0, increments >= 0",
                 Window<false>{}, {even(64, 1, 4), even(64, 0, 4)}),
         for_all(Role::condition,
                 "e^(-g a W) / (1 - e^(-g a)) - attention at distances >= W >= 0, increments >= a",
                 Window<true>{}, windows(1))});
  };
  claim.mutant = "A quarter of the bound of the condition.";
  claim.mutant_checks = [] {
    return for_all(Role::statement, "a quarter of the bound - attention at distances >= W >= 0",
                   Window<true>{}, windows(0.25));
  };
  claim.implicit = {
      needed(
          "The content scores of the row are equal; if they differ by at most D, the bound grows "
          "by the factor e^D.",
          "A far key with enough content outweighs the bias.",
          [] {
            return for_all(Role::statement,
                           "e^(-g a W)/(1 - e^(-g a)) - attention at distances >= W >= 0",
                           WindowOf<Row::far_content>{},
                           {even(8, 1, 4).with("a", {1}).with("content of the farthest key", {9})});
          })
          .where("content of the farthest key", exactly(0)),
      needed("Increments are negated, as in the published code (cable/penalises_distance).",
             "With the printed sign the farthest key gets most.",
             [] {
               return for_all(Role::statement,
                              "printed sign: e^(-g a W)/(1 - e^(-g a)) - attention >= W >= 0",
                              WindowOf<Row::printed_sign>{}, {even(8, 1, 4).with("a", {1})});
             }),
      not_needed("Attention is causal: j <= i.",
                 "With keys on both sides and B_ij = -g |S_i - S_j| twice the bound serves.", [] {
                   return for_all(
                       Role::statement,
                       "query in the middle: 2 e^(-g a W)/(1 - e^(-g a)) - attention >= W >= 0",
                       WindowOf<Row::both_sides>{},
                       {even(9, 3, 1).with("a", {3}), even(65, 0.25, 4).with("a", {0.25})});
                 })};
  claim.conditions = {
      needed("There is an a > 0 below every increment.", "Increments of 0 give even attention.",
             [] {
               return for_all(Role::statement, "1/2 - attention at distances >= 4 of 64 keys >= 0",
                              Window<false>{}, {even(64, 0, 4)});
             })
          .where("f", above(0)),
      needed("The weight is bounded from below.", "A tiny weight gives nearly even attention.", [] {
        return for_all(
            Role::statement, "1/2 - attention at distances >= 4 of 64 keys >= 0", Window<false>{},
            {Sample{}.with("f", std::vector<double>(64, 1)).with("g", {0x1p-20}).with("W", {4})});
      }).where("g", at_least(0x1p-6))};
  return claim;
}

}  // namespace plumbline::proofs_checks::cable
