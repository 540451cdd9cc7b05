// SPDX-License-Identifier: Apache-2.0
#ifndef PLUMBLINE_GPU_CORE_TF32_CUH
#define PLUMBLINE_GPU_CORE_TF32_CUH

#include <cstdint>
#include <cstring>

#include "core/cuda.cuh"

namespace plumbline::gpu {

/// Element tag of tensor-core kernels: floats in memory, operands of products rounded to tf32.
struct tf32 {};

/// Rounds to tf32, a float with 10 bits of significand, to nearest, ties away from zero: the
/// instruction cvt.rna.tf32.f32. A NaN becomes 0x7fffffff; beyond the largest tf32 lies infinity.
__device__ inline float round_to_tf32(float x) {
  std::uint32_t bits;
#if PLUMBLINE_ON_GPU
  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(bits) : "f"(x));
#else
  std::memcpy(&bits, &x, sizeof bits);
  if ((bits & 0x7fffffffu) > 0x7f800000u)
    bits = 0x7fffffffu;
  else
    bits = (bits + 0x1000u) & 0xffffe000u;
#endif
  float y;
  std::memcpy(&y, &bits, sizeof y);
  return y;
}

}  // namespace plumbline::gpu

#endif
