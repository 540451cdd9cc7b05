// SPDX-License-Identifier: Apache-2.0
// Bits and numbers, for loops over lanes in files that are compiled for several CPUs. All is
// always inlined: a function of its own, compiled for one CPU, could be the one that another's
// code calls.
#ifndef PLUMBLINE_GPU_PTX_ARITHMETIC_BITS_HPP
#define PLUMBLINE_GPU_PTX_ARITHMETIC_BITS_HPP

#include <cstdint>

#define PLUMBLINE_PTX_INLINE [[gnu::always_inline]] inline

namespace plumbline::ptx::arithmetic {

inline constexpr int kLanes = 32;
inline constexpr std::uint32_t kNan = 0x7fffffff;
inline constexpr std::uint64_t kNan64 = 0x7fffffffffffffff;
inline constexpr std::uint32_t kNan16 = 0x7fff;

PLUMBLINE_PTX_INLINE constexpr std::uint32_t bits_of(float x) {
  return __builtin_bit_cast(std::uint32_t, x);
}
PLUMBLINE_PTX_INLINE constexpr std::uint64_t bits_of(double x) {
  return __builtin_bit_cast(std::uint64_t, x);
}
PLUMBLINE_PTX_INLINE constexpr float float_of(std::uint32_t bits) {
  return __builtin_bit_cast(float, bits);
}
PLUMBLINE_PTX_INLINE constexpr double double_of(std::uint64_t bits) {
  return __builtin_bit_cast(double, bits);
}

/// Subnormal to zero of the same sign.
PLUMBLINE_PTX_INLINE constexpr std::uint32_t flushed(std::uint32_t x) {
  return (x & 0x7f800000) == 0 ? x & 0x80000000 : x;
}

/// The number of an f16, exactly.
PLUMBLINE_PTX_INLINE constexpr float from_f16(std::uint32_t half) {
  const std::uint32_t sign = (half & 0x8000) << 16, rest = (half & 0x7fff) << 13;
  const float finite = float_of(rest) * 0x1p112f;  // the exponents' biases differ by 112
  return float_of(sign | ((half & 0x7c00) == 0x7c00 ? rest | 0x7f800000 : bits_of(finite)));
}

/// Rounded to nearest, ties to even; NaN is 0x7fff.
PLUMBLINE_PTX_INLINE constexpr std::uint32_t to_f16(float x) {
  const std::uint32_t bits = bits_of(x), sign = bits >> 16 & 0x8000, rest = bits & 0x7fffffff;
  const std::uint32_t normal = (rest - (112u << 23) + 0xfff + (rest >> 13 & 1)) >> 13;
  // The addition rounds to a multiple of 2^-24, the unit of subnormal numbers.
  const std::uint32_t subnormal = bits_of(float_of(rest) + 0.5f) - bits_of(0.5f);
  const std::uint32_t finite = rest < 0x38800000 ? subnormal : normal;
  const std::uint32_t number = sign | (rest >= 0x477ff000 ? 0x7c00 : finite);
  return rest > 0x7f800000 ? kNan16 : number;
}

PLUMBLINE_PTX_INLINE constexpr float from_bf16(std::uint32_t half) { return float_of(half << 16); }

/// Rounded to nearest, ties to even; NaN is 0x7fff.
PLUMBLINE_PTX_INLINE constexpr std::uint32_t to_bf16(float x) {
  const std::uint32_t bits = bits_of(x);
  const std::uint32_t number = (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
  return (bits & 0x7fffffff) > 0x7f800000 ? kNan16 : number;
}

}  // namespace plumbline::ptx::arithmetic

#endif
