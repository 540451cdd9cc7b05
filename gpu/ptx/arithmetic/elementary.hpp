// SPDX-License-Identifier: Apache-2.0
// Elementary functions of floats in double, for loops over lanes: additions, multiplications,
// fused ones, divisions and square roots in a fixed order, so that every CPU gives the same bits.
//
// Rounded to fp32, a result is the nearest number unless the exact one lies closer to a tie than
// the double is off, at most 2^-51 of it. Of all 2^32 floats that happens to 2 in ex2
// (0x1.853a6ep-9 and -0x1.e7526ep-6, within half a unit of the double), 2 in sin and 4 in cos (all
// beyond 2^13), and to none in lg2, rcp, rsqrt, sqrt and tanh: run once, against MPFR where a
// double leaves it open.
#ifndef PLUMBLINE_GPU_PTX_ARITHMETIC_ELEMENTARY_HPP
#define PLUMBLINE_GPU_PTX_ARITHMETIC_ELEMENTARY_HPP

#include "ptx/arithmetic/bits.hpp"

namespace plumbline::ptx::arithmetic {

PLUMBLINE_PTX_INLINE double fused(double a, double b, double c) { return __builtin_fma(a, b, c); }

/// 2^(n + r) = scale * (1 + r q), |r| <= 1/2.
struct PowerOfTwo {
  double scale, r, q;
};

/// |x| < 1000; NaN gives NaN. q is off by at most 2^-52 of itself.
PLUMBLINE_PTX_INLINE PowerOfTwo power_of_two(double x) {
  const double shifted = x + 0x1.8p52;  // its low bits: x, rounded to an integer
  const double r = x - (shifted - 0x1.8p52);
  // (2^r - 1) / r, off by 2^-56: even and odd powers, which do not wait for each other
  const double z = r * r;
  double even = 0x1.e9d3fe3952179p-32, odd = 0x1.e6063f7217bc6p-28;
  even = fused(even, z, 0x1.b524fae627834p-24);
  odd = fused(odd, z, 0x1.62bfd47773353p-20);
  even = fused(even, z, 0x1.ffcbfc670dcd4p-17);
  odd = fused(odd, z, 0x1.430913096fd9fp-13);
  even = fused(even, z, 0x1.5d87fe78a5276p-10);
  odd = fused(odd, z, 0x1.3b2ab6fba1ddap-7);
  even = fused(even, z, 0x1.c6b08d704a0c2p-5);
  odd = fused(odd, z, 0x1.ebfbdff82c598p-3);
  even = fused(even, z, 0x1.62e42fefa39efp-1);
  const double q = fused(odd, r, even);
  return {double_of((bits_of(shifted) << 52) + bits_of(1.0)), r, q};
}

/// 2^x; 0 or infinity in fp32 stay so. NaN stays NaN.
PLUMBLINE_PTX_INLINE double exact_ex2(double x) {
  const double below = x > 129.0 ? 129.0 : x, within = below < -151.0 ? -151.0 : below;
  const PowerOfTwo power = power_of_two(within);
  return power.scale * fused(power.q, power.r, 1.0);
}

/// log2 of a float. x = 2^e m with m in [1/sqrt 2, sqrt 2), s = (m - 1) / (m + 1):
/// log2 m = 2 atanh(s) / ln 2. s and the sum are kept to more bits than a double has.
PLUMBLINE_PTX_INLINE double exact_lg2(double x) {
  const std::uint64_t bits = bits_of(x);
  const std::uint64_t biased = (bits + (bits_of(1.0) - 0x3fe6a09e667f3bcd)) >> 52;
  const double e = double_of(biased | bits_of(0x1p52)) - (0x1p52 + 1023);
  const double f = double_of(bits - (biased << 52) + bits_of(1.0)) - 1.0;
  const double divisor = 2.0 + f, inverse = 1.0 / divisor, s = f * inverse;
  const double s_low = fused(-s, divisor, f) * inverse;
  const double z = s * s;
  double p = 0x1.82b4491490d5ap-3;  // (2 atanh(s) / (s ln 2) - 2 / ln 2) / z, off by 2^-63 z
  p = fused(p, z, 0x1.880a5927d124ap-3);
  p = fused(p, z, 0x1.c69ba98da5ec6p-3);
  p = fused(p, z, 0x1.0c9a6eaf44f58p-2);
  p = fused(p, z, 0x1.484b1401f9806p-2);
  p = fused(p, z, 0x1.a61762a786080p-2);
  p = fused(p, z, 0x1.2776c50ef9c71p-1);
  p = fused(p, z, 0x1.ec709dc3a03fdp-1);
  constexpr double kTwoOverLn2 = 0x1.71547652b82fep+1, kRest = 0x1.777d0ffda0d24p-55;
  const double high = s * kTwoOverLn2;
  const double low =
      fused(s, kTwoOverLn2, -high) + fused(s, kRest, fused(s_low, kTwoOverLn2, s * z * p));
  const double sum = e + high;
  const double value = sum + ((high - (sum - e)) + low);
  const double positive = x < __builtin_inf() ? value : x;
  return x == 0 ? -__builtin_inf() : x < 0 ? __builtin_nan("") : positive;
}

PLUMBLINE_PTX_INLINE double exact_rcp(double x) { return 1.0 / x; }
PLUMBLINE_PTX_INLINE double exact_sqrt(double x) { return __builtin_sqrt(x); }
PLUMBLINE_PTX_INLINE double exact_rsqrt(double x) { return 1.0 / __builtin_sqrt(x); }

/// 1 - 2 / (e^2x + 1), with e^2x - 1 where that is exact.
PLUMBLINE_PTX_INLINE double exact_tanh(double x) {
  const double below = x > 20.0 ? 20.0 : x, within = below < -20.0 ? -20.0 : below;
  const PowerOfTwo power = power_of_two(within * 0x1.71547652b82fep+1);
  const double less_one = fused(power.scale * power.q, power.r, power.scale - 1.0);
  const double value = less_one / (less_one + 2.0);
  return x == 0 ? x : value;
}

/// x = quadrant * pi/2 + angle, |angle| <= pi/4. quadrant is right modulo 4.
struct Angle {
  double angle;
  std::uint64_t quadrant;
};

/// |x| <= 2^20. pi/2 in three parts, the first two of 33 bits: their products are exact.
PLUMBLINE_PTX_INLINE Angle reduced(double x) {
  const double shifted = x * 0x1.45f306dc9c883p-1 + 0x1.8p52;
  const double n = shifted - 0x1.8p52;
  const double angle =
      ((x - n * 0x1.921fb544p+0) - n * 0x1.0b4611a6p-34) - n * 0x1.3198a2e037073p-69;
  return {angle, bits_of(shifted)};
}

/// Any finite float: x = m 2^e; of 2/pi only the bits count that are not whole turns.
PLUMBLINE_PTX_INLINE Angle reduced_far(float x) {
  // 2/pi from the bit after the point on
  constexpr std::uint64_t kTwoOverPi[] = {0xa2f9836e4e441529, 0xfc2757d1f534ddc0,
                                          0xdb6295993c439041, 0xfe5163abdebbc561};
  const std::uint32_t bits = bits_of(x);
  const int e = static_cast<int>(bits >> 23 & 255) - 150;  // at least -3: |x| > 2^20
  const std::uint64_t m = (bits & 0x7fffff) | 0x800000;
  // 128 bits of 2/pi from the (e - 1)th on: what is before is a multiple of 4
  const int skipped = e - 2;
  unsigned __int128 window = 0;
  for (int word = 3; word >= 0; --word) {
    const int shift = 64 - 64 * word + skipped;  // of the word within the window, to the left
    const unsigned __int128 value = kTwoOverPi[word];
    if (shift > -64 && shift < 128) window |= shift >= 0 ? value << shift : value >> -shift;
  }
  const unsigned __int128 turns = window * m;  // in units of 2^-126, modulo 4
  const std::uint64_t quadrant = static_cast<std::uint64_t>(turns >> 126);
  const bool upper = (turns >> 125 & 1) != 0;
  const auto fraction = static_cast<__int128>(turns << 2);  // signed: nearest quadrant
  const double angle = static_cast<double>(fraction) * 0x1p-128 * 0x1.921fb54442d18p+0;
  const std::uint64_t nearest = quadrant + (upper ? 1 : 0);
  return bits >> 31 ? Angle{-angle, 0 - nearest} : Angle{angle, nearest};
}

/// sin of quadrant * pi/2 + angle; -0 becomes +0.
PLUMBLINE_PTX_INLINE double sine_of(Angle a) {
  const double r = a.angle, z = r * r;
  double s = -0x1.ab16f5ca9f3bbp-41;
  s = fused(s, z, 0x1.61217d9252bb8p-33);
  s = fused(s, z, -0x1.ae645410e937ap-26);
  s = fused(s, z, 0x1.71de3a545f836p-19);
  s = fused(s, z, -0x1.a01a01a01992fp-13);
  s = fused(s, z, 0x1.1111111111110p-7);
  s = fused(s, z, -0x1.5555555555555p-3);
  double c = 0x1.ab092266ecb3fp-45;
  c = fused(c, z, -0x1.9393d2906f580p-37);
  c = fused(c, z, 0x1.1eed8d2fe42c4p-29);
  c = fused(c, z, -0x1.27e4fb767da6cp-22);
  c = fused(c, z, 0x1.a01a01a019590p-16);
  c = fused(c, z, -0x1.6c16c16c16c14p-10);
  c = fused(c, z, 0x1.5555555555555p-5);
  c = fused(c, z, -0x1.0000000000000p-1);
  const double value = a.quadrant & 1 ? fused(z, c, 1.0) : fused(r, z * s, r);
  return double_of(bits_of(value) ^ (a.quadrant & 2) << 62);
}

}  // namespace plumbline::ptx::arithmetic

#endif
