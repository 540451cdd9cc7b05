// SPDX-License-Identifier: Apache-2.0
// Narrow formats and integers of floats, without branches, for loops over lanes.
#ifndef PLUMBLINE_GPU_PTX_ARITHMETIC_NARROW_HPP
#define PLUMBLINE_GPU_PTX_ARITHMETIC_NARROW_HPP

#include "ptx/arithmetic/bits.hpp"
#include "ptx/arithmetic/convert.hpp"

namespace plumbline::ptx::arithmetic {

/// Rounded to 10 bits after the point, ties away from zero.
PLUMBLINE_PTX_INLINE constexpr std::uint32_t to_tf32_rna(std::uint32_t bits) {
  const std::uint32_t number = (bits + 0x1000) & 0xffffe000;
  const std::uint32_t finite = (bits & 0x7f800000) == 0x7f800000 ? bits : number;
  return (bits & 0x7fffffff) > 0x7f800000 ? kNan : finite;
}

/// Rounded to nearest, ties to even; beyond the range is the largest number, NaN 0x7f. kPoint: bits
/// after the point. kMagic: its last bit is the unit of subnormal numbers. kLeast: of the normal
/// ones, kLargest: of all, as bits of a float.
template <int kPoint, std::uint32_t kMagic, std::uint32_t kLeast, std::uint32_t kLargest>
PLUMBLINE_PTX_INLINE constexpr std::uint32_t to_8_bits(float x) {
  constexpr int kShift = 23 - kPoint;
  const std::uint32_t bits = bits_of(x), sign = bits >> 24 & 0x80, all = bits & 0x7fffffff;
  const std::uint32_t rest = all < kLargest ? all : kLargest;
  const std::uint32_t base = kLeast - (1u << 23);
  const std::uint32_t normal =
      (rest - base + (1u << (kShift - 1)) - 1 + (rest >> kShift & 1)) >> kShift;
  const std::uint32_t subnormal = bits_of(float_of(rest) + float_of(kMagic)) - kMagic;
  const std::uint32_t number = sign | (rest < kLeast ? subnormal : normal);
  return all > 0x7f800000 ? 0x7f : number;
}
PLUMBLINE_PTX_INLINE constexpr std::uint32_t to_e4m3(float x) {
  return to_8_bits<3, bits_of(0x1p14f), bits_of(0x1p-6f), bits_of(448.0f)>(x);
}
PLUMBLINE_PTX_INLINE constexpr std::uint32_t to_e5m2(float x) {
  return to_8_bits<2, bits_of(0x1p7f), bits_of(0x1p-14f), bits_of(57344.0f)>(x);
}

/// The number of the low 8 bits, exactly.
PLUMBLINE_PTX_INLINE constexpr float from_e4m3(std::uint32_t x) {
  const float finite = float_of((x & 0x7f) << 20) * 0x1p120f;  // the biases differ by 120
  const std::uint32_t number = bits_of(finite) | (x & 0x80) << 24;
  return float_of((x & 0x7f) == 0x7f ? kNan : number);
}
PLUMBLINE_PTX_INLINE constexpr float from_e5m2(std::uint32_t x) {
  return from_f16((x & 0xff) << 8);
}

PLUMBLINE_PTX_INLINE constexpr double to_double(std::uint32_t x) {
  return static_cast<double>(static_cast<std::int32_t>(x ^ 0x80000000)) + 0x1p31;
}

/// x rounded to an integer; what is beyond 2^51 is one.
template <Rounding kRounding>
PLUMBLINE_PTX_INLINE double integral(double x) {
  if (kRounding == Rounding::rmi) return __builtin_floor(x);
  if (kRounding == Rounding::rpi) return __builtin_ceil(x);
  if (kRounding == Rounding::rzi) return __builtin_trunc(x);
  const double size = __builtin_fabs(x), rounded = size + 0x1p52 - 0x1p52;
  return __builtin_copysign(size < 0x1p51 ? rounded : size, x);
}

/// Clamped; NaN is 0.
PLUMBLINE_PTX_INLINE std::uint32_t to_s32(double x) {
  const double below = x < 0x1p31 - 1 ? x : 0x1p31 - 1, number = below > -0x1p31 ? below : -0x1p31;
  return static_cast<std::uint32_t>(static_cast<std::int32_t>(x != x ? 0.0 : number));
}
PLUMBLINE_PTX_INLINE std::uint32_t to_u32(double x) {
  const double positive = x > 0 ? x : 0.0, number = positive < 0x1p32 - 1 ? positive : 0x1p32 - 1;
  return static_cast<std::uint32_t>(static_cast<std::int32_t>(number - 0x1p31)) ^ 0x80000000;
}

}  // namespace plumbline::ptx::arithmetic

#endif
