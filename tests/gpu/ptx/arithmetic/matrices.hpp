// SPDX-License-Identifier: Apache-2.0
// Matrices as numbers, and their product by mma.sync's fragments.
#ifndef PLUMBLINE_TESTS_GPU_PTX_ARITHMETIC_MATRICES_HPP
#define PLUMBLINE_TESTS_GPU_PTX_ARITHMETIC_MATRICES_HPP

#include <algorithm>
#include <array>
#include <boost/test/unit_test.hpp>
#include <cmath>

#include "exactly.hpp"
#include "ptx/arithmetic/fragments.hpp"
#include "ptx/arithmetic/product.hpp"

namespace matrices {

using namespace plumbline::ptx::arithmetic;
using exactly::Number;
using Sums = plumbline::ptx::Variation::Sums;

inline constexpr Sums kAll[] = {Sums::nearest, Sums::ampere, Sums::hopper};

inline int bits_of(Element e) {
  switch (e) {
    case Element::f16:
    case Element::bf16:
      return 16;
    case Element::tf32:
    case Element::f32:
    case Element::s32:
      return 32;
    case Element::f64:
      return 64;
    default:
      return 8;
  }
}
inline exactly::Format format(Element e) {
  switch (e) {
    case Element::f16:
      return exactly::kF16;
    case Element::bf16:
      return exactly::kBf16;
    case Element::tf32:
      return exactly::kTf32;
    case Element::e4m3:
      return {4, -6, 8};
    case Element::e5m2:
      return exactly::kE5m2;
    default:
      return exactly::kF32;
  }
}

/// The bits of a number that the format has.
inline std::uint32_t encode(Element e, double x) {
  if (e == Element::s8 || e == Element::u8)
    return static_cast<std::uint32_t>(static_cast<int>(x)) & 0xff;
  if (e == Element::f32 || e == Element::tf32) return exactly::bits(static_cast<float>(x));
  const exactly::Format f = format(e);
  const int width = bits_of(e);
  const std::uint32_t sign = std::signbit(x) ? 1u << (width - 1) : 0;
  const std::uint32_t exponents = (1u << (width - f.digits)) - 1;
  if (std::isnan(x)) return (1u << (width - 1)) - 1;
  if (std::isinf(x)) return sign | exponents << (f.digits - 1);
  const double size = std::fabs(x);
  const int exponent = size == 0 ? f.least : std::max(f.least, std::ilogb(size));
  const auto units = static_cast<std::uint32_t>(std::ldexp(size, f.digits - 1 - exponent));
  return sign | (units + (static_cast<std::uint32_t>(exponent - f.least) << (f.digits - 1)));
}

struct Matrices {
  std::array<std::array<double, 32>, 16> a{};  // [row][k]
  std::array<std::array<double, 8>, 32> b{};   // [k][column]
  std::array<std::array<double, 8>, 16> c{};
};
using Result = std::array<std::array<double, 8>, 16>;

inline double draw(std::mt19937_64& random, Element e, int spread) {
  if (e == Element::s8) return static_cast<double>(random() % 256) - 128;
  if (e == Element::u8) return static_cast<double>(random() % 256);
  if (e == Element::s32) return static_cast<std::int32_t>(random());
  const exactly::Format f = format(e);
  if (random() % 16 == 0) return random() % 2 ? 0.0 : -0.0;
  const auto digits = std::ldexp(1.0, f.digits - 1);
  const double size =
      1 + std::floor(static_cast<double>(random() % (1u << (f.digits - 1)))) / digits;
  const int exponent =
      std::max(f.least - 1, static_cast<int>(random() % (2 * spread + 1)) - spread);
  const double x = exactly::rounded(Number(std::ldexp(size, exponent)), f);
  return random() % 2 ? x : -x;
}

/// D in mma.sync's fragments; the registers of d are those of c.
inline Result product(const Product& p, const Matrices& m, Level level = best_level()) {
  std::uint32_t a[4][32] = {}, b[2][32] = {}, c[4][32] = {};
  const int each_a = 32 / bits_of(p.a);
  const bool pairs = p.c == Element::f16;
  for (int lane = 0; lane < 32; ++lane) {
    for (int i = 0; i < 16 * p.k / 32; ++i) {
      const Place at = place_in_a(bits_of(p.a), lane, i);
      a[i / each_a][lane] |= encode(p.a, m.a[at.row][at.column]) << bits_of(p.a) * (i % each_a);
    }
    for (int i = 0; i < 8 * p.k / 32; ++i) {
      const Place at = place_in_b(bits_of(p.b), lane, i);
      b[i / each_a][lane] |= encode(p.b, m.b[at.row][at.column]) << bits_of(p.b) * (i % each_a);
    }
    for (int i = 0; i < 4; ++i) {
      const Place at = place_in_c(lane, i);
      const double x = m.c[at.row][at.column];
      if (p.c == Element::s32)
        c[i][lane] = static_cast<std::uint32_t>(static_cast<std::int32_t>(x));
      else
        c[pairs ? i / 2 : i][lane] |= encode(p.c, x) << (pairs ? i % 2 * 16 : 0);
    }
  }
  void* d_list[] = {c[0], c[1], c[2], c[3]};
  const void* a_list[] = {a[0], a[1], a[2], a[3]};
  const void* b_list[] = {b[0], b[1]};
  const void* c_list[] = {c[0], c[1], c[2], c[3]};
  const Mma f = mma(p, level);
  BOOST_REQUIRE((f != nullptr));
  f(p, d_list, a_list, b_list, c_list);
  Result d{};
  for (int lane = 0; lane < 32; ++lane) {
    for (int i = 0; i < 4; ++i) {
      const Place at = place_in_c(lane, i);
      double& x = d[at.row][at.column];
      if (p.c == Element::s32)
        x = static_cast<std::int32_t>(c[i][lane]);
      else if (!pairs) {
        x = exactly::number(c[i][lane]);
        if (std::isnan(x)) BOOST_TEST(c[i][lane] == 0x7fffffffu);
      } else {
        const std::uint32_t half = c[i / 2][lane] >> i % 2 * 16 & 0xffff;
        const int exponent = half >> 10 & 31, rest = half & 1023;
        x = exponent == 31  ? (rest ? NAN : INFINITY)
            : exponent == 0 ? std::ldexp(rest, -24)
                            : std::ldexp(rest + 1024, exponent - 25);
        if (std::isnan(x)) BOOST_TEST(half == 0x7fffu);
        if (half >> 15) x = -x;
      }
    }
  }
  return d;
}

struct Shape {
  Element a, b, c;
  int k;
};
inline Product of(const Shape& s, Sums sums) {
  return {.k = s.k, .a = s.a, .b = s.b, .c = s.c, .sums = sums};
}

inline Matrices drawn(const Shape& s, std::mt19937_64& random, int spread) {
  Matrices m;
  for (auto& row : m.a)
    for (int k = 0; k < s.k; ++k) row[k] = draw(random, s.a, spread);
  for (int k = 0; k < s.k; ++k)
    for (double& x : m.b[k]) x = draw(random, s.b, spread);
  for (auto& row : m.c)
    for (double& x : row) x = draw(random, s.c, spread);
  return m;
}

}  // namespace matrices

#endif
