// SPDX-License-Identifier: Apache-2.0
// What of a pass the kernels for Hopper take; the rest is done by mma.
#include "attention/backward_kernels.cuh"
#include "attention/variants.cuh"

namespace plumbline::gpu {

namespace {

bool takes(const Task& task) {
  const Problem& p = task.problem;
  return (p.format == Format::bf16 || p.format == Format::fp16) && task.head_dim % 64 == 0;
}

}  // namespace

void wgmma_forward(const Stream& stream, const Task& task, const Outputs& outputs) {
  if (!takes(task)) return mma_forward(stream, task, outputs);
  if (task.problem.format == Format::bf16)
    wgmma_forward_in<bfloat16>(stream, task, outputs);
  else
    wgmma_forward_in<float16>(stream, task, outputs);
}

void wgmma_backward_keys(const Stream& stream, const Task& task, const BackwardArrays& arrays) {
  if (!takes(task)) return mma_backward_keys(stream, task, arrays);
  if (task.problem.format == Format::bf16)
    wgmma_backward_keys_in<bfloat16>(stream, task, arrays);
  else
    wgmma_backward_keys_in<float16>(stream, task, arrays);
}

void wgmma_backward_queries(const Stream& stream, const Task& task, const BackwardArrays& arrays) {
  if (!takes(task)) return mma_backward_queries(stream, task, arrays);
  if (task.problem.format == Format::bf16)
    wgmma_backward_queries_in<bfloat16>(stream, task, arrays);
  else
    wgmma_backward_queries_in<float16>(stream, task, arrays);
}

bool device_has_wgmma() {
  int device = 0, major = 0, minor = 0;
  check(cudaGetDevice(&device));
  check(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device));
  check(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device));
  return major == 9 && minor == 0;
}

}  // namespace plumbline::gpu
