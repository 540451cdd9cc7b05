// SPDX-License-Identifier: Apache-2.0
#include "proofs_checks/bam/claims.hpp"
#include "proofs_checks/bam/source.hpp"
#include "proofs_checks/samples.hpp"
#include "proofs_checks/statement.hpp"
#include "reference/attention/softmax.hpp"
#include "reference/bias/ggd.hpp"

namespace plumbline::proofs_checks::bam {
namespace {

/// The last query's weights with the prior less those without any, at every key.
struct WeightsAreThoseOfNope {
  static constexpr Relation relation = Relation::equals_zero;
  template <class R>
  std::vector<Placed<R>> operator()(const Inputs<R>& in) const {
    const reference::Ggd<R> bias(in.number("theta_alpha"), in.number("theta_beta"),
                                 in.number("theta_mu"), R(1e-5));
    const reference::Vector<R>& f = in["f"];
    const int last = static_cast<int>(f.size()) - 1;
    reference::Vector<R> logits = f;
    for (int j = 0; j <= last; ++j) logits[j] += bias(last, j);
    const auto with = reference::softmax(logits).probability;
    const auto without = reference::softmax(f).probability;
    std::vector<Placed<R>> residuals;
    for (int j = 0; j <= last; ++j)
      residuals.push_back({with[j] - without[j], "j = " + std::to_string(j)});
    return residuals;
  }
};

std::vector<Sample> contents_of_beta_zero_uniform(double beta) {
  std::vector<Sample> samples;
  for (const auto& [alpha, mu] : {std::pair{0.0, 0.0}, {1.5, 0.0}, {-2.0, 0.5}}) {
    for (const Sample& pair : score_pairs(true, 10)) {
      samples.push_back(Sample{}
                            .with("f", pair.quantities.front().lower)
                            .with("theta_alpha", {alpha})
                            .with("theta_beta", {beta})
                            .with("theta_mu", {mu}));
    }
  }
  return samples;
}

}  // namespace

Claim beta_zero_uniform() {
  Claim claim;
  claim.id = "bam/beta_zero_uniform";
  claim.title = "theta_beta = 0 and theta_alpha = 0 is a uniform prior";
  claim.source = source("Appendix H.1");
  claim.statement =
      "The initialization theta_beta = 0, theta_alpha = 0 \"is equivalent to assigning a Uniform "
      "prior to all tokens in the context\".";
  claim.correction =
      "It holds for every theta_alpha and theta_mu as well: the bias is -e^theta_alpha everywhere. "
      "Where theta_beta = 0, theta_alpha therefore has no effect, and no gradient through the "
      "weights.";
  claim.derivation =
      "(|j - i - mu| + epsilon)^0 = 1, so b_ij = -e^theta_alpha for all keys of a row; a constant "
      "leaves a softmax unchanged.";
  claim.derived = Verdict::holds;
  claim.checks = [] {
    return for_all(Role::statement, "softmax(f + b)_j - softmax(f)_j = 0", WeightsAreThoseOfNope{},
                   contents_of_beta_zero_uniform(0));
  };
  claim.mutant = "theta_beta = 1/8 is uniform too.";
  claim.mutant_checks = [] {
    return for_all(Role::statement, "theta_beta = 1/8: the same", WeightsAreThoseOfNope{},
                   contents_of_beta_zero_uniform(0.125));
  };
  claim.hypotheses = {needed("theta_beta = 0, b_ij as in appendix C.",
                             "Another power depends on the distance.", claim.mutant_checks)
                          .where("theta_beta", exactly(0)),
                      not_needed("theta_alpha = 0.", "The constant -e^theta_alpha cancels.", [] {
                        return for_all(Role::statement,
                                       "theta_alpha = 3/2: softmax(f + b)_j - softmax(f)_j = 0",
                                       WeightsAreThoseOfNope{},
                                       {Sample{}
                                            .with("f", {1, 0, -2})
                                            .with("theta_alpha", {1.5})
                                            .with("theta_beta", {0})
                                            .with("theta_mu", {0})});
                      }).where("theta_alpha", exactly(0))};
  claim.implicit = {definition("epsilon > 0, which makes the power of the own key 1 and not 0^0.",
                               "0^0 has no value that all agree on."),
                    definition("Uniform over the visible keys.",
                               "It says what \"all tokens in the context\" are.")};
  return claim;
}

}  // namespace plumbline::proofs_checks::bam
