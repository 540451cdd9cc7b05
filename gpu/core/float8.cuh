// SPDX-License-Identifier: Apache-2.0
// Numbers of 8 bits as the OCP 8-bit floating point specification (OFP8, 2023) has them.
#ifndef PLUMBLINE_GPU_CORE_FLOAT8_CUH
#define PLUMBLINE_GPU_CORE_FLOAT8_CUH

#include <cstdint>
#include <cstring>

#include "core/float16.cuh"

namespace plumbline::gpu {

/// Sign, 4 bits of exponent, 3 of significand: no infinity, up to 448, one NaN of each sign.
struct float8_e4m3 {
  std::uint8_t bits;
};

__device__ inline float to_float(float8_e4m3 x) {
  // As the bits of a float, the magnitude is 2^(127 - 7) times too small, subnormals too.
  const std::uint32_t magnitude = (x.bits & 0x7fu) << 20;
  float y;
  std::memcpy(&y, &magnitude, sizeof y);
  y = magnitude == 0x7f00000u ? NAN : y * 0x1p120f;
  return (x.bits & 0x80u) != 0 ? -y : y;
}

/// The upper byte of a float16.
struct float8_e5m2 {
  std::uint8_t bits;
};

__device__ inline float to_float(float8_e5m2 x) {
  const auto bits = static_cast<std::uint16_t>(x.bits << 8);
  float16 y;
  std::memcpy(&y, &bits, sizeof y);
  return to_float(y);
}

}  // namespace plumbline::gpu

#endif
