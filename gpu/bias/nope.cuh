// SPDX-License-Identifier: Apache-2.0
#ifndef PLUMBLINE_GPU_BIAS_NOPE_CUH
#define PLUMBLINE_GPU_BIAS_NOPE_CUH

#include "bias/policy.cuh"

namespace plumbline::gpu {

/// No bias: b_ij = 0. RoPE's too, which rotates queries and keys as they are loaded.
struct Nope {
  struct Params {};
  struct Row {};
  struct Key {};
  static constexpr bool kHasEntry = false;
  static constexpr bool kPerPosition = false;
  static constexpr bool kPerPair = false;

  static Params params(const BiasInputs&) { return {}; }
  __device__ static Row load_row(const Params&, const At&) { return {}; }
  __device__ static Key load_key(const Params&, const At&, int) { return {}; }
  __device__ static float entry(const Params&, int, int) { return 0.0f; }
  __device__ static float value(const Params&, int, const Row&, const Key&, float) { return 0.0f; }
};
static_assert(BiasFamily<Nope>);

}  // namespace plumbline::gpu

#endif
