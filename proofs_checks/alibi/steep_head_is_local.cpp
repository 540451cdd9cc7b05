// SPDX-License-Identifier: Apache-2.0
#include "proofs_checks/alibi/claims.hpp"
#include "proofs_checks/alibi/rows.hpp"
#include "proofs_checks/alibi/source.hpp"
#include "proofs_checks/pictures/pictures.hpp"
#include "reference/core/primitives.hpp"

namespace plumbline::proofs_checks::alibi {
namespace {

struct LocalShare {
  static constexpr Relation relation = Relation::above_zero;
  template <class R>
  std::vector<R> operator()(const Inputs<R>& in) const {
    const int keys = static_cast<int>(reference::representative(in.number("keys")));
    const auto p = weights_by_distance(in.number("m"), keys);
    R near(0.0);
    for (int d = 0; d < 10; ++d) near += p[d];
    return {near - R(99.0) / R(100.0)};
  }
};

std::vector<Sample> lengths(double m) {
  std::vector<Sample> samples;
  for (double keys : {11, 20, 100, 400})
    samples.push_back(Sample{}.with("keys", {keys}).with("m", {m}));
  return samples;
}

struct LocalShareWithContent {
  static constexpr Relation relation = Relation::above_zero;
  template <class R>
  std::vector<R> operator()(const Inputs<R>& in) const {
    const int keys = static_cast<int>(reference::representative(in.number("keys")));
    const reference::Alibi<R> bias{in.number("m")};
    reference::Vector<R> logits(keys);
    for (int d = 0; d < keys; ++d) logits[d] = bias(d, 0);
    logits[keys - 1] += in.number("content of the farthest key");
    const auto p = reference::softmax(logits).probability;
    R near(0.0);
    for (int d = 0; d < 10; ++d) near += p[d];
    return {near - R(99.0) / R(100.0)};
  }
};

}  // namespace

Claim steep_head_is_local() {
  Claim claim;
  claim.id = "alibi/steep_head_is_local";
  claim.title = "A large slope focuses on very local context";
  claim.source = source("Intuition; technical details");
  claim.statement =
      "With a large slope (1/2) the head focuses only on very local context, the last few words: "
      "for equal content, the ten nearest keys get more than 99 percent of the attention, at every "
      "length.";
  claim.derivation =
      "The keys at distances >= 10 get (e^(-5) - e^(-n/2))/(1 - e^(-n/2)) < e^(-5) = 0.0067 of n "
      "keys.";
  claim.derived = Verdict::holds;
  claim.checks = [] {
    return for_all(Role::statement, "attention at distances 0..9 - 0.99 > 0, m = 1/2", LocalShare{},
                   lengths(0.5));
  };
  claim.pictures = {pictures::steep_and_gentle};
  claim.mutant = "The same of the slope 1/16.";
  claim.mutant_checks = [] {
    return for_all(Role::statement, "attention at distances 0..9 - 0.99 > 0, m = 1/16",
                   LocalShare{}, lengths(0.0625));
  };
  claim.hypotheses = {needed("The slope is large: 1/2 or more.", "A smaller slope reaches farther.",
                             claim.mutant_checks)
                          .where("m", at_least(0.5))};
  claim.implicit = {
      needed("The content scores are equal; if they differ by at most D, the far keys get at most "
             "e^D times as much.",
             "A far key with enough content gets most of the attention.",
             [] {
               return for_all(
                   Role::statement,
                   "attention at distances 0..9 - 0.99 > 0, the farthest key has content",
                   LocalShareWithContent{},
                   {Sample{}
                        .with("keys", {20})
                        .with("m", {0.5})
                        .with("content of the farthest key", {12})});
             })
          .where("content of the farthest key", exactly(0)),
      definition("\"The last few\" is read as ten, \"only\" as 99 percent.",
                 "Without numbers there is nothing to check.")};
  return claim;
}

}  // namespace plumbline::proofs_checks::alibi
