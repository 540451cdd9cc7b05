// SPDX-License-Identifier: Apache-2.0
// wgmma's products are mma.sync's.
#include "ptx/arithmetic/product.hpp"

#include <boost/test/unit_test.hpp>
#include <cmath>
#include <cstring>

#include "matrices.hpp"

BOOST_AUTO_TEST_SUITE(wgmma_test)

namespace {

using namespace matrices;

BOOST_AUTO_TEST_CASE(a_warps_part_of_wgmma_is_mma_on_every_8_columns) {
  std::mt19937_64 random(5);
  for (const Shape& shape : {Shape{Element::f16, Element::f16, Element::f32, 16},
                             {Element::f16, Element::f16, Element::f16, 16},
                             {Element::bf16, Element::bf16, Element::f32, 16},
                             {Element::tf32, Element::tf32, Element::f32, 8},
                             {Element::e4m3, Element::e5m2, Element::f32, 32},
                             {Element::u8, Element::s8, Element::s32, 32}}) {
    const int columns = 40, bytes = bits_of(shape.a) / 8,
              registers = shape.c == Element::f16 ? columns / 4 : columns / 2;
    for (const Sums sums : kAll) {
      for (const int how : {0, 1, 2, 3}) {  // A in registers or in memory; with and without D
        const bool in_registers = how % 2 != 0, accumulate = how / 2 != 0;
        const bool negate = sums == Sums::ampere && shape.a != Element::u8;
        Product p = of(shape, sums);
        const int each = 32 / bits_of(shape.a);
        std::vector<Matrices> blocks;
        for (int block = 0; block < columns / 8; ++block) {
          blocks.push_back(drawn(shape, random, 3));
          blocks.back().a = blocks.front().a;
        }
        std::vector<unsigned char> rows(16 * shape.k * bytes), b(columns * shape.k * bytes);
        std::uint32_t a[4][32] = {};
        for (int row = 0; row < 16; ++row)
          for (int k = 0; k < shape.k; ++k) {
            const std::uint32_t bits = encode(shape.a, blocks[0].a[row][k]);
            std::memcpy(&rows[(row * shape.k + k) * bytes], &bits, bytes);
          }
        for (int lane = 0; lane < 32; ++lane)
          for (int i = 0; i < shape.k / 2; ++i) {
            const Place at = place_in_a(bits_of(shape.a), lane, i);
            a[i / each][lane] |= encode(shape.a, blocks[0].a[at.row][at.column])
                                 << bits_of(shape.a) * (i % each);
          }
        std::vector<std::array<std::uint32_t, 32>> d(registers);
        for (auto& lanes : d) lanes.fill(0);
        for (int column = 0; column < columns; ++column) {
          for (int k = 0; k < shape.k; ++k) {
            const std::uint32_t bits = encode(shape.b, blocks[column / 8].b[k][column % 8]);
            std::memcpy(&b[(column * shape.k + k) * bytes], &bits, bytes);
          }
        }
        for (int lane = 0; lane < 32; ++lane)
          for (int i = 0; i < columns / 2; ++i) {
            const Place at = place_in_c(lane, i);
            const double x = blocks[at.column / 8].c[at.row][at.column % 8];
            if (shape.c == Element::f16)
              d[i / 2][lane] |= encode(Element::f16, x) << i % 2 * 16;
            else
              d[i][lane] = shape.c == Element::s32
                               ? static_cast<std::uint32_t>(static_cast<std::int32_t>(x))
                               : encode(Element::f32, x);
          }
        p.n = columns;
        std::vector<float> decoded(columns * shape.k);
        decode_b(p, b.data(), false, decoded.data());
        std::vector<void*> list;
        for (auto& lanes : d) list.push_back(lanes.data());
        const void* of_a[] = {a[0], a[1], a[2], a[3]};
        WgmmaOperands operands{.d = list.data()};
        operands.a = in_registers ? of_a : nullptr;
        operands.a_rows = in_registers ? nullptr : rows.data();
        operands.b = decoded.data();
        operands.accumulate = accumulate;
        operands.negate_a = negate;
        const Wgmma f = wgmma(p);
        BOOST_REQUIRE((f != nullptr));
        f(p, operands);
        p.n = 8;
        int wrong = 0;
        for (int block = 0; block < columns / 8; ++block) {
          Matrices m = blocks[block];
          if (!accumulate) m.c = {};
          if (negate)
            for (auto& row : m.a)
              for (double& x : row) x = -x;
          const Result expected = product(p, m);
          for (int lane = 0; lane < 32; ++lane)
            for (int i = 0; i < 4; ++i) {
              const Place at = place_in_c(lane, i);
              const double x = expected[at.row][at.column];
              const std::uint32_t got = shape.c == Element::f16
                                            ? d[2 * block + i / 2][lane] >> i % 2 * 16 & 0xffff
                                            : d[4 * block + i][lane];
              wrong += got != (shape.c == Element::s32
                                   ? static_cast<std::uint32_t>(static_cast<std::int32_t>(x))
                                   : encode(shape.c, x));
            }
        }
        BOOST_TEST(wrong == 0, "types " << int(shape.a) << " " << int(shape.c) << " sums "
                                        << int(sums) << " how " << how << ": " << wrong);
      }
    }
  }
  Product p{.n = 8, .k = 8, .a = Element::tf32, .b = Element::tf32, .c = Element::f32};
  float columns[64], b[64];
  for (int i = 0; i < 64; ++i) columns[i] = static_cast<float>(i);  // [n][k]
  decode_b(p, columns, true, b);
  BOOST_TEST(b[0 * 8 + 1] == -8.0f);  // k 0, column 1
  BOOST_TEST(b[7 * 8 + 0] == -7.0f);
}

BOOST_AUTO_TEST_CASE(b_is_decoded_from_rows_and_from_columns) {
  std::mt19937_64 random(7);
  const struct {
    Element element;
    int k;
  } all[] = {{Element::f16, 16},  {Element::bf16, 16}, {Element::tf32, 8}, {Element::e4m3, 32},
             {Element::e5m2, 32}, {Element::s8, 32},   {Element::u8, 32}};
  constexpr int n = 24;
  for (const auto& one : all) {
    const int bytes = bits_of(one.element) / 8;
    std::vector<double> numbers;
    std::vector<unsigned char> columns(n * one.k * bytes), rows(columns.size());
    for (int column = 0; column < n; ++column)
      for (int k = 0; k < one.k; ++k) {
        numbers.push_back(draw(random, one.element, 3));
        const std::uint32_t bits = encode(one.element, numbers.back());
        std::memcpy(&columns[(column * one.k + k) * bytes], &bits, bytes);
        std::memcpy(&rows[(k * n + column) * bytes], &bits, bytes);
      }
    const Product p{.n = n, .k = one.k, .a = one.element, .b = one.element, .c = Element::f32};
    for (const bool negate : {false, true})
      for (const bool k_major : {false, true})
        for (Level level = Level::plain; level <= best_level();
             level = static_cast<Level>(static_cast<int>(level) + 1)) {
          std::vector<float> b(numbers.size());
          decode_b(p, k_major ? columns.data() : rows.data(), negate, b.data(), k_major, level);
          int wrong = 0;
          for (int column = 0; column < n; ++column)
            for (int k = 0; k < one.k; ++k) {
              const double x = numbers[column * one.k + k];
              wrong += b[(column / 8 * one.k + k) * 8 + column % 8] != (negate ? -x : x);
            }
          BOOST_TEST(wrong == 0, "type " << int(one.element) << " level " << int(level)
                                         << " by columns " << k_major << ": " << wrong);
        }
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE_END()
