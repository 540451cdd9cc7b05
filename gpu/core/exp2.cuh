// SPDX-License-Identifier: Apache-2.0
#ifndef PLUMBLINE_GPU_CORE_EXP2_CUH
#define PLUMBLINE_GPU_CORE_EXP2_CUH

#include <math.h>

#include "core/cuda.cuh"

namespace plumbline::gpu {

/// 2^x by the one instruction ex2.approx.ftz.f32: within 2 ulp of the nearest number (PTX ISA
/// 9.7.3.21), hence within 2.5 * 2^-23 of 2^x; 2^0 is 1, 2^-infinity is 0, and a result below
/// 2^-126 becomes 0. The emulated one is within 1 ulp, with the same special values.
__device__ __forceinline__ float exp2_approximate(float x) {
#if PLUMBLINE_ON_GPU
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
#else
  const float y = exp2f(x);
  return y < 0x1p-126f ? 0.0f : y;
#endif
}

}  // namespace plumbline::gpu

#endif
