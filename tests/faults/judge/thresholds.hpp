// SPDX-License-Identifier: Apache-2.0
// The smallest error that is seen: faults with a size, made smaller until they pass.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "tests/faults/judge/fault.hpp"
#include "verdict/cases/spec.hpp"

namespace plumbline::bench {

struct Threshold {
  const char* what;  ///< what is off by this part
  cases::Format format;
  double smallest = 0;  ///< caught in every seed's case; infinite where not even 8 is
  std::string spec;     ///< of the first case
};

/// Steps of a factor sqrt(2) from 2^-26 to 8; bisected, for a larger error is seen where a smaller
/// one is. @param seeds how many cases each; the largest of their smallest errors counts.
std::vector<Threshold> smallest_errors(std::uint64_t seed, int seeds, int threads);

}  // namespace plumbline::bench
