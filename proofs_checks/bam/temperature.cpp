// SPDX-License-Identifier: Apache-2.0
#include "proofs_checks/bam/claims.hpp"
#include "proofs_checks/bam/normalisers.hpp"
#include "proofs_checks/samples.hpp"

namespace plumbline::proofs_checks::bam {
namespace {

/// The largest weight of softmax((gamma + 1/8)(f + g)) less that of softmax(gamma (f + g)); for the
/// mutant the first key's weight, largest or not.
template <bool mutant>
struct LargestWeightGrows {
  static constexpr Relation relation = Relation::at_least_zero;
  template <class R>
  std::vector<R> operator()(const Inputs<R>& in) const {
    const auto weight = [&](const R& gamma) {
      reference::Vector<R> logits = in["f"] + in["g"];
      for (R& logit : logits) logit = gamma * logit;
      const auto p = reference::softmax(logits).probability;
      R largest = p[0];
      if (!mutant) {
        for (const R& other : p) largest = reference::maximum(largest, other);
      }
      return largest;
    };
    const R& gamma = in.number("gamma");
    return {weight(gamma + R(0.125)) - weight(gamma)};
  }
};

std::vector<Sample> rows_of_temperature() {
  std::vector<Sample> samples;
  for (double gamma : {0.0, 0.5, 1.0, 3.0}) {
    for (Sample pair : score_pairs(true, 20)) samples.push_back(pair.with("gamma", {gamma}));
  }
  return samples;
}

}  // namespace

Claim temperature() {
  Claim claim;
  claim.id = "bam/temperature";
  claim.title = "The inverse temperature gamma controls how sharply attention peaks";
  claim.source = source("Appendix K.1, last formula");
  claim.statement =
      "With p_ij proportional to exp(gamma (f_j + g_j)), gamma controls the sharpness: the largest "
      "weight does not fall as gamma grows.";
  claim.derivation =
      "For the key of the largest score x, d ln p/d gamma = x - sum_z p_z x_z >= 0: the largest "
      "score is at least the mean. From gamma = 0 (uniform) to gamma -> infinity (the largest key, "
      "or equal shares of several).";
  claim.derived = Verdict::holds;
  claim.checks = [] {
    return for_all(Role::statement, "max p at gamma + 1/8 - max p at gamma >= 0",
                   LargestWeightGrows<false>{}, rows_of_temperature());
  };
  claim.mutant = "Every key's weight grows with gamma.";
  claim.mutant_checks = [] {
    return for_all(Role::statement, "p_0 at gamma + 1/8 - p_0 at gamma >= 0",
                   LargestWeightGrows<true>{}, rows_of_temperature());
  };
  claim.implicit = shared_hypotheses();

  claim.hypotheses = {
      needed("gamma >= 0.", "Below 0 a smaller gamma is the sharper one.", [] {
        return for_all(Role::statement, "gamma = -1: max p at -7/8 - max p at -1 >= 0",
                       LargestWeightGrows<false>{}, {scores({1, 0}, {2, 0}).with("gamma", {-1})});
      }).where("gamma", at_least(0))};
  return claim;
}

}  // namespace plumbline::proofs_checks::bam
