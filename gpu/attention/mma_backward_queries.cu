// SPDX-License-Identifier: Apache-2.0
#include <stdexcept>

#include "attention/backward_kernels.cuh"

namespace plumbline::gpu {

void mma_backward_queries(const Stream& stream, const Task& task, const BackwardArrays& arrays) {
  switch (task.problem.format) {
    case Format::bf16:
      return mma_backward_queries_in<bfloat16>(stream, task, arrays);
    case Format::fp16:
      return mma_backward_queries_in<float16>(stream, task, arrays);
    case Format::tf32:
      return mma_backward_queries_in<tf32>(stream, task, arrays);
    case Format::fp32:
      break;
  }
  throw std::invalid_argument("tensor cores take bf16, fp16 or tf32");
}

}  // namespace plumbline::gpu
