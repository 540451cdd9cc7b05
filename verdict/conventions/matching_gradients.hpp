// SPDX-License-Identifier: Apache-2.0
// Which convention of the backward pass gradients match, where o and lse are right.
#pragma once

#include <vector>

#include "verdict/conventions/gradient_convention.hpp"
#include "verdict/conventions/matching.hpp"

namespace plumbline::verdict {

/// The conventions by which every gradient is what it is, in one case after the other. A convention
/// of the forward pass is one of the backward pass too, where that alone follows it.
class GradientSearch {
 public:
  GradientSearch();
  void consider(const Evidence& evidence, const Contract& contract, int threads);
  bool any_left() const { return !candidates_.empty(); }
  std::vector<Match> matches() const;

 private:
  struct Candidate {
    GradientConvention convention;
    double bits = 0;
  };
  std::vector<Candidate> candidates_;
};

}  // namespace plumbline::verdict
