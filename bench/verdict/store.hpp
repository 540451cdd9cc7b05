// SPDX-License-Identifier: Apache-2.0
// From the kernel's results to the arrays that it was given, and the faults that happen there.
#pragma once

#include <cstddef>
#include <vector>

#include "bench/verdict/problem.hpp"

namespace plumbline::bench {

/// Faults of whole outputs. `o` of the forward pass and of decoding.
void spoil_forward(std::vector<float>& o, std::vector<float>& lse, const Problem& in,
                   const Fault& fault);
void spoil_gradients(std::vector<float>& dq, std::vector<float>& dk, std::vector<float>& dv,
                     const Problem& in, const Fault& fault);

/// Stores the numbers in the format, from the first on, but for the `unwritten` last ones.
void store(const std::vector<float>& values, void* to, int format, bool truncates,
           std::size_t unwritten = 0);

}  // namespace plumbline::bench
