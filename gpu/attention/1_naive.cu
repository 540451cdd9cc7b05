// SPDX-License-Identifier: Apache-2.0
#include "attention/1_naive.cuh"

namespace plumbline::gpu {

void naive_forward(const Stream& stream, const Task& task, const Outputs& outputs) {
  dispatch_bias<naive::Variant, naive::kAnyHeadDim>(stream, task, outputs);
}

}  // namespace plumbline::gpu
