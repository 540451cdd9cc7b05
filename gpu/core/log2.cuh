// SPDX-License-Identifier: Apache-2.0
#ifndef PLUMBLINE_GPU_CORE_LOG2_CUH
#define PLUMBLINE_GPU_CORE_LOG2_CUH

#include <math.h>

#include "core/cuda.cuh"

namespace plumbline::gpu {

/// log2 x by the one instruction lg2.approx.ftz.f32: off by at most 2^-22 for 1/2 < x < 2, and by
/// 2^-22 of itself elsewhere (PTX ISA 9.7.3.20); log2 1 is 0. The emulated one is within 1 ulp.
__device__ __forceinline__ float log2_approximate(float x) {
#if PLUMBLINE_ON_GPU
  float y;
  asm("lg2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
#else
  return log2f(x);
#endif
}

}  // namespace plumbline::gpu

#endif
