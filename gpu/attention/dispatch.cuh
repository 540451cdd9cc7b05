// SPDX-License-Identifier: Apache-2.0
#ifndef PLUMBLINE_GPU_ATTENTION_DISPATCH_CUH
#define PLUMBLINE_GPU_ATTENTION_DISPATCH_CUH

#include <stdexcept>

#include "attention/head_dims.cuh"
#include "attention/problem.cuh"
#include "bias/distance.cuh"
#include "bias/fire.cuh"
#include "bias/nope.cuh"
#include "bias/pairs.cuh"
#include "bias/prefix.cuh"
#include "methods.hpp"

namespace plumbline::gpu {

/// Calls Variant::run<D, Family>(stream, task, more...) for the head dimension and the bias family
/// of the task.
template <class Variant, int D, class... More>
void dispatch_bias(const Stream& stream, const Task& task, const More&... more) {
  using methods::Kind;
  switch (methods::row(task.bias.method).kind) {
    case Kind::none:
      return Variant::template run<D, Nope>(stream, task, more...);
    case Kind::distance:
      return Variant::template run<D, Distance>(stream, task, more...);
    case Kind::prefix_sums:
      return Variant::template run<D, Prefix>(stream, task, more...);
    case Kind::positions:
      return Variant::template run<D, Fire>(stream, task, more...);
    case Kind::pairs:
      return Variant::template run<D, Pairs>(stream, task, more...);
    case Kind::other_scores:
      break;
  }
  throw std::invalid_argument("a bias without a family of fused kernels");
}

template <class Variant, class... More>
void dispatch(const Stream& stream, const Task& task, const More&... more) {
  const auto run = [&]<int D>() { dispatch_bias<Variant, D>(stream, task, more...); };
  if (!with_head_dim(task.head_dim, run))
    throw std::invalid_argument("head dimension must be one of " + list_of(HeadDims{}));
}

}  // namespace plumbline::gpu

#endif
