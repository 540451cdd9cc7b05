// SPDX-License-Identifier: Apache-2.0
// Sums of mma.sync against MPFR, and by hand.
#include "ptx/arithmetic/product.hpp"

#include <boost/test/unit_test.hpp>
#include <cmath>
#include <cstring>

#include "matrices.hpp"

BOOST_AUTO_TEST_SUITE(product_test)

namespace {

using namespace matrices;

/// c + a b, each addition rounded to nearest in fp32 (product.hpp, nearest).
double in_order(const Product& p, const double* a, const double* b, double c) {
  for (int k = 0; k < p.k; ++k)
    c = exactly::rounded(Number(c) + Number(a[k]) * Number(b[k]), exactly::kF32);
  return p.c == Element::f16 ? exactly::rounded(Number(c), exactly::kF16) : c;
}

/// Algorithm 7 and Table 4 of arXiv 2511.10909, as product.hpp states them.
double aligned(const Product& p, const double* a, const double* b, double c) {
  const bool hopper = p.sums == Sums::hopper;
  const int bits = bits_of(p.a);
  int group = bits == 8 ? 16 : bits == 16 ? 8 : 4;
  if (hopper) group *= 2;
  const int kept = bits == 8 ? 13 : hopper ? 25 : 24;
  const auto exponent = [](double x, int least) { return std::max(std::ilogb(x), least); };
  for (int first = 0; first < p.k; first += group) {
    int most = c == 0 ? -132 : exponent(c, p.c == Element::f16 ? -14 : -126);
    if (c == 0 && p.c == Element::f16) most = -21;
    for (int k = first; k < std::min(p.k, first + group); ++k)
      if (a[k] != 0 && b[k] != 0)
        most =
            std::max(most, exponent(a[k], format(p.a).least) + exponent(b[k], format(p.b).least));
    const Number unit(std::ldexp(1.0, most - kept));
    const auto units = [&](const Number& x) {
      Number whole;
      mpfr_rint(whole.get(), (x / unit).get(), MPFR_RNDZ);
      return whole;
    };
    Number sum = units(Number(c));
    for (int k = first; k < std::min(p.k, first + group); ++k)
      sum = sum + units(Number(a[k]) * Number(b[k]));
    sum = sum * unit;
    if (p.c == Element::f16) {
      c = exactly::rounded(sum, exactly::kF16);
    } else {
      const double digits = exactly::rounded(
          sum, bits == 8 ? exactly::Format{14, -126, 127} : exactly::kF32, MPFR_RNDZ);
      c = Number(0x1p128) <= exactly::magnitude(sum) ? std::copysign(INFINITY, digits) : digits;
    }
  }
  return c;
}

constexpr Shape kFloats[] = {{Element::f16, Element::f16, Element::f32, 8},
                             {Element::f16, Element::f16, Element::f32, 16},
                             {Element::f16, Element::f16, Element::f16, 8},
                             {Element::f16, Element::f16, Element::f16, 16},
                             {Element::bf16, Element::bf16, Element::f32, 8},
                             {Element::bf16, Element::bf16, Element::f32, 16},
                             {Element::tf32, Element::tf32, Element::f32, 4},
                             {Element::tf32, Element::tf32, Element::f32, 8},
                             {Element::e4m3, Element::e4m3, Element::f32, 32},
                             {Element::e5m2, Element::e5m2, Element::f32, 32},
                             {Element::e4m3, Element::e5m2, Element::f32, 32},
                             {Element::e5m2, Element::e4m3, Element::f16, 32},
                             {Element::e4m3, Element::e4m3, Element::f32, 16},
                             {Element::e4m3, Element::e4m3, Element::f16, 16}};

BOOST_AUTO_TEST_CASE(float_sums_are_those_of_the_definition_on_every_level) {
  std::mt19937_64 random(1);
  for (const Shape& shape : kFloats) {
    for (const Sums sums : kAll) {
      const Product p = of(shape, sums);
      int wrong = 0;
      // The last: far below and above what formats with a short exponent have.
      for (const int spread : {0, 3, 12, 60}) {
        const int reach = shape.c == Element::f16                            ? std::min(spread, 5)
                          : bits_of(shape.a) == 8 || shape.a == Element::f16 ? std::min(spread, 7)
                                                                             : spread;
        const Matrices m = drawn(shape, random, reach);
        const Result d = product(p, m, Level::plain);
        for (const Level level : exactly::levels())
          BOOST_TEST((std::memcmp(product(p, m, level).data(), d.data(), sizeof d) == 0));
        for (int row = 0; row < 16; ++row) {
          for (int column = 0; column < 8; ++column) {
            double b[32];
            for (int k = 0; k < p.k; ++k) b[k] = m.b[k][column];
            const double expected = sums == Sums::nearest
                                        ? in_order(p, m.a[row].data(), b, m.c[row][column])
                                        : aligned(p, m.a[row].data(), b, m.c[row][column]);
            if (d[row][column] != expected && ++wrong < 4)
              BOOST_ERROR("types " << int(p.a) << " " << int(p.b) << " " << int(p.c) << ", k "
                                   << p.k << ", sums " << int(sums) << ", spread " << spread
                                   << std::hexfloat << ": " << d[row][column] << ", not "
                                   << expected);
          }
        }
      }
      BOOST_TEST(wrong == 0);
    }
  }
}

BOOST_AUTO_TEST_CASE(where_every_order_is_exact_all_sums_are_the_integer) {
  std::mt19937_64 random(2);
  for (const Shape& shape : kFloats) {
    Matrices m;
    for (auto& row : m.a)
      for (double& x : row) x = static_cast<double>(random() % 9) - 4;
    for (auto& row : m.b)
      for (double& x : row) x = static_cast<double>(random() % 9) - 4;
    for (auto& row : m.c)
      for (double& x : row) x = static_cast<double>(random() % 9) - 4;
    for (const Sums sums : kAll) {
      const Result d = product(of(shape, sums), m);
      for (int row = 0; row < 16; ++row) {
        for (int column = 0; column < 8; ++column) {
          double exact = m.c[row][column];
          for (int k = 0; k < shape.k; ++k) exact += m.a[row][k] * m.b[k][column];
          BOOST_TEST(d[row][column] == exact);
        }
      }
    }
  }
}

/// Element (0, 0) of a product whose first row of A is `a` and whose first column of B is `b`.
double corner(const Shape& shape, Sums sums, const std::vector<double>& a,
              const std::vector<double>& b, double c) {
  Matrices m;
  for (std::size_t k = 0; k < a.size(); ++k) m.a[0][k] = a[k], m.b[k][0] = b[k];
  m.c[0][0] = c;
  return product(of(shape, sums), m)[0][0];
}

BOOST_AUTO_TEST_CASE(by_hand) {
  constexpr Shape f16{Element::f16, Element::f16, Element::f32, 16};
  constexpr Shape half{Element::f16, Element::f16, Element::f16, 16};
  constexpr Shape tf32{Element::tf32, Element::tf32, Element::f32, 8};
  constexpr Shape fp8{Element::e4m3, Element::e4m3, Element::f32, 32};
  const std::vector<double> one(16, 1.0);
  // 1 + 3/2 2^-24 rounds up; truncated it stays 1.
  BOOST_TEST(corner(f16, Sums::nearest, {0x1.8p-12}, {0x1p-12}, 1) == 1 + 0x1p-23);
  BOOST_TEST(corner(f16, Sums::ampere, {0x1.8p-12}, {0x1p-12}, 1) == 1);
  BOOST_TEST(corner(f16, Sums::hopper, {0x1.8p-12}, {0x1p-12}, 1) == 1);
  // Two of 2^-24: each alone is a tie that goes to 1; one more bit keeps both.
  BOOST_TEST(corner(f16, Sums::nearest, {0x1p-12, 0x1p-12}, {0x1p-12, 0x1p-12}, 1) == 1);
  BOOST_TEST(corner(f16, Sums::ampere, {0x1p-12, 0x1p-12}, {0x1p-12, 0x1p-12}, 1) == 1 + 0x1p-23);
  // ... but not in different groups of 8, as Hopper's one of 16 does.
  std::vector<double> apart(16, 0.0);
  apart[0] = apart[8] = 0x1p-12;
  BOOST_TEST(corner(f16, Sums::ampere, apart, apart, 1) == 1);
  BOOST_TEST(corner(f16, Sums::hopper, apart, apart, 1) == 1 + 0x1p-23);
  // Four of 2^-25: Hopper keeps two more bits.
  const std::vector<double> four(4, 0x1p-12), by(4, 0x1p-13);
  BOOST_TEST(corner(f16, Sums::ampere, four, by, 1) == 1);
  BOOST_TEST(corner(f16, Sums::hopper, four, by, 1) == 1 + 0x1p-23);
  BOOST_TEST(corner(tf32, Sums::hopper, four, by, 1) == 1 + 0x1p-23);
  // arXiv 2511.10909, Eq. 10: the exact sum is -0.875; the unit is 2^(23 - 24), then 2^(23 - 25).
  const std::vector<double> x{-0x1p13, -0.5, -0.25, -0.125}, y{0x1p10, 1, 1, 1};
  BOOST_TEST(corner(f16, Sums::nearest, x, y, 0x1p23) == -0.875);
  BOOST_TEST(corner(f16, Sums::ampere, x, y, 0x1p23) == -0.5);
  BOOST_TEST(corner(f16, Sums::hopper, x, y, 0x1p23) == -0.75);
  // Truncation is toward zero.
  BOOST_TEST(corner(f16, Sums::ampere, {0x1.8p-12}, {-0x1p-12}, -1) == -1);
  // A product is aligned by its factors' exponents: 1.5 * 1.5 = 2.25 counts as 2^0.
  BOOST_TEST(corner(f16, Sums::ampere, {1.5, 1.5, 0x1p-12}, {1.5, -1.5, 0x1p-12}, 0) == 0x1p-24);
  // A product with 0 aligns nothing, whatever its other factor.
  BOOST_TEST(corner(f16, Sums::ampere, {0, 0x1p-12}, {0x1p15, 0x1p-12}, 0.5) == 0.5 + 0x1p-24);
  // 13 bits after the point in 8-bit types.
  BOOST_TEST(corner(fp8, Sums::nearest, {0x1p-7}, {0x1p-7}, 1) == 1 + 0x1p-14);
  BOOST_TEST(corner(fp8, Sums::hopper, {0x1p-7}, {0x1p-7}, 1) == 1);
  BOOST_TEST(corner(fp8, Sums::hopper, {0x1p-7}, {0x1p-6}, 1) == 1 + 0x1p-13);
  BOOST_TEST(corner(fp8, Sums::hopper, {0}, {0}, 1 + 0x1p-20) == 1);
  // The largest sum in units of 2^-25: 16 (2 - 2^-10)^2, and an accumulator of the same exponent.
  const std::vector<double> most(16, 2 - 0x1p-10);
  BOOST_TEST(corner(f16, Sums::hopper, most, most, 0) == 64 - 0x1p-4 + 0x1p-16);
  BOOST_TEST(corner(f16, Sums::hopper, most, most, 1.5) == 65.5 - 0x1p-4 + 0x1p-16);
  // Subnormal numbers count with the least normal exponent: 2^-9 of e4m3 as 2^-6, so that the unit
  // is 2^-19; an f16 accumulator of 2^-23 as 2^-14: what is below 2^-38 does not break the tie.
  BOOST_TEST(corner(fp8, Sums::hopper, {0x1p-9}, {1}, 0x1p-20) == 0x1p-9);
  BOOST_TEST(corner(fp8, Sums::hopper, {0x1p-9}, {1}, 0x1p-19) == 0x1p-9 + 0x1p-19);
  const std::vector<double> below{0x1p-12, 0x1p-19}, half_below{0x1p-13, 0x1p-20};
  BOOST_TEST(corner(half, Sums::ampere, below, half_below, 0x1p-23) == 0x1p-23);
  BOOST_TEST(corner(half, Sums::hopper, below, half_below, 0x1p-23) == 0x1.8p-23);
  // An f16 accumulator is rounded to nearest at the end: 2048 + 1 is a tie.
  for (const Sums sums : kAll) {
    BOOST_TEST(corner(half, sums, {1}, {1}, 2048) == 2048);
    BOOST_TEST(corner(half, sums, {1.5}, {1}, 2048) == 2050);
    BOOST_TEST(corner(half, sums, {60000}, {2}, 0) == INFINITY);
    BOOST_TEST(corner(half, sums, {16}, {1}, 65504) == INFINITY);  // a tie: to even
    BOOST_TEST(corner(half, sums, {15}, {1}, 65504) == 65504);
    // Specials, in any lane of a group.
    BOOST_TEST(std::isnan(corner(f16, sums, {1, INFINITY}, {1, 0}, 0)));
    BOOST_TEST(std::isnan(corner(f16, sums, {INFINITY, INFINITY}, {1, -1}, 0)));
    BOOST_TEST(std::isnan(corner(f16, sums, {1, 1}, {1, NAN}, 0)));
    BOOST_TEST(std::isnan(corner(f16, sums, {-INFINITY}, {1}, INFINITY)));
    BOOST_TEST(corner(f16, sums, {1, -INFINITY}, {1, 2}, 5) == -INFINITY);
    BOOST_TEST(corner(f16, sums, one, one, INFINITY) == INFINITY);
  }
  // fp32 overflows to infinity, also in the middle; the other columns do not see it.
  constexpr Shape bf16{Element::bf16, Element::bf16, Element::f32, 16};
  for (const Sums sums : kAll) {
    Matrices m;
    m.a[0][0] = m.b[0][0] = 0x1p64;
    m.b[0][1] = m.a[1][0] = 3;
    const Result d = product(of(bf16, sums), m);
    BOOST_TEST(d[0][0] == INFINITY);
    BOOST_TEST(d[0][1] == 0x1.8p65);
    BOOST_TEST(d[1][1] == 9);
    BOOST_TEST(d[2][2] == 0);
  }
  BOOST_TEST(corner(bf16, Sums::ampere, {0x1p63, 0x1p63}, {0x1p64, 0x1p64}, 0) == INFINITY);
  // Operands of tf32 are cut to 10 bits after the point.
  BOOST_TEST(corner(tf32, Sums::nearest, {1 + 0x1.fp-11}, {1}, 0) == 1);
}

BOOST_AUTO_TEST_CASE(a_product_is_not_rounded_before_it_is_added_on_any_level) {
  constexpr Shape bf16{Element::bf16, Element::bf16, Element::f32, 16};
  Matrices m;
  m.a[0][0] = m.b[0][0] = 0x1p64;
  m.c[0][0] = -0x1.8p127;
  m.a[1][1] = m.b[1][1] = 0x1p-75;
  m.c[1][1] = 0x1p-149;
  for (const Level level : exactly::levels()) {
    for (const Sums sums : kAll) BOOST_TEST(product(of(bf16, sums), m, level)[0][0] == 0x1p126);
    BOOST_TEST(product(of(bf16, Sums::nearest), m, level)[1][1] == 0x1p-148);  // a tie: to even
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE_END()
