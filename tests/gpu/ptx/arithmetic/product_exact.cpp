// SPDX-License-Identifier: Apache-2.0
// Products of mma.sync that the PTX ISA defines to the bit: integers and f64.
#include "ptx/arithmetic/product.hpp"

#include <boost/test/unit_test.hpp>
#include <cmath>
#include <cstdint>

#include "matrices.hpp"

BOOST_AUTO_TEST_SUITE(product_exact_test)

namespace {

using namespace matrices;

BOOST_AUTO_TEST_CASE(integers_wrap_or_saturate) {
  std::mt19937_64 random(3);
  for (const Element a : {Element::s8, Element::u8}) {
    for (const Element b : {Element::s8, Element::u8}) {
      for (const int k : {16, 32}) {
        for (const bool satfinite : {false, true}) {
          const Shape shape{a, b, Element::s32, k};
          Product p = of(shape, Sums::nearest);
          p.satfinite = satfinite;
          for (int round = 0; round < 4; ++round) {
            Matrices m = drawn(shape, random, 0);
            for (auto& row : m.c)
              for (double& x : row)
                if (round > 1)
                  x = random() % 2 ? 0x7fffffff - double(random() % 65536)
                                   : -0x80000000ll + double(random() % 65536);
            if (round == 3)
              for (auto& row : m.a)
                std::fill(row.begin(), row.end(), a == Element::u8 ? 255 : -128);
            for (const Level level : exactly::levels()) {
              const Result d = product(p, m, level);
              for (int row = 0; row < 16; ++row) {
                for (int column = 0; column < 8; ++column) {
                  auto exact = static_cast<std::int64_t>(m.c[row][column]);
                  for (int i = 0; i < k; ++i)
                    exact += static_cast<int>(m.a[row][i]) * static_cast<int>(m.b[i][column]);
                  const std::int64_t expected =
                      satfinite ? std::clamp<std::int64_t>(exact, INT32_MIN, INT32_MAX)
                                : static_cast<std::int32_t>(exact);
                  BOOST_TEST(d[row][column] == static_cast<double>(expected));
                }
              }
            }
          }
        }
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(f64_is_fma_in_order) {
  std::mt19937_64 random(4);
  for (const auto& [m, k] : {std::pair{8, 4}, {16, 4}, {16, 8}, {16, 16}}) {
    Product p{.k = k, .a = Element::f64, .b = Element::f64, .c = Element::f64, .m = m};
    double a[8][32], b[4][32], c[4][32], d[4][32];
    for (auto* of : {&a[0], &a[1], &a[2], &a[3], &a[4], &a[5], &a[6], &a[7], &b[0], &b[1], &b[2],
                     &b[3], &c[0], &c[1], &c[2], &c[3]})
      for (double& x : *of)
        x = std::ldexp(static_cast<double>(random() >> 11), static_cast<int>(random() % 8) - 53);
    c[0][9] = NAN;
    void* to[] = {d[0], d[1], d[2], d[3]};
    const void* of_a[] = {a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7]};
    const void* of_b[] = {b[0], b[1], b[2], b[3]};
    const void* of_c[] = {c[0], c[1], c[2], c[3]};
    for (const Level level : exactly::levels()) {
      mma(p, level)(p, to, of_a, of_b, of_c);
      for (int lane = 0; lane < 32; ++lane) {
        for (int i = 0; i < m / 4; ++i) {
          const int row = lane / 4 + (i >= 2 ? 8 : 0), column = lane % 4 * 2 + i % 2;
          double sum = c[i][lane];
          for (int j = 0; j < k; ++j)
            // a's register: two rows alternate; its lane: row and j in the group
            sum = std::fma(a[m == 8 ? 0 : j / 4 * 2 + row / 8][row % 8 * 4 + j % 4],
                           b[j / 4][column * 4 + j % 4], sum);
          if (std::isnan(sum))
            BOOST_TEST(std::bit_cast<std::uint64_t>(d[i][lane]) == 0x7fffffffffffffffu);
          else
            BOOST_TEST(d[i][lane] == sum);
        }
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(what_the_isa_has_not_is_not_there) {
  Product p{.k = 16, .a = Element::bf16, .b = Element::bf16, .c = Element::f16};
  BOOST_TEST((mma(p) == nullptr));
  p = {.k = 16, .a = Element::f16, .b = Element::bf16, .c = Element::f32};
  BOOST_TEST((mma(p) == nullptr));
  p = {.k = 32, .a = Element::f16, .b = Element::f16, .c = Element::f32};
  BOOST_TEST((mma(p) == nullptr));
  p = {.n = 12, .k = 16, .a = Element::f16, .b = Element::f16, .c = Element::f32};
  BOOST_TEST((wgmma(p) == nullptr));
  p = {.n = 64, .k = 8, .a = Element::f16, .b = Element::f16, .c = Element::f32};
  BOOST_TEST((wgmma(p) == nullptr));
}

}  // namespace

BOOST_AUTO_TEST_SUITE_END()
