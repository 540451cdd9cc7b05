// SPDX-License-Identifier: Apache-2.0
// The maps of fragments.hpp and descriptor.hpp, against the PTX ISA's formulas as it writes them.
#include "ptx/arithmetic/fragments.hpp"

#include <boost/test/unit_test.hpp>
#include <set>
#include <utility>

#include "ptx/arithmetic/descriptor.hpp"

BOOST_AUTO_TEST_SUITE(fragments_test)

namespace {

using namespace plumbline::ptx::arithmetic;

/// What 9.7.14.5.6 to .10 say of a_i, in their words.
Place a_in_the_isa(int bits, int k, int lane, int i) {
  const int group = lane >> 2, in_group = lane % 4;
  if (bits == 32 || bits == 64) {
    if (bits == 64 && k == 16)
      return {i % 2 == 0 ? group : group + 8, i % 2 == 0 ? i * 2 + in_group : i * 2 - 2 + in_group};
    if (k == 4) return {i == 0 ? group : group + 8, in_group};
    return {i == 0 || i == 2 ? group : group + 8, i < 2 ? in_group : in_group + 4};
  }
  if (bits == 16) {
    if (k == 8) return {i < 2 ? group : group + 8, in_group * 2 + (i & 1)};
    return {i < 2 || (4 <= i && i < 6) ? group : group + 8,
            in_group * 2 + (i & 1) + (i >= 4 ? 8 : 0)};
  }
  if (k == 16) return {i < 4 ? group : group + 8, in_group * 4 + (i & 3)};
  return {i < 4 || (8 <= i && i < 12) ? group : group + 8,
          in_group * 4 + (i & 3) + (i < 8 ? 0 : 16)};
}

Place b_in_the_isa(int bits, int lane, int i) {
  const int group = lane >> 2, in_group = lane % 4;
  if (bits == 64) return {in_group + i * 4, group};
  if (bits == 32) return {i == 0 ? in_group : in_group + 4, group};
  if (bits == 16) return {in_group * 2 + (i & 1) + (i < 2 ? 0 : 8), group};
  return {in_group * 4 + (i & 3) + (i < 4 ? 0 : 16), group};
}

BOOST_AUTO_TEST_CASE(every_element_of_a_and_b_lies_where_the_isa_says_and_once) {
  const int shapes[][2] = {{32, 4}, {32, 8},  {64, 4}, {64, 8}, {64, 16},
                           {16, 8}, {16, 16}, {8, 16}, {8, 32}};
  for (const auto& [bits, k] : shapes) {
    std::set<std::pair<int, int>> in_a, in_b;
    for (int lane = 0; lane < 32; ++lane) {
      for (int i = 0; i < 16 * k / 32; ++i) {
        const Place place = place_in_a(bits, lane, i), expected = a_in_the_isa(bits, k, lane, i);
        BOOST_TEST((place == expected),
                   bits << " bits, k " << k << ", lane " << lane << ", a" << i);
        in_a.emplace(place.row, place.column);
      }
      for (int i = 0; i < 8 * k / 32; ++i) {
        const Place place = place_in_b(bits, lane, i), expected = b_in_the_isa(bits, lane, i);
        BOOST_TEST((place == expected),
                   bits << " bits, k " << k << ", lane " << lane << ", b" << i);
        in_b.emplace(place.row, place.column);
      }
    }
    BOOST_TEST(in_a.size() == 16u * k);
    BOOST_TEST(in_b.size() == 8u * k);
  }
}

BOOST_AUTO_TEST_CASE(accumulators) {
  for (int lane = 0; lane < 32; ++lane) {
    for (int i = 0; i < 4; ++i) {
      const Place expected{i < 2 ? lane >> 2 : (lane >> 2) + 8, (lane % 4) * 2 + (i & 1)};
      BOOST_TEST((place_in_c(lane, i) == expected));
      // Figure 149: the next four registers of wgmma are the next 8 columns.
      BOOST_TEST((place_in_c(lane, 4 * 31 + i) == Place{expected.row, expected.column + 248}));
    }
  }
}

BOOST_AUTO_TEST_CASE(movmatrix_transposes_what_ldmatrix_lays_out) {
  int matrix[8][8], of_lane[32][2];
  for (int i = 0; i < 64; ++i) matrix[i / 8][i % 8] = i;
  // Figure 104: thread 0 has the first two elements of row 0, thread 4 of row 1.
  for (int lane = 0; lane < 32; ++lane) {
    for (int half = 0; half < 2; ++half) {
      const Place place = place_in_ldmatrix(lane, half, false);
      of_lane[lane][half] = matrix[place.row][place.column];
      BOOST_TEST(of_lane[lane][half] == 2 * lane + half);
    }
  }
  for (int lane = 0; lane < 32; ++lane) {
    for (int half = 0; half < 2; ++half) {
      const HalfWord from = source_of_movmatrix(lane, half);
      const int expected = matrix[2 * (lane % 4) + half][lane / 4];
      BOOST_TEST(of_lane[from.lane][from.half] == expected);
      const Place trans = place_in_ldmatrix(lane, half, true);
      BOOST_TEST(matrix[trans.row][trans.column] == expected);
    }
  }
}

std::uint64_t encode(std::uint64_t start, std::uint64_t leading, std::uint64_t stride,
                     std::uint64_t mode, std::uint64_t base = 0) {
  return (start & 0x3ffff) >> 4 | (leading & 0x3ffff) >> 4 << 16 | (stride & 0x3ffff) >> 4 << 32 |
         base << 49 | mode << 62;
}

/// CuTe's Swizzle<B, 4, 3> of a byte address.
std::uint32_t swizzled(std::uint32_t at, int b) { return at ^ ((at >> 7) & ((1u << b) - 1)) << 4; }

BOOST_AUTO_TEST_CASE(a_descriptor_is_read_field_by_field) {
  const Descriptor d = Descriptor::decode(encode(0x12340, 0x100, 0x400, 2, 5));
  BOOST_TEST(d.start == 0x12340u);
  BOOST_TEST(d.leading == 0x100u);
  BOOST_TEST(d.stride == 0x400u);
  BOOST_TEST(d.base_offset == 5u);
  BOOST_TEST(d.swizzle == 64u);
  BOOST_TEST(Descriptor::decode(encode(0, 0, 0, 0)).swizzle == 16u);
  BOOST_TEST(Descriptor::decode(encode(0, 0, 0, 1)).swizzle == 128u);
  BOOST_TEST(Descriptor::decode(encode(0, 0, 0, 3)).swizzle == 32u);
}

BOOST_AUTO_TEST_CASE(the_isas_examples_of_layouts) {
  const std::uint32_t start = 0x2400;
  for (std::uint32_t mn = 0; mn < 16; ++mn) {
    for (std::uint32_t k = 0; k < 16; ++k) {
      // Figure 166, K-major, tf32: ((8,2),(4,4)):((4,32),(1,64))
      BOOST_TEST(Descriptor::decode(encode(start, 64 * 4, 32 * 4, 0)).address(mn, k, 4, true) ==
                 start + 4 * (mn % 8 * 4 + mn / 8 * 32 + k % 4 + k / 4 * 64));
      // Figure 168, MN-major, bf16: ((8,1,2),(8,2)):((1,8,64),(8,128))
      BOOST_TEST(Descriptor::decode(encode(start, 128 * 2, 64 * 2, 0)).address(mn, k, 2, false) ==
                 start + 2 * (mn % 8 + mn / 8 * 64 + k % 8 * 8 + k / 8 * 128));
      // Figure 167, K-major, 32B, tf32: Swizzle<1,4,3> o ((8,2),(4,4)):((8,64),(1,4)); 8 of k
      if (k < 8)
        BOOST_TEST(Descriptor::decode(encode(start, 16, 64 * 4, 3)).address(mn, k, 4, true) ==
                   swizzled(start + 4 * (mn % 8 * 8 + mn / 8 * 64 + k), 1));
    }
  }
  for (std::uint32_t mn = 0; mn < 64; ++mn) {
    for (std::uint32_t k = 0; k < 16; ++k) {
      // Figure 169, MN-major, 32B, bf16: Swizzle<1,4,3> o ((8,2,2),(8,2)):((1,8,128),(16,256))
      if (mn < 32)
        BOOST_TEST(
            Descriptor::decode(encode(start, 128 * 2, 256 * 2, 3)).address(mn, k, 2, false) ==
            swizzled(start + 2 * (mn % 16 + mn / 16 * 128 + k % 8 * 16 + k / 8 * 256), 1));
      // Figure 170, MN-major, 64B, bf16: Swizzle<2,4,3> o ((8,4,2),(8,2)):((1,8,256),(32,512))
      BOOST_TEST(Descriptor::decode(encode(start, 256 * 2, 512 * 2, 2)).address(mn, k, 2, false) ==
                 swizzled(start + 2 * (mn % 32 + mn / 32 * 256 + k % 8 * 32 + k / 8 * 512), 2));
    }
  }
}

BOOST_AUTO_TEST_CASE(swizzle_of_128_bytes_exchanges_sixteenths_by_the_row) {
  const std::uint32_t start = 0x4000;
  for (std::uint32_t mn = 0; mn < 64; ++mn) {
    for (std::uint32_t k = 0; k < 64; ++k) {
      const std::uint32_t row = mn % 8, chunk = k / 8;
      const Descriptor whole = Descriptor::decode(encode(start, 16, 1024, 1));
      const std::uint32_t expected =
          start + mn / 8 * 1024 + row * 128 + (chunk ^ row) * 16 + k % 8 * 2;
      BOOST_TEST(whole.address(mn, k, 2, true) == expected);
      // The next k of a product: a start 32 bytes on within the pattern.
      if (k >= 16)
        BOOST_TEST(
            Descriptor::decode(encode(start + 32, 16, 1024, 1)).address(mn, k - 16, 2, true) ==
            expected);
      // A pattern that begins 3 rows off its boundary, as the base offset says.
      BOOST_TEST(Descriptor::decode(encode(start + 384, 16, 1024, 1, 3)).address(mn, k, 2, true) ==
                 start + 384 + mn / 8 * 1024 + row * 128 + (chunk ^ row) * 16 + k % 8 * 2);
    }
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE_END()
