// SPDX-License-Identifier: Apache-2.0
#include "proofs_checks/cable/claims.hpp"
#include "proofs_checks/cable/source.hpp"
#include "proofs_checks/statement.hpp"
#include "reference/attention/softmax.hpp"
#include "reference/core/primitives.hpp"

namespace plumbline::proofs_checks::cable {
namespace {

template <class R>
reference::Vector<R> attend(const reference::Vector<R>& x, bool causal) {
  reference::Vector<R> out(x.size());
  for (int i = 0; i < x.size(); ++i) {
    const int keys = causal ? i + 1 : static_cast<int>(x.size());
    reference::Vector<R> logits(keys);
    for (int j = 0; j < keys; ++j) logits[j] = x[i] * x[j];
    const auto p = reference::softmax(logits).probability;
    out[i] = R(0.0);
    for (int j = 0; j < keys; ++j) out[i] += p[j] * x[j];
  }
  return out;
}

template <bool causal>
struct Reversed {
  static constexpr Relation relation = Relation::equals_zero;
  template <class R>
  std::vector<Placed<R>> operator()(const Inputs<R>& in) const {
    const reference::Vector<R> reversed = in["x"].reverse();
    const auto out = attend<R>(in["x"], causal), other = attend<R>(reversed, causal);
    std::vector<Placed<R>> residuals;
    const int last = static_cast<int>(out.size()) - 1;
    for (int i = 0; i <= last; ++i)
      residuals.push_back({other[last - i] - out[i], "i = " + std::to_string(i)});
    return residuals;
  }
};

struct SameOutputs {
  static constexpr Relation relation = Relation::equals_zero;
  template <class R>
  std::vector<R> operator()(const Inputs<R>& in) const {
    const auto out = attend<R>(in["x"], false);
    return {out[0] - out[out.size() - 1]};
  }
};

std::vector<Sample> tokens() {
  return {Sample{}.with("x", {1, 2}), Sample{}.with("x", {0.5, -1, 2, 0.25}),
          Sample{}.with("x", {3, -3, 1, 0, -0.5})};
}

/// Without a mask; with a bias by the key's position, or with other queries, keys and values.
template <bool bias>
struct ReversedWith {
  static constexpr Relation relation = Relation::equals_zero;
  template <class R>
  static reference::Vector<R> outputs(const reference::Vector<R>& x) {
    reference::Vector<R> out(x.size()), logits(x.size());
    for (int i = 0; i < x.size(); ++i) {
      for (int j = 0; j < x.size(); ++j) {
        logits[j] = bias ? x[i] * x[j] + R(j) : -(R(2.0) * x[i] * x[j]);
      }
      const auto p = reference::softmax(logits).probability;
      out[i] = R(0.0);
      for (int j = 0; j < x.size(); ++j) out[i] += p[j] * (bias ? x[j] : R(3.0) * x[j]);
    }
    return out;
  }
  template <class R>
  std::vector<Placed<R>> operator()(const Inputs<R>& in) const {
    const reference::Vector<R> reversed = in["x"].reverse();
    const auto out = outputs<R>(in["x"]), other = outputs<R>(reversed);
    std::vector<Placed<R>> residuals;
    const int last = static_cast<int>(out.size()) - 1;
    for (int i = 0; i <= last; ++i)
      residuals.push_back({other[last - i] - out[i], "i = " + std::to_string(i)});
    return residuals;
  }
};

}  // namespace

Claim position_agnostic() {
  Claim claim;
  claim.id = "cable/position_agnostic";
  claim.title = "Attention is position-agnostic";
  claim.source = source("Section 1; section 2 of the first version");
  claim.statement =
      "Transformers are position-agnostic and need position information: without a positional "
      "term, permuting the tokens permutes the outputs of attention and changes nothing else.";
  claim.condition = "No causal mask (an encoder).";
  claim.derivation =
      "out_i = sum_j softmax_j(x_i x_j) x_j is a sum over a set: the order of the keys does not "
      "matter. A causal mask makes the set depend on the position: of the tokens (1, 2) the first "
      "attends to itself only, out = 1; in the order (2, 1) the token 1 attends to both. That is "
      "how decoders without positional encoding can learn positions, as section 2 says of NoPE.";
  claim.derived = Verdict::holds_under_condition;
  claim.checks = [] {
    return together(
        {for_all(Role::statement,
                 "out of the reversed tokens, reversed, minus out = 0, causal mask, out_i = sum_{j "
                 "<= i} softmax_j(x_i x_j) x_j",
                 Reversed<true>{}, tokens()),
         for_all(Role::condition, "the same without a mask", Reversed<false>{}, tokens())});
  };
  claim.mutant = "Without a mask all outputs are the same.";
  claim.mutant_checks = [] {
    return for_all(Role::statement, "out_0 - out_last = 0 without a mask", SameOutputs{}, tokens());
  };
  claim.hypotheses = {
      needed("No positional term.", "A bias by the key's position tells orders apart.", [] {
        return for_all(Role::statement, "without a mask, bias j for key j: the same",
                       ReversedWith<true>{}, tokens());
      })};
  claim.implicit = {not_needed(
      "Queries, keys and values are the tokens themselves, of width 1; the argument is the same "
      "for "
      "any width and weights.",
      "Maps act on each token alone.", [] {
        return for_all(Role::statement, "without a mask, q = 2x, k = -x, v = 3x: the same",
                       ReversedWith<false>{}, tokens());
      })};
  return claim;
}

}  // namespace plumbline::proofs_checks::cable
