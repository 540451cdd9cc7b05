// SPDX-License-Identifier: Apache-2.0
// Conventions of the backward pass, where o and lse are right.
#pragma once

#include <string>
#include <vector>

#include "verdict/cases/case.hpp"
#include "verdict/conventions/convention.hpp"
#include "verdict/oracle/gradient_oracle.hpp"

namespace plumbline::verdict {

/// One case's gradients, and what another convention changes on the way to them and in them.
struct GradientConvention {
  std::string name, words, remedy;
  bool of_natural_lse = false;  ///< not of a contract that has lse to base 2
  bool (*concerns)(const cases::Case&) = nullptr;
  void (*reads)(cases::Case&, cases::Outputs& given) = nullptr;
  /// The same, as a convention of the forward pass has it.
  const Convention* of_forward = nullptr;
  /// The gradients in which what `reads` changes is seen.
  enum { all, all_but_v, k_and_v, k_only, v_only } seen_in = all;
  void (*gives)(OracleGradients&, const cases::Case&) = nullptr;
};

const std::vector<GradientConvention>& conventions_of_gradients();

}  // namespace plumbline::verdict
