// SPDX-License-Identifier: Apache-2.0
#ifndef PLUMBLINE_GPU_BIAS_K_CABLE_CUH
#define PLUMBLINE_GPU_BIAS_K_CABLE_CUH

#include "bias/cable.cuh"

namespace plumbline::gpu {

/// ln(1 + d^2) for d >= 0, without overflow: where d^2 > 2^60, adding 1 changes nothing in fp32.
__device__ inline float log_one_plus_square(float d) {
  return d < 1073741824.0f ? log1pf(d * d) : 2.0f * logf(d);
}

/// Kerple-like CABLE without weights: b_ij = -ln(1 + (S_i - S_j)^2).
struct KCableNw {
  using Params = CableNw::Params;
  using Row = CableNw::Row;

  static Params params(const BiasInputs& inputs) { return CableNw::params(inputs); }

  __device__ static Row load_row(const Params& p, const At& at) { return CableNw::load_row(p, at); }

  __device__ static float add(const Params&, const Row& row, float x, const At& at) {
    return x - log_one_plus_square(row.distance.to(at.key));
  }
};
static_assert(BiasPolicy<KCableNw>);

/// Kerple-like CABLE: b_ij = -g_i ln(1 + (S_i - S_j)^2), the gain outside of the logarithm.
struct KCable {
  using Params = Cable::Params;
  using Row = Cable::Row;

  static Params params(const BiasInputs& inputs) { return Cable::params(inputs); }

  __device__ static Row load_row(const Params& p, const At& at) { return Cable::load_row(p, at); }

  __device__ static float add(const Params&, const Row& row, float x, const At& at) {
    return x - row.gain * log_one_plus_square(row.distance.to(at.key));
  }
};
static_assert(BiasPolicy<KCable>);

}  // namespace plumbline::gpu

#endif
