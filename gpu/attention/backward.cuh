// SPDX-License-Identifier: Apache-2.0
// The backward pass from host memory to host memory.
#ifndef PLUMBLINE_GPU_ATTENTION_BACKWARD_CUH
#define PLUMBLINE_GPU_ATTENTION_BACKWARD_CUH

#include "attention/attention.cuh"
#include "plumbline_kernel.h"

namespace plumbline::gpu {

/// By kernels.backward_keys and backward_queries: two kernels that add up in a fixed order, so that
/// every run gives the same bits, or, with kernels.atomic, the second alone, which adds dK, dV and
/// the keys' side of dS by atomic additions. Device memory beside the inputs and the gradients is
/// O(batch heads (queries + keys) head_dim): no matrix of scores. Throws InvalidProblem (as
/// check_problem; o, lse, grad_o or grad_lse missing), DamagedCanary, and what a launch throws.
void run_backward(const plumbline_problem& problem, const plumbline_gradients& gradients,
                  const AttentionKernels& kernels);

}  // namespace plumbline::gpu

#endif
