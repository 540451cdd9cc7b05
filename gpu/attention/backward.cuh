// SPDX-License-Identifier: Apache-2.0
// The backward pass from host memory to host memory.
#ifndef PLUMBLINE_GPU_ATTENTION_BACKWARD_CUH
#define PLUMBLINE_GPU_ATTENTION_BACKWARD_CUH

#include "attention/backward_kernels.cuh"
#include "plumbline_kernel.h"

namespace plumbline::gpu {

/// With `atomic`, one kernel adds dK, dV and the keys' side of dS by atomic additions; without, two
/// kernels, of which `keys` is the first, add up in a fixed order and every run gives the same
/// bits. Device memory beside the inputs and the gradients is O(batch heads (queries + keys)
/// head_dim): no matrix of scores. Throws InvalidProblem (as check_problem; o, lse or grad_o
/// missing), DamagedCanary, and what a launch throws.
void run_backward(const plumbline_problem& problem, const plumbline_gradients& gradients,
                  bool atomic,
                  void (*keys)(const Stream&, const Task&, const BackwardArrays&) = backward_keys);

}  // namespace plumbline::gpu

#endif
