// SPDX-License-Identifier: Apache-2.0
// Which stretches of a claim's text are formulas.
#pragma once

#include <cstddef>
#include <vector>

#include "proofs_checks/formula/tokens.hpp"

namespace plumbline::proofs_checks::formula {

/// Tokens first..last-1: prose, or one formula.
struct Run {
  bool formula;
  std::size_t first, last;
};

/// The runs cover all tokens in order. Brackets of a formula stand in pairs; a bracket around words
/// is prose, as are numbers that nothing is done to (eqs 2-7).
std::vector<Run> runs(const std::vector<Token>&);

}  // namespace plumbline::proofs_checks::formula
