// SPDX-License-Identifier: Apache-2.0
#ifndef PLUMBLINE_GPU_BIAS_KERPLE_CUH
#define PLUMBLINE_GPU_BIAS_KERPLE_CUH

#include "core/cuda.cuh"

namespace plumbline::gpu {

/// Kerple, logarithmic (Chi et al., NeurIPS 2022): b = -p ln(1 + a x), x = |i - j|.
struct KerpleLog {
  float p, a;

  __device__ float value(float offset) const { return -(p * log1pf(a * fabsf(offset))); }
};

/// Kerple, power: b = -a x^p, and 0 for x = 0.
struct KerplePower {
  float p, a;

  __device__ float value(float offset) const {
    return offset == 0.0f ? 0.0f : -(a * powf(fabsf(offset), p));
  }
};

}  // namespace plumbline::gpu

#endif
