// SPDX-License-Identifier: Apache-2.0
// Roundings and exponentials as kernels have them. In double everything is left as it is: that
// reading of the kernel is what other suites' criteria compare with.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <type_traits>

#include "kernel_abi/plumbline_kernel.h"

namespace plumbline::bench {

constexpr double ln_2 = 0.6931471805599453;

/// The upper `kept` bits of the significand's 23, the rest cut off. A call of its own: where g++ 12
/// inlines it beside a branch that leaves x as it is, it loses the cutting.
[[gnu::noipa]] inline float cut(float x, int kept) {
  return std::bit_cast<float>(std::bit_cast<std::uint32_t>(x) & (~std::uint32_t{0} << (23 - kept)));
}

/// The same to nearest, ties to even; NaN and infinity as they are.
inline float nearest(float x, int kept) {
  if (!std::isfinite(x)) return x;
  const auto bits = std::bit_cast<std::uint32_t>(x);
  const int dropped = 23 - kept;
  const std::uint32_t odd = (bits >> dropped) & 1;
  const std::uint32_t rounded = bits + (std::uint32_t{1} << (dropped - 1)) - 1 + odd;
  return std::bit_cast<float>(rounded & (~std::uint32_t{0} << dropped));
}

/// The format of outputs: bf16 where inputs have 8 bits.
inline int output_format(int format) {
  return format == PLUMBLINE_E4M3 || format == PLUMBLINE_E5M2 ? PLUMBLINE_BF16 : format;
}

/// A multiple of an 8-bit format's spacing at x, `whole` rounding x / spacing; no more than the
/// largest number.
template <class Whole>
float in_8_bits(float x, int format, const Whole& whole) {
  if (x == 0 || !std::isfinite(x)) return x;
  const bool e4m3 = format == PLUMBLINE_E4M3;
  const double step = std::ldexp(1.0, std::max(std::ilogb(x), e4m3 ? -6 : -14) - (e4m3 ? 3 : 2));
  const double largest = e4m3 ? 448 : 57344;
  return static_cast<float>(std::clamp(whole(x / step) * step, -largest, largest));
}

/// To nearest in the format.
template <class Real>
Real rounded(Real x, int format) {
  if constexpr (std::is_same_v<Real, double>) return x;
  switch (format) {
    case PLUMBLINE_BF16:
      return nearest(x, 7);
    case PLUMBLINE_TF32:
      return nearest(x, 10);
    case PLUMBLINE_FP16:
      return static_cast<float>(static_cast<_Float16>(x));
    case PLUMBLINE_E4M3:
    case PLUMBLINE_E5M2:
      return in_8_bits(static_cast<float>(x), format, [](double n) { return std::nearbyint(n); });
    default:
      return x;
  }
}

/// What a fault loses in a format, to nearest: in double too, where it is all that is lost.
template <class Real>
Real lost(Real x, int format) {
  return static_cast<Real>(rounded(static_cast<float>(x), format));
}

/// A number on its way into a product: `kept` bits of its significand, cut or to nearest.
template <class Real>
Real operand(Real x, int kept, bool cuts) {
  if constexpr (std::is_same_v<Real, float>) {
    if (kept == 23) return x;
    return cuts ? cut(x, kept) : nearest(x, kept);
  }
  return x;
}

/// x and a part, -1/2 to 1/2, of the step between neighbours of the format; x itself where the
/// format has it.
inline float dithered(float x, int format, double part) {
  int bits = 0, least = -126;  // of the significand after the point; of normal numbers' exponents
  switch (format) {
    case PLUMBLINE_BF16:
      bits = 7;
      break;
    case PLUMBLINE_TF32:
      bits = 10;
      break;
    case PLUMBLINE_FP16:
      bits = 10;
      least = -14;
      break;
    case PLUMBLINE_E4M3:
      bits = 3;
      least = -6;
      break;
    case PLUMBLINE_E5M2:
      bits = 2;
      least = -14;
      break;
    default:
      return x;
  }
  if (!std::isfinite(x) || rounded(x, format) == x) return x;
  return static_cast<float>(x + part * std::ldexp(1.0, std::max(std::ilogb(x), least) - bits));
}

/// Towards zero in the format.
inline float truncated(float x, int format) {
  switch (format) {
    case PLUMBLINE_BF16:
      return cut(x, 7);
    case PLUMBLINE_TF32:
      return cut(x, 10);
    case PLUMBLINE_FP16: {
      const auto half = static_cast<_Float16>(x);
      const bool outwards = std::abs(static_cast<float>(half)) > std::abs(x);
      // One step towards zero is one bit pattern less, whatever the sign.
      return static_cast<float>(outwards ? std::bit_cast<_Float16>(static_cast<std::uint16_t>(
                                               std::bit_cast<std::uint16_t>(half) - 1))
                                         : half);
    }
    case PLUMBLINE_E4M3:
    case PLUMBLINE_E5M2:
      return in_8_bits(x, format, [](double n) { return std::trunc(n); });
    default:
      return x;
  }
}

/// a + b; with `cuts` towards zero, as tensor cores sum.
template <class Real>
Real sum(Real a, Real b, bool cuts) {
  if constexpr (std::is_same_v<Real, float>) {
    if (cuts) {
      const double exact = static_cast<double>(a) + b;
      const auto near = static_cast<float>(exact);
      return std::abs(near) > std::abs(exact) ? std::nextafter(near, 0.0F) : near;
    }
  }
  return a + b;
}

enum class Exponential {
  natural,     ///< exp
  base_2,      ///< exp2(x log2 e)
  polynomial,  ///< the same with a polynomial of degree 7 for the fraction
  folded       ///< log2 e folded into the scores: maxima and sums are of base 2
};

/// 2^x, the fraction's power by a polynomial: relative error below 2^-22.
inline float polynomial_exp2(float x) {
  if (!(std::abs(x) <= 126)) return std::exp2(x);
  const float whole = std::nearbyint(x), f = x - whole;
  // Taylor's series at |f ln 2| <= 0.35: the first term left out is 0.35^8 / 8! = 6e-9, below the
  // roundings.
  constexpr double l = 0.6931471805599453;
  constexpr float c1 = l, c2 = l * l / 2, c3 = l * l * l / 6, c4 = l * l * l * l / 24,
                  c5 = l * l * l * l * l / 120, c6 = l * l * l * l * l * l / 720,
                  c7 = l * l * l * l * l * l * l / 5040;
  const float power = 1 + f * (c1 + f * (c2 + f * (c3 + f * (c4 + f * (c5 + f * (c6 + f * c7))))));
  return std::ldexp(power, static_cast<int>(whole));
}

/// e^x, or 2^x where the scores are folded.
template <class Real>
Real exponential(Real x, Exponential how) {
  constexpr Real log2e = static_cast<Real>(1.4426950408889634);
  switch (how) {
    case Exponential::base_2:
      return std::exp2(x * log2e);
    case Exponential::folded:
      return std::exp2(x);
    case Exponential::polynomial:
      if constexpr (std::is_same_v<Real, float>) return polynomial_exp2(x * log2e);
      [[fallthrough]];
    default:
      return std::exp(x);
  }
}

/// e^x of a number that has no factor log2 e in it, whatever the scores have.
template <class Real>
Real unfolded(Real x, Exponential how) {
  return exponential(x, how == Exponential::folded ? Exponential::base_2 : how);
}

}  // namespace plumbline::bench
