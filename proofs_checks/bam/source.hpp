// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "proofs_checks/claims.hpp"

namespace plumbline::proofs_checks::bam {

/// The manuscript that every claim in this folder is from.
inline Source source(const std::string& place) {
  return {
      "Bayesian Attention Mechanism: A Probabilistic Framework for Positional Encoding and Context "
      "Length Extrapolation",
      "anonymous manuscript under double-blind review", place};
}

/// Hypotheses that all of them share and none states, and more of them.
inline std::vector<Hypothesis> shared_hypotheses(const std::vector<Hypothesis>& more = {}) {
  std::vector<Hypothesis> all = {
      definition(
          "The keys are finitely many and at least one: the visible keys, one index set for all "
          "three softmaxes (a mask is part of the index set, not a score of minus infinity).",
          "A softmax over no keys is 0/0, and one over infinitely many need not converge."),
      definition("All scores are finite reals.",
                 "e^inf / e^inf has no value; a score of minus infinity takes its key out of the "
                 "index set.")};
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

}  // namespace plumbline::proofs_checks::bam
