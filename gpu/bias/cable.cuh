// SPDX-License-Identifier: Apache-2.0
#ifndef PLUMBLINE_GPU_BIAS_CABLE_CUH
#define PLUMBLINE_GPU_BIAS_CABLE_CUH

#include "bias/prefix_distance.cuh"

namespace plumbline::gpu {

/// CABLE without weights (Veisi et al., eqs 2-5, sign of the published code):
/// b_ij = -|S_i - S_j|, S the inclusive prefix sum of the increments.
struct CableNw {
  struct Params {
    const double* prefix_sum;
    int heads, keys;
  };
  struct Row {
    PrefixDistance distance;
  };

  static Params params(const BiasInputs& inputs) {
    return {inputs.prefix_sum, inputs.heads, inputs.keys};
  }

  __device__ static Row load_row(const Params& p, const At& at) {
    return {PrefixDistance::load(p.prefix_sum, p.heads, p.keys, at)};
  }

  __device__ static float add(const Params&, const Row& row, float x, const At& at) {
    return x - row.distance.to(at.key);
  }
};
static_assert(BiasPolicy<CableNw>);

/// CABLE (eq. 7): b_ij = -g_i |S_i - S_j|, g >= 0 indexed by the query.
struct Cable {
  struct Params {
    CableNw::Params unweighted;
    const float* gain;
    int queries;
  };
  struct Row {
    PrefixDistance distance;
    float gain;
  };

  static Params params(const BiasInputs& inputs) {
    return {CableNw::params(inputs), inputs.gain, inputs.queries};
  }

  __device__ static Row load_row(const Params& p, const At& at) {
    return {CableNw::load_row(p.unweighted, at).distance,
            load_gain(p.gain, p.unweighted.heads, p.queries, at)};
  }

  __device__ static float add(const Params&, const Row& row, float x, const At& at) {
    return x - row.gain * row.distance.to(at.key);
  }
};
static_assert(BiasPolicy<Cable>);

}  // namespace plumbline::gpu

#endif
