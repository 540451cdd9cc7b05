// SPDX-License-Identifier: Apache-2.0
#ifndef PLUMBLINE_GPU_BIAS_NOPE_CUH
#define PLUMBLINE_GPU_BIAS_NOPE_CUH

#include "bias/policy.cuh"

namespace plumbline::gpu {

/// No positional encoding: b_ij = 0.
struct Nope {
  struct Params {};
  struct Row {};

  static Params params(const BiasInputs&) { return {}; }
  __device__ static Row load_row(const Params&, const At&) { return {}; }
  __device__ static float add(const Params&, const Row&, float x, const At&) { return x; }
};
static_assert(BiasPolicy<Nope>);

}  // namespace plumbline::gpu

#endif
