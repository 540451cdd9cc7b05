// SPDX-License-Identifier: Apache-2.0
#include "attention/3_fused_forward.cuh"

namespace plumbline::gpu {

void fused_forward(const Stream& stream, const Task& task, const Outputs& outputs) {
  dispatch<fused::Rung>(stream, task, outputs);
}

}  // namespace plumbline::gpu
