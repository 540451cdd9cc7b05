// SPDX-License-Identifier: Apache-2.0
#include "attention/1_naive_bf16.cuh"

namespace plumbline::gpu {

void naive_bf16_forward(const Stream& stream, const Task& task, const Outputs& outputs) {
  dispatch_bias<naive_bf16::Variant, naive::kAnyHeadDim>(stream, task, outputs);
}

}  // namespace plumbline::gpu
