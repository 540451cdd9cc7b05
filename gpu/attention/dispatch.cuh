// SPDX-License-Identifier: Apache-2.0
#ifndef PLUMBLINE_GPU_ATTENTION_DISPATCH_CUH
#define PLUMBLINE_GPU_ATTENTION_DISPATCH_CUH

#include <stdexcept>

#include "attention/head_dims.cuh"
#include "attention/problem.cuh"
#include "bias/distance.cuh"
#include "bias/fire.cuh"
#include "bias/nope.cuh"
#include "bias/prefix.cuh"

namespace plumbline::gpu {

/// Calls Rung::run<D, Family>(stream, task, more...) for the head dimension and the bias family of
/// the task. A new method gets its line here.
template <class Rung, int D, class... More>
void dispatch_bias(const Stream& stream, const Task& task, const More&... more) {
  switch (task.bias.method) {
    case PLUMBLINE_NOPE:
      return Rung::template run<D, Nope>(stream, task, more...);
    case PLUMBLINE_ALIBI:
    case PLUMBLINE_GGD:
    case PLUMBLINE_KERPLE_LOG:
    case PLUMBLINE_KERPLE_POWER:
    case PLUMBLINE_T5:
    case PLUMBLINE_T5_BIDIRECTIONAL:
    case PLUMBLINE_T5_CLIPPED:
    case PLUMBLINE_T5_CLIPPED_OFFSET:
      return Rung::template run<D, Distance>(stream, task, more...);
    case PLUMBLINE_CABLE:
    case PLUMBLINE_CABLE_NW:
    case PLUMBLINE_K_CABLE:
    case PLUMBLINE_K_CABLE_NW:
    case PLUMBLINE_CABLE_PAPER:
    case PLUMBLINE_CABLE_NW_PAPER:
    case PLUMBLINE_K_CABLE_PAPER:
    case PLUMBLINE_FOX:
      return Rung::template run<D, Prefix>(stream, task, more...);
    case PLUMBLINE_FIRE:
      return Rung::template run<D, Fire>(stream, task, more...);
    case PLUMBLINE_COPE:
      break;
  }
  throw std::invalid_argument("a bias without a family of fused kernels");
}

template <class Rung, class... More>
void dispatch(const Stream& stream, const Task& task, const More&... more) {
  const auto run = [&]<int D>() { dispatch_bias<Rung, D>(stream, task, more...); };
  if (!with_head_dim(task.head_dim, run))
    throw std::invalid_argument("head dimension must be one of " + list_of(HeadDims{}));
}

}  // namespace plumbline::gpu

#endif
