// SPDX-License-Identifier: Apache-2.0
#include "attention/4_backward_queries.cuh"

#include "attention/backward_kernels.cuh"

namespace plumbline::gpu {

int head_rows(const Task& task) {
  switch (task.bias.method) {
    case PLUMBLINE_FIRE:
      return HeadGrad<Fire>::rows(Fire::params(task.bias));
    case PLUMBLINE_GGD:
    case PLUMBLINE_KERPLE_LOG:
    case PLUMBLINE_KERPLE_POWER:
      return HeadGrad<Distance>::rows(Distance::params(task.bias));
    default:
      return task.bias.table_rows;
  }
}

void backward_queries(const Stream& stream, const Task& task, const BackwardArrays& arrays) {
  dispatch<backward::Queries>(stream, task, arrays);
}

}  // namespace plumbline::gpu
