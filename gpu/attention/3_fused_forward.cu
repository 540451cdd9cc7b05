// SPDX-License-Identifier: Apache-2.0
#include "attention/3_fused_forward.cuh"

namespace plumbline::gpu {

void fused_forward(const Stream& stream, const Task& task, const Outputs& outputs) {
  const float* const no_norms = nullptr;
  dispatch<fused::Variant<false>>(stream, task, outputs, no_norms);
}

}  // namespace plumbline::gpu
