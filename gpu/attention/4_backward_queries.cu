// SPDX-License-Identifier: Apache-2.0
#include "attention/4_backward_queries.cuh"

#include "attention/backward_kernels.cuh"
#include "methods.hpp"

namespace plumbline::gpu {

int head_rows(const Task& task) {
  using methods::Kind;
  switch (methods::row(task.bias.method).kind) {
    case Kind::positions:
      return HeadGrad<Fire>::rows(Fire::params(task.bias));
    case Kind::distance:
      return HeadGrad<Distance>::rows(Distance::params(task.bias));
    case Kind::none:
    case Kind::prefix_sums:
    case Kind::pairs:
    case Kind::other_scores:
      break;
  }
  return 0;
}

void backward_queries(const Stream& stream, const Task& task, const BackwardArrays& arrays) {
  dispatch<backward::Queries>(stream, task, arrays);
}

}  // namespace plumbline::gpu
