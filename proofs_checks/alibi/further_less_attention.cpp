// SPDX-License-Identifier: Apache-2.0
#include "proofs_checks/alibi/claims.hpp"
#include "proofs_checks/alibi/source.hpp"
#include "proofs_checks/statement.hpp"
#include "reference/attention/softmax.hpp"
#include "reference/bias/alibi.hpp"
#include "reference/core/primitives.hpp"

namespace plumbline::proofs_checks::alibi {
namespace {

struct NearerGetsMore {
  static constexpr Relation relation = Relation::at_least_zero;
  template <class R>
  std::vector<Placed<R>> operator()(const Inputs<R>& in) const {
    const auto& content = in["content"];
    const int keys = static_cast<int>(content.size());
    const reference::Alibi<R> bias{in.number("m")};
    reference::Vector<R> logits(keys);
    for (int j = 0; j < keys; ++j) logits[j] = content[j] + bias(keys - 1, j);
    const auto p = reference::softmax(logits).probability;
    std::vector<Placed<R>> residuals;
    for (int j = 0; j + 1 < keys; ++j) {
      residuals.push_back({p[j + 1] - p[j], "j = " + std::to_string(j)});
    }
    return residuals;
  }
};

std::vector<Sample> rows(const std::vector<std::vector<double>>& contents) {
  std::vector<Sample> samples;
  for (const auto& content : contents)
    samples.push_back(Sample{}.with("content", content).with("m", {0.5}));
  return samples;
}

struct NearerGetsMoreOfBothSides {
  static constexpr Relation relation = Relation::at_least_zero;
  template <class R>
  std::vector<R> operator()(const Inputs<R>& in) const {
    const reference::Alibi<R> bias{in.number("m")};
    reference::Vector<R> logits(6);
    for (int j = 0; j < 6; ++j) logits[j] = bias(3, j);
    const auto p = reference::softmax(logits).probability;
    return {p[1] - p[0], p[2] - p[1], p[3] - p[2]};
  }
};

}  // namespace

Claim further_less_attention() {
  Claim claim;
  claim.id = "alibi/further_less_attention";
  claim.title = "The further apart the words, the less attention";
  claim.source = source("Intuition");
  claim.statement =
      "The further apart the words, the larger the penalty, and the less attention they will pay "
      "to each other: p_ij <= p_i,j+1 for j < i.";
  claim.condition =
      "The content scores are equal (or rise towards the query, or fall by at most m a step).";
  claim.derivation =
      "The penalty m |i - j| does grow with distance. The attention also depends on the content: "
      "with slope 1/2, a content score of 4 at distance 1 and 0 at distance 0 the farther key gets "
      "e^3.5 = 33 times the weight. For equal content p falls in every step by e^(-m).";
  claim.derived = Verdict::holds_under_condition;
  claim.checks = [] {
    return together(
        {for_all(Role::statement, "p_i,j+1 - p_ij >= 0 for any content", NearerGetsMore{},
                 rows({{0, 0, 0}, {4, 0}, {1, -2, 3, 0}})),
         for_all(Role::condition,
                 "the same for content that is equal, rises, or falls by at most m a step",
                 NearerGetsMore{}, rows({{0, 0}, {2, 2, 2, 2}, {0, 1, 5}, {1, 0.5, 0}}))});
  };
  claim.mutant = "The content scores may fall by 1 with every step towards the query.";
  claim.mutant_checks = [] {
    return for_all(Role::statement, "p_i,j+1 - p_ij >= 0 for content that falls by 1",
                   NearerGetsMore{}, rows({{1, 0}, {2, 1, 0}}));
  };
  claim.implicit = {
      definition("\"Attention\" is the weight p_ij; content scores are any reals.",
                 "It says what is compared."),
      not_needed("Attention is causal: j <= i.",
                 "For keys before the query, keys after it change the denominator only.",
                 [] {
                   return for_all(Role::statement,
                                  "p_3,j+1 - p_3j >= 0 for j < 3 of 6 keys of equal content",
                                  NearerGetsMoreOfBothSides{},
                                  {Sample{}.with("m", {0.5}).with("keys after the query", {2})});
                 })
          .where("keys after the query", exactly(0))};
  return claim;
}

}  // namespace plumbline::proofs_checks::alibi
