// SPDX-License-Identifier: Apache-2.0
#include <stdexcept>

#include "attention/variants.cuh"

namespace plumbline::gpu {

void wgmma_forward(const Stream& stream, const Task& task, const Outputs& outputs) {
  switch (task.problem.format) {
    case Format::bf16:
      return wgmma_forward_in<bfloat16>(stream, task, outputs);
    case Format::fp16:
      return wgmma_forward_in<float16>(stream, task, outputs);
    case Format::tf32:
    case Format::fp32:
      break;
  }
  throw std::invalid_argument("wgmma takes bf16 or fp16");
}

bool device_has_wgmma() {
  int device = 0, major = 0, minor = 0;
  check(cudaGetDevice(&device));
  check(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device));
  check(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device));
  return major == 9 && minor == 0;
}

}  // namespace plumbline::gpu
