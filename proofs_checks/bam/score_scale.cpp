// SPDX-License-Identifier: Apache-2.0
#include "proofs_checks/bam/claims.hpp"
#include "proofs_checks/bam/source.hpp"
#include "proofs_checks/samples.hpp"
#include "proofs_checks/statement.hpp"
#include "reference/attention/softmax.hpp"

namespace plumbline::proofs_checks::bam {
namespace {

/// softmax(x / sqrt(d)) - softmax(x), or for the mutant softmax(x / d) - softmax(x / sqrt(d)).
template <bool mutant>
struct ScaleDoesNotMatter {
  static constexpr Relation relation = Relation::equals_zero;
  template <class R>
  std::vector<Placed<R>> operator()(const Inputs<R>& in) const {
    const R &d = in.number("d"), scale = R(1.0) / reference::sqrt(d);
    const auto weights = [&](const R& factor) {
      reference::Vector<R> x = in["f"];
      for (R& element : x) element = factor * element;
      return reference::softmax(x).probability;
    };
    const auto scaled = weights(scale), other = weights(mutant ? scale * scale : R(1.0));
    std::vector<Placed<R>> residuals;
    for (int j = 0; j < scaled.size(); ++j)
      residuals.push_back({scaled[j] - other[j], "j = " + std::to_string(j)});
    return residuals;
  }
};

std::vector<Sample> products_of_width(double d) {
  std::vector<Sample> samples;
  for (const Sample& pair : score_pairs(false, 10)) {
    samples.push_back(Sample{}.with("f", pair.quantities.front().lower).with("d", {d}));
  }
  return samples;
}

}  // namespace

Claim score_scale() {
  Claim claim;
  claim.id = "bam/score_scale";
  claim.title = "The score is the scaled dot product, and it is q_i K^T + M";
  claim.source =
      source("Section 2.1, after Definition 1, against appendix A and every softmax of the proofs");
  claim.statement =
      "\"The scoring function is the scaled dot product\" (section 2.1) and \"it is a convention "
      "to "
      "denote the scoring function of the non-normalized logits as score(q_i, K) = q_i K^T + M\" "
      "(appendix A) describe the same attention: softmax(q_i K^T / sqrt(d)) = softmax(q_i K^T).";
  claim.condition =
      "The head has width d = 1. (Or 1/sqrt(d) is taken to be part of W_q; then the two agree by "
      "definition, and no proof of the paper depends on it.)";
  claim.derivation =
      "The two softmaxes have the ratios e^((x_j - x_k)/sqrt(d)) and e^(x_j - x_k), which agree "
      "for "
      "every x only if sqrt(d) = 1. Products (0, 0) hide the difference; (1, 0) with d = 48 shows "
      "it. The published code scales.";
  claim.derived = Verdict::holds_under_condition;
  claim.checks = [] {
    return together({for_all(Role::statement, "softmax(x/sqrt(48)) - softmax(x) = 0",
                             ScaleDoesNotMatter<false>{}, products_of_width(48)),
                     for_all(Role::condition, "softmax(x/sqrt(1)) - softmax(x) = 0",
                             ScaleDoesNotMatter<false>{}, products_of_width(1))});
  };
  claim.mutant = "Dividing by d is the same as dividing by sqrt(d).";
  claim.mutant_checks = [] {
    return for_all(Role::statement, "softmax(x/48) - softmax(x/sqrt(48)) = 0",
                   ScaleDoesNotMatter<true>{}, products_of_width(48));
  };
  claim.hypotheses = {definition("q_i and k_j have d components.", "It says what d is.")};
  claim.implicit = {
      definition("q_i in appendix A is the projection x_i W_q itself, as it says there.",
                 "It says what q_i is.")};
  return claim;
}

}  // namespace plumbline::proofs_checks::bam
