// SPDX-License-Identifier: Apache-2.0
// From the kernel's results to the arrays that it was given, and the faults that happen there.
#pragma once

#include <cstddef>
#include <vector>

#include "tests/faults/judge/problem.hpp"

namespace plumbline::bench {

/// Faults of whole outputs. `o` of the forward pass and of decoding. Float or double.
template <class Real>
void spoil_forward(std::vector<Real>& o, std::vector<Real>& lse, const Problem& in,
                   const Fault& fault);
template <class Real>
void spoil_gradients(std::vector<Real>& dq, std::vector<Real>& dk, std::vector<Real>& dv,
                     const Problem& in, const Fault& fault);

/// Stores the numbers in the format where the rows lie, from the first on, but for the `unwritten`
/// last ones.
void store(const std::vector<float>& values, void* to, int format, bool truncates, const Rows& rows,
           std::size_t unwritten = 0);

}  // namespace plumbline::bench
