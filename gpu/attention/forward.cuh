// SPDX-License-Identifier: Apache-2.0
// From host memory to host memory: what the kernel library does around a variant.
#ifndef PLUMBLINE_GPU_ATTENTION_FORWARD_CUH
#define PLUMBLINE_GPU_ATTENTION_FORWARD_CUH

#include "attention/attention.cuh"
#include "attention/variants.cuh"
#include "plumbline_kernel.h"

namespace plumbline::gpu {

/// Copies the inputs to the device, runs prefix sum, visible counts and kernels.forward, copies o
/// and lse back. The caller's content of o and lse goes to the device first, so that what the
/// kernel leaves out keeps it. Throws InvalidProblem (as check_problem; o or lse missing),
/// DamagedCanary, and what a launch throws.
void run_forward(const plumbline_problem& problem, const plumbline_outputs& outputs,
                 const AttentionKernels& kernels);

/// The same of a problem in fp8 without strides, by kernels of bf16: Fp8Inputs come before them.
void run_fp8_forward(const plumbline_problem& problem, const plumbline_outputs& outputs,
                     const AttentionKernels& kernels);

#if PLUMBLINE_ON_GPU
/// The same of a problem in e4m3 by wgmma_fp8_forward.
void run_fp8_forward_by_wgmma(const plumbline_problem& problem, const plumbline_outputs& outputs);
#endif

}  // namespace plumbline::gpu

#endif
