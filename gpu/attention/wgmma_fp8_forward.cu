// SPDX-License-Identifier: Apache-2.0
#include "attention/wgmma_fp8_forward.cuh"

namespace plumbline::gpu {

void wgmma_fp8_forward(const Stream& stream, const Task& task, const Fp8Arrays& arrays,
                       const Outputs& outputs) {
  wgmma_kernels::dispatch<wgmma_kernels::Fp8Forward>(stream, task, arrays, outputs);
}

}  // namespace plumbline::gpu
