// SPDX-License-Identifier: Apache-2.0
#ifndef PLUMBLINE_GPU_CORE_FLOAT16_CUH
#define PLUMBLINE_GPU_CORE_FLOAT16_CUH

#include <cstdint>
#include <cstring>

#include "core/element.cuh"

#if PLUMBLINE_ON_GPU
#include <cuda_fp16.h>
#endif

namespace plumbline::gpu {

#if PLUMBLINE_ON_GPU
using float16 = __half;

__device__ inline float to_float(float16 x) { return __half2float(x); }
#else
/// IEEE binary16: sign, 5 bits of exponent, 10 of significand. Bits only: its arithmetic is that of
/// float.
struct float16 {
  std::uint16_t bits;
};

inline float to_float(float16 x) {
  // As the bits of a float, the magnitude is 2^(127 - 15) times too small, subnormals too.
  const std::uint32_t magnitude = (std::uint32_t{x.bits} & 0x7fffu) << 13;
  const std::uint32_t sign = (std::uint32_t{x.bits} & 0x8000u) << 16;
  float y;
  std::memcpy(&y, &magnitude, sizeof y);
  y *= 0x1p112f;
  std::uint32_t bits;
  std::memcpy(&bits, &y, sizeof bits);
  if (magnitude >= 0x0f800000u) bits |= 0x7f800000u;  // infinities and NaNs
  bits |= sign;
  std::memcpy(&y, &bits, sizeof y);
  return y;
}
#endif

template <>
__device__ inline float16 from_float<float16>(float x) {
#if PLUMBLINE_ON_GPU
  return __float2half_rn(x);
#else
  std::uint32_t bits;
  std::memcpy(&bits, &x, sizeof bits);
  const auto sign = static_cast<std::uint16_t>(bits >> 16 & 0x8000u);
  bits &= 0x7fffffffu;
  std::uint32_t half;
  if (bits > 0x7f800000u) return {0x7fff};
  if (bits >= 0x477ff000u) {  // 65520, halfway between the largest number and 2^16, and above
    half = 0x7c00u;
  } else if (bits < 0x38800000u) {  // 2^-14: the spacing is 2^-24, which is that of floats near 0.5
    float magnitude;
    std::memcpy(&magnitude, &bits, sizeof magnitude);
    magnitude += 0.5f;
    std::memcpy(&half, &magnitude, sizeof half);
    half -= 0x3f000000u;
  } else {
    bits += 0xfffu + (bits >> 13 & 1u);  // half a unit, less a bit when the result is even
    half = (bits - (112u << 23)) >> 13;  // the exponents' biases are 127 and 15
  }
  return {static_cast<std::uint16_t>(half | sign)};
#endif
}

}  // namespace plumbline::gpu

#endif
