// SPDX-License-Identifier: Apache-2.0
// Does ptxas accept every program? It knows which forms exist.
#ifndef PLUMBLINE_TESTS_GPU_PTX_CONFORMANCE_ASSEMBLE_HPP
#define PLUMBLINE_TESTS_GPU_PTX_CONFORMANCE_ASSEMBLE_HPP

#include <string>
#include <vector>

#include "tests/gpu/ptx/conformance/experiment.hpp"

namespace plumbline::ptx::conformance {

/// What ptxas says against each, by form; empty: nothing. One call for each target and version.
std::vector<std::string> assembled(const std::string& ptxas,
                                   const std::vector<Experiment>& experiments);

}  // namespace plumbline::ptx::conformance

#endif
