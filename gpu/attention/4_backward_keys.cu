// SPDX-License-Identifier: Apache-2.0
#include "attention/4_backward_keys.cuh"

#include "attention/backward_kernels.cuh"

namespace plumbline::gpu {

void backward_keys(const Stream& stream, const Task& task, const BackwardArrays& arrays) {
  dispatch<backward::Keys>(stream, task, arrays);
}

}  // namespace plumbline::gpu
