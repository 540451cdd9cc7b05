// SPDX-License-Identifier: Apache-2.0
// Roundings and exponentials as kernels have them. In double everything is left as it is: that
// reading of the kernel is what other suites' criteria compare with.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <type_traits>

#include "kernel_abi/plumbline_kernel.h"

namespace plumbline::bench {

/// The upper `kept` bits of the significand's 23, the rest cut off.
inline float cut(float x, int kept) {
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
    default:
      return x;
  }
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

/// 2^x for x <= 0, the fraction's power by a polynomial: relative error below 2^-22.
inline float polynomial_exp2(float x) {
  if (x < -126) return std::exp2(x);
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

}  // namespace plumbline::bench
