// SPDX-License-Identifier: Apache-2.0
// Rounding to a format, and the number of it that is as far from the exact result as a documented
// error allows. Numbers of all formats are doubles here, and every condition is a selection: mixed
// widths and branches would keep the loops over lanes from being vectorised.
#ifndef PLUMBLINE_GPU_PTX_ARITHMETIC_DISPLACED_HPP
#define PLUMBLINE_GPU_PTX_ARITHMETIC_DISPLACED_HPP

#include "ptx/arithmetic/bits.hpp"
#include "ptx/device.hpp"

namespace plumbline::ptx::arithmetic {

/// The formats of operands and results. kUnit: the last bit of 1; kLeast: the least normal
/// exponent.
struct F32 {
  static constexpr int kDigits = 23, kLeast = -126;
  static constexpr double kLargest = 0x1.fffffep127;
  static constexpr std::uint32_t kExponent = 0x7f800000, kSign = 0x80000000, kCanonicalNan = kNan;
  PLUMBLINE_PTX_INLINE static float value(std::uint32_t bits) { return float_of(bits); }
  PLUMBLINE_PTX_INLINE static std::uint32_t bits(double x) {
    return bits_of(static_cast<float>(x));
  }
};
struct F16 {
  static constexpr int kDigits = 10, kLeast = -14;
  static constexpr double kLargest = 65504;
  static constexpr std::uint32_t kExponent = 0x7c00, kSign = 0x8000, kCanonicalNan = kNan16;
  PLUMBLINE_PTX_INLINE static float value(std::uint32_t bits) { return from_f16(bits); }
  PLUMBLINE_PTX_INLINE static std::uint32_t bits(double x) { return to_f16(static_cast<float>(x)); }
};
struct Bf16 {
  static constexpr int kDigits = 7, kLeast = -126;
  static constexpr double kLargest = 0x1.fep127;
  static constexpr std::uint32_t kExponent = 0x7f80, kSign = 0x8000, kCanonicalNan = kNan16;
  PLUMBLINE_PTX_INLINE static float value(std::uint32_t bits) { return from_bf16(bits); }
  PLUMBLINE_PTX_INLINE static std::uint32_t bits(double x) {
    return to_bf16(static_cast<float>(x));
  }
};

/// The unit in the last place of the format at x.
template <class Format>
PLUMBLINE_PTX_INLINE double ulp_of(double x) {
  const std::uint64_t exponent = bits_of(x) >> 52 & 0x7ff;
  constexpr std::uint64_t kLeast = 1023 + Format::kLeast;
  return double_of(((exponent > kLeast ? exponent : kLeast) - Format::kDigits) << 52);
}

/// x rounded to the format, to nearest, ties to even. NaN stays NaN.
template <class Format>
PLUMBLINE_PTX_INLINE double nearest(double x) {
  if constexpr (__is_same(Format, F32)) return static_cast<float>(x);
  const double size = __builtin_fabs(x), ulp = ulp_of<Format>(x);
  const double rounded = (size / ulp + 0x1p52 - 0x1p52) * ulp;
  const double number = rounded > Format::kLargest ? __builtin_inf() : rounded;
  return __builtin_copysign(size < 0x1p200 ? number : size, x);
}

/// The number furthest from `exact` in `direction` (1 or -1) within `error`; `nearest` if there is
/// none. It is finite, does not pass 0, nor `limit` in magnitude.
template <class Format>
PLUMBLINE_PTX_INLINE double displaced(double exact, double nearest, double error, double direction,
                                      double limit) {
  const double bound = direction * exact + error, ulp = ulp_of<Format>(bound);
  const double floor = __builtin_floor(bound / ulp) * ulp, least = direction * nearest;
  const double below = floor < Format::kLargest ? floor : Format::kLargest;
  const double number = direction * (below > least ? below : least);
  const double size = __builtin_fabs(number), limited = size < limit ? size : limit;
  return __builtin_copysign(exact * number > 0 ? limited : 0.0, exact);
}

/// 1 or -1.
template <Variation::Approximate kVariation>
PLUMBLINE_PTX_INLINE double direction_of(std::uint32_t input) {
  if (kVariation == Variation::Approximate::up) return 1.0;
  if (kVariation == Variation::Approximate::down) return -1.0;
  return static_cast<int>(input * 0x9e3779b1u >> 31 << 1) - 1.0;
}

}  // namespace plumbline::ptx::arithmetic

#endif
