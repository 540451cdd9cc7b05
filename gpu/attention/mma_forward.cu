// SPDX-License-Identifier: Apache-2.0
#include <stdexcept>

#include "attention/variants.cuh"
#include "core/formats.cuh"

namespace plumbline::gpu {

void mma_forward(const Stream& stream, const Task& task, const Outputs& outputs) {
  switch (task.problem.format) {
    case Format::bf16:
      return mma_forward_in<bfloat16>(stream, task, outputs);
    case Format::fp16:
      return mma_forward_in<float16>(stream, task, outputs);
    case Format::tf32:
      return mma_forward_in<tf32>(stream, task, outputs);
    case Format::fp32:
      break;
  }
  throw std::invalid_argument("tensor cores take bf16, fp16 or tf32");
}

}  // namespace plumbline::gpu
