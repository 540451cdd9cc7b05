// SPDX-License-Identifier: Apache-2.0
// From host memory to host memory: what the kernel library does around a rung.
#ifndef PLUMBLINE_GPU_ATTENTION_FORWARD_CUH
#define PLUMBLINE_GPU_ATTENTION_FORWARD_CUH

#include <stdexcept>
#include <string>

#include "attention/rungs.cuh"

namespace plumbline::gpu {

/// The problem cannot be run as it stands.
class InvalidProblem : public std::invalid_argument {
 public:
  using std::invalid_argument::invalid_argument;
};

/// A kernel wrote outside of its output.
class DamagedCanary : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Why the shapes, format and bias of `problem` cannot be run, or an empty string. Pointers are not
/// looked at.
std::string unsupported_reason(const plumbline_forward& problem);

/// Copies the inputs to the device, runs prefix sum, visible counts and the rung, copies o and lse
/// back. The caller's content of o and lse goes to the device first, so that what the kernel leaves
/// out keeps it.
/// Throws InvalidProblem (shapes as `unsupported_reason`, missing pointers, lengths outside
/// 0 .. keys), DamagedCanary, and what a launch throws.
template <class Element>
void run_forward(const plumbline_forward& problem,
                 void (*rung)(const Stream&, const Forward<Element>&));

}  // namespace plumbline::gpu

#endif
