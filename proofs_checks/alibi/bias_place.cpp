// SPDX-License-Identifier: Apache-2.0
#include "proofs_checks/alibi/claims.hpp"
#include "proofs_checks/alibi/source.hpp"
#include "proofs_checks/statement.hpp"
#include "reference/core/primitives.hpp"

namespace plumbline::proofs_checks::alibi {
namespace {

/// (q . k + b) / sqrt(d) - (q . k / sqrt(d) + b); for the mutant without the scale on the left.
template <bool mutant>
struct BeforeOrAfterScaling {
  static constexpr Relation relation = Relation::equals_zero;
  template <class R>
  std::vector<R> operator()(const Inputs<R>& in) const {
    const R root = reference::sqrt(in.number("d_k")), &product = in.number("q . k"),
            &b = in.number("b");
    return {(mutant ? product + b : (product + b) / root) - (product / root + b)};
  }
};

std::vector<Sample> pairs(double width) {
  return {Sample{}.with("q . k", {16}).with("b", {-0.5}).with("d_k", {width}),
          Sample{}.with("q . k", {-3}).with("b", {-8}).with("d_k", {width})};
}

}  // namespace

Claim bias_place() {
  Claim claim;
  claim.id = "alibi/bias_place";
  claim.title = "The bias is added directly to the product of query and key";
  claim.source = source("Technical details, sentence before the formula, against the formula");
  claim.statement =
      "\"Adding a static, non-learned bias matrix directly to the QK^T term before the softmax\" "
      "is "
      "the formula softmax(QK^T/sqrt(d_k) + bias): (q . k + b)/sqrt(d_k) = q . k/sqrt(d_k) + b.";
  claim.implicit = {
      definition("The scores are scaled by 1/sqrt(d_k), as in the article's first "
                 "formula.",
                 "Without a scale there are no two places.")};
  claim.condition = "The \"QK^T term\" is the scaled one, or d_k = 1.";
  claim.derivation =
      "The two differ by b (1/sqrt(d_k) - 1). With d_k = 64 the bias would be an eighth of what "
      "the "
      "formula has, and slopes of 1/2 to 1/256 would be 1/16 to 1/2048. The article's code adds it "
      "after scaling.";
  claim.derived = Verdict::holds_under_condition;
  claim.checks = [] {
    return together({for_all(Role::statement, "(q . k + b)/sqrt(d_k) - (q . k/sqrt(d_k) + b) = 0",
                             BeforeOrAfterScaling<false>{}, pairs(64)),
                     for_all(Role::condition, "the same for d_k = 1", BeforeOrAfterScaling<false>{},
                             pairs(1))});
  };
  claim.mutant = "Nothing needs to be scaled at all: q . k + b.";
  claim.mutant_checks = [] {
    return for_all(Role::statement, "q . k + b - (q . k/sqrt(d_k) + b) = 0",
                   BeforeOrAfterScaling<true>{}, pairs(4));
  };
  return claim;
}

}  // namespace plumbline::proofs_checks::alibi
