// SPDX-License-Identifier: Apache-2.0
#ifndef PLUMBLINE_GPU_CORE_BFLOAT16_CUH
#define PLUMBLINE_GPU_CORE_BFLOAT16_CUH

#include <cstdint>
#include <cstring>

#include "core/element.cuh"

#if PLUMBLINE_ON_GPU
#include <cuda_bf16.h>
#endif

namespace plumbline::gpu {

#if PLUMBLINE_ON_GPU
using bfloat16 = __nv_bfloat16;

__device__ inline float to_float(bfloat16 x) { return __bfloat162float(x); }
#else
/// The upper 16 bits of an IEEE single. Bits only: its arithmetic is that of float.
struct bfloat16 {
  std::uint16_t bits;
};

inline float to_float(bfloat16 x) {
  const std::uint32_t bits = std::uint32_t{x.bits} << 16;
  float y;
  std::memcpy(&y, &bits, sizeof y);
  return y;
}
#endif

template <>
__device__ inline bfloat16 from_float<bfloat16>(float x) {
#if PLUMBLINE_ON_GPU
  return __float2bfloat16_rn(x);
#else
  std::uint32_t bits;
  std::memcpy(&bits, &x, sizeof bits);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return {0x7fff};
  bits += 0x7fffu + ((bits >> 16) & 1u);  // half a unit, less a bit when the result is even
  return {static_cast<std::uint16_t>(bits >> 16)};
#endif
}

}  // namespace plumbline::gpu

#endif
