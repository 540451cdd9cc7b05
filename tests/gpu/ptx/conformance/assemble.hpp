// SPDX-License-Identifier: Apache-2.0
// What ptxas says of the programs: it knows which forms exist, and for which targets.
#ifndef PLUMBLINE_TESTS_GPU_PTX_CONFORMANCE_ASSEMBLE_HPP
#define PLUMBLINE_TESTS_GPU_PTX_CONFORMANCE_ASSEMBLE_HPP

#include <set>
#include <string>
#include <vector>

#include "tests/gpu/ptx/conformance/experiment.hpp"

namespace plumbline::ptx::conformance {

/// What ptxas says against each, by form; empty: nothing. One call for each target and version.
std::vector<std::string> assembled(const std::string& ptxas,
                                   const std::vector<Experiment>& experiments);

/// The forms that ptxas refuses where this is their target, "sm_80".
std::set<std::string> refused_for(const std::string& ptxas, const std::string& target,
                                  const std::vector<Experiment>& experiments);

}  // namespace plumbline::ptx::conformance

#endif
