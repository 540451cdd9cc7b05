// SPDX-License-Identifier: Apache-2.0
#include "proofs_checks/cable/biases.hpp"
#include "proofs_checks/cable/claims.hpp"
#include "proofs_checks/cable/source.hpp"
#include "proofs_checks/pictures/pictures.hpp"
#include "proofs_checks/samples.hpp"
#include "reference/attention/softmax.hpp"
#include "reference/bias/k_cable.hpp"

namespace plumbline::proofs_checks::cable {
namespace {

template <int sign>
struct MoreBeyond {
  static constexpr Relation relation = Relation::at_least_zero;
  template <class R>
  std::vector<Placed<R>> operator()(const Inputs<R>& in) const {
    const auto sums = reference::prefix_sum(in["f"]);
    const auto gain = same_gain<R>(in.number("g"), sums.size());
    const reference::Cable<R> plain{sums, gain};
    const reference::KCable<R> kernel{sums, gain};
    const int keys = static_cast<int>(sums.size());
    reference::Vector<R> logits(keys), kernel_logits(keys);
    for (int j = 0; j < keys; ++j) {
      logits[j] = in["content"][j] + plain(keys - 1, j);
      kernel_logits[j] = in["content"][j] + kernel(keys - 1, j);
    }
    const auto p = reference::softmax(logits).probability,
               q = reference::softmax(kernel_logits).probability;
    std::vector<Placed<R>> residuals;
    R difference(0.0);
    for (int j = 0; j + 1 < keys; ++j) {
      difference += q[j] - p[j];
      residuals.push_back(
          {R(static_cast<double>(sign)) * difference, "W = " + std::to_string(keys - 1 - j)});
    }
    return residuals;
  }
};

/// Increments and weights with content scores that favour the near key, the far key, or none.
std::vector<Sample> rows_of_scores() {
  std::vector<Sample> samples;
  for (const Sample& s : increments_and_gains(false, 30)) {
    const std::size_t keys = s.quantities[0].lower.size();
    std::vector<double> rising(keys), falling(keys);
    for (std::size_t j = 0; j < keys; ++j)
      falling[j] = -(rising[j] = 0.75 * static_cast<double>(j));
    samples.push_back(Sample{s}.with("content", std::vector<double>(keys, 0)));
    samples.push_back(Sample{s}.with("content", rising));
    samples.push_back(Sample{s}.with("content", falling));
  }
  return samples;
}

struct MoreBeyondOnBothSides {
  static constexpr Relation relation = Relation::at_least_zero;
  template <class R>
  std::vector<R> operator()(const Inputs<R>& in) const {
    const auto sums = reference::prefix_sum(in["f"]);
    const auto gain = same_gain<R>(in.number("g"), sums.size());
    const reference::Cable<R> plain{sums, gain};
    const reference::KCable<R> kernel{sums, gain};
    reference::Vector<R> logits(4), kernel_logits(4);
    for (int j = 0; j < 4; ++j) {
      logits[j] = plain(1, j);
      kernel_logits[j] = kernel(1, j);
    }
    return {reference::softmax(kernel_logits).probability[3] -
            reference::softmax(logits).probability[3]};
  }
};

}  // namespace

Claim k_cable_less_window() {
  Claim claim;
  claim.id = "cable/k_cable_less_window";
  claim.title = "K-CABLE behaves less like a sliding window";
  claim.source = source("Section 5.6");
  claim.statement =
      "K-CABLE behaves less like a sliding window than CABLE: for the same scores, increments and "
      "weights, the attention to all keys at a distance of W or more is at least that of CABLE, "
      "for every W.";
  claim.derivation =
      "With b = S_i - S_j and g outside of the kernel, the weights of a key under both are in the "
      "ratio e^(g (b - ln(1 + b^2))), times one constant of the row. b - ln(1 + b^2) does not "
      "decrease (its derivative is (1 - b)^2/(1 + b^2)), and b does not decrease with distance, so "
      "the ratio does not either: K-CABLE moves attention from nearer to farther keys only. Sums "
      "over the keys beyond W then do not decrease. The argument uses nothing of the content "
      "scores; with g inside of the kernel it is the same with b = g (S_i - S_j).";
  claim.derived = Verdict::holds;
  claim.checks = [] {
    return for_all(Role::statement,
                   "attention at distances >= W under K-CABLE minus that under CABLE >= 0, every W",
                   MoreBeyond<1>{}, rows_of_scores());
  };
  claim.pictures = {pictures::k_cable_window};
  claim.mutant = "It is the other way round.";
  claim.mutant_checks = [] {
    return for_all(Role::statement,
                   "attention at distances >= W under CABLE minus that under K-CABLE >= 0, every W",
                   MoreBeyond<-1>{}, rows_of_scores());
  };
  claim.hypotheses = {
      needed("The weight g is above 0 (eq. 6).",
             "A negative weight turns the ratio of the two weights around.",
             [] {
               return for_all(
                   Role::statement, "attention at distances >= W, K-CABLE minus CABLE, with g = -1",
                   MoreBeyond<1>{},
                   {Sample{}.with("f", {1, 3, 3}).with("g", {-1}).with("content", {0, 0, 0})});
             })
          .where("g", above(0))};
  claim.implicit = {
      definition(
          "The same scores, increments and weights: the comparison is of the formulas, not of "
          "two trained models.",
          "It says what is compared."),
      needed("Attention is causal: j <= i.",
             "A large increment on one side moves attention to that side, also to its nearest key.",
             [] {
               return for_all(Role::statement,
                              "attention of the second of four tokens at distance 2 or more, "
                              "K-CABLE minus CABLE",
                              MoreBeyondOnBothSides{},
                              {Sample{}.with("f", {1, 5, 0, 0}).with("g", {1})});
             })};
  return claim;
}

}  // namespace plumbline::proofs_checks::cable
