// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "proofs_checks/claim.hpp"

namespace plumbline::proofs_checks::bam {

/// The manuscript that every claim in this folder is from.
inline Source source(const std::string& place) {
  return {
      "Bayesian Attention Mechanism: A Probabilistic Framework for Positional Encoding and "
      "Context Length Extrapolation",
      "anonymous manuscript under double-blind review", place};
}

/// Hypotheses that all of them share and none states.
inline std::vector<std::string> shared_hypotheses() {
  return {
      "The keys are finitely many and at least one: the visible keys, one index set for all "
      "three softmaxes (a mask is part of the index set, not a score of minus infinity).",
      "All scores are finite reals."};
}

}  // namespace plumbline::proofs_checks::bam
