// SPDX-License-Identifier: Apache-2.0
#ifndef PLUMBLINE_GPU_BIAS_KERPLE_CUH
#define PLUMBLINE_GPU_BIAS_KERPLE_CUH

#include "core/cuda.cuh"

namespace plumbline::gpu {

/// Kerple, logarithmic (Chi et al., NeurIPS 2022): b = -p ln(1 + a x), x = |i - j|.
struct KerpleLog {
  float p, a;

  __device__ float value(float offset) const { return -(p * log1pf(a * fabsf(offset))); }

  static constexpr int kParameters = 2;

  /// Derivatives in p and a: -ln(1 + a x), -p x / (1 + a x).
  __device__ void derivatives(float offset, float* of) const {
    const float x = fabsf(offset);
    of[0] = -log1pf(a * x);
    of[1] = -(p * x / (1.0f + a * x));
  }
};

/// Kerple, power: b = -a x^p, and 0 for x = 0.
struct KerplePower {
  float p, a;

  __device__ float value(float offset) const {
    return offset == 0.0f ? 0.0f : -(a * powf(fabsf(offset), p));
  }

  static constexpr int kParameters = 2;

  /// Derivatives in p and a: -a x^p ln x, -x^p; both 0 for x = 0.
  __device__ void derivatives(float offset, float* of) const {
    const float x = fabsf(offset), power = x == 0.0f ? 0.0f : powf(x, p);
    of[0] = x == 0.0f ? 0.0f : -(a * power * logf(x));
    of[1] = -power;
  }
};

}  // namespace plumbline::gpu

#endif
