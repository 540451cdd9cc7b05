// SPDX-License-Identifier: Apache-2.0
// Samples that are numbers of heads.
#pragma once

#include <vector>

#include "proofs_checks/statement.hpp"
#include "reference/core/primitives.hpp"

namespace plumbline::proofs_checks {

/// One sample for each count, H.
inline std::vector<Sample> head_counts(const std::vector<double>& counts) {
  std::vector<Sample> samples;
  for (double H : counts) samples.push_back(Sample{}.with("H", {H}));
  return samples;
}

template <class R>
int heads_of(const Inputs<R>& in) {
  return static_cast<int>(reference::representative(in.number("H")));
}

}  // namespace plumbline::proofs_checks
