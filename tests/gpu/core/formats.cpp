// SPDX-License-Identifier: Apache-2.0
#include "core/formats.cuh"

#include <bit>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>

#include "tests/gpu/paged_case.hpp"

BOOST_AUTO_TEST_SUITE(formats_test)

namespace {

using namespace plumbline::gpu;
using plumbline::gpu_tests::number_of_8_bits;

constexpr float kInfinity = std::numeric_limits<float>::infinity();

/// A number of the format with `digits` bits behind the point and exponents from `smallest` on that
/// is nearest to x, by double arithmetic; `ties` rounds to an integer.
template <class Ties>
double nearest(double x, int digits, int smallest, double overflow, Ties ties) {
  if (x == 0.0) return x;
  const int exponent = std::max(std::ilogb(x), smallest);
  const double y = std::ldexp(ties(std::ldexp(x, digits - exponent)), exponent - digits);
  return std::abs(y) >= overflow ? std::copysign(INFINITY, y) : y;
}

double nearest_fp16(float x) {
  return nearest(x, 10, -14, 65536.0, [](double y) { return std::nearbyint(y); });
}

double nearest_tf32(float x) {
  return nearest(x, 10, -126, 0x1p128, [](double y) { return std::round(y); });
}

template <class Check>
void for_many_floats(Check check) {
  std::mt19937 random(20);
  for (int n = 0; n < 2000000; ++n) {
    const auto x = std::bit_cast<float>(static_cast<std::uint32_t>(random()));
    if (std::isfinite(x)) check(x);
  }
  // Denser where fp16 has its numbers and its subnormals.
  for (int n = 0; n < 2000000; ++n) {
    const auto x =
        std::bit_cast<float>(static_cast<std::uint32_t>(random()) % 0x12000000u + 0x32000000u);
    check(x);
    check(-x);
  }
}

bool same(float x, double expected) {
  return x == expected && std::signbit(x) == std::signbit(expected);
}

BOOST_AUTO_TEST_CASE(every_fp16_is_read_exactly_and_comes_back) {
  int wrong = 0;
  for (std::uint32_t bits = 0; bits < 0x10000u; ++bits) {
    const float16 half{static_cast<std::uint16_t>(bits)};
    const int exponent = static_cast<int>(bits >> 10 & 31u);
    const int digits = static_cast<int>(bits & 1023u);
    const float x = to_float(half);
    if (exponent == 31 && digits != 0) {
      if (!std::isnan(x) || from_float<float16>(x).bits != 0x7fff) ++wrong;
      continue;
    }
    double expected = exponent == 31  ? INFINITY
                      : exponent == 0 ? std::ldexp(digits, -24)
                                      : std::ldexp(1024 + digits, exponent - 25);
    if (bits & 0x8000u) expected = -expected;
    if (!same(x, expected) || from_float<float16>(x).bits != bits) ++wrong;
  }
  BOOST_TEST(wrong == 0);
}

BOOST_AUTO_TEST_CASE(every_number_of_8_bits_is_read_exactly) {
  struct Float8 {
    CacheFormat format;
    int digits, bias, infinity, nan;  // the code of infinity, and that of the first NaN
  };
  for (const Float8& f :
       {Float8{CacheFormat::e4m3, 3, 7, -1, 0x7f}, {CacheFormat::e5m2, 2, 15, 0x7c, 0x7d}})
    for (int code = 0; code < 256; ++code) {
      const auto byte = static_cast<std::uint8_t>(code);
      const float x = number_of_8_bits(f.format, byte);
      const int magnitude = code & 0x7f, exponent = magnitude >> f.digits;
      const int unit = 1 << f.digits, digits = magnitude % unit;
      BOOST_TEST_INFO(static_cast<int>(f.format) << " " << code);
      if (magnitude >= f.nan) {
        BOOST_TEST(std::isnan(x));
        continue;
      }
      const double expected = magnitude == f.infinity
                                  ? INFINITY
                                  : std::ldexp(exponent > 0 ? unit + digits : digits,
                                               std::max(exponent, 1) - f.bias - f.digits);
      BOOST_TEST(same(x, code < 128 ? expected : -expected));
    }
  for (int x = -128; x < 128; ++x) {
    alignas(2) const std::int8_t bytes[] = {77, static_cast<std::int8_t>(x)};
    float numbers[2];
    load_vector<std::int8_t>(bytes, numbers);
    BOOST_TEST(numbers[0] == 77.0f);
    BOOST_TEST(numbers[1] == static_cast<float>(x));
  }
  alignas(16) const std::uint8_t codes[16] = {0x7e, 0x7b, 0x01};
  float e4m3[16], e5m2[16];
  load_vector<float8_e4m3>(codes, e4m3);
  load_vector<float8_e5m2>(codes, e5m2);
  BOOST_TEST(e4m3[0] == 448.0f);
  BOOST_TEST(e5m2[1] == 57344.0f);
  BOOST_TEST(e4m3[2] == 0x1p-9f);
  BOOST_TEST(e5m2[2] == 0x1p-16f);
}

BOOST_AUTO_TEST_CASE(floats_round_to_the_nearest_fp16) {
  int wrong = 0;
  for_many_floats(
      [&](float x) { wrong += !same(to_float(from_float<float16>(x)), nearest_fp16(x)); });
  BOOST_TEST(wrong == 0);
}

BOOST_AUTO_TEST_CASE(fp16_ties_go_to_even) {
  const auto rounded = [](float x) { return to_float(from_float<float16>(x)); };
  BOOST_TEST(rounded(1.0f + 0x1p-11f) == 1.0f);
  BOOST_TEST(rounded(1.0f + 0x3p-11f) == 1.0f + 0x1p-9f);
  BOOST_TEST(rounded(1.0f + 0x1p-11f + 0x1p-23f) == 1.0f + 0x1p-10f);
  BOOST_TEST(rounded(65519.996f) == 65504.0f);
  BOOST_TEST(rounded(65520.0f) == kInfinity);
  BOOST_TEST(rounded(-kInfinity) == -kInfinity);
  BOOST_TEST(rounded(0x1p-25f) == 0.0f);  // half of the smallest subnormal
  BOOST_TEST(rounded(0x3p-25f) == 0x1p-23f);
  BOOST_TEST(rounded(0x1p-25f + 0x1p-45f) == 0x1p-24f);
  BOOST_TEST(rounded(0x1p-14f - 0x1p-25f) == 0x1p-14f);  // carries out of the subnormals
  BOOST_TEST(rounded(0x1p-149f) == 0.0f);
  BOOST_TEST(std::isnan(rounded(std::bit_cast<float>(0x7f800001u))));
}

BOOST_AUTO_TEST_CASE(floats_round_to_the_nearest_tf32) {
  int wrong = 0;
  for_many_floats([&](float x) { wrong += !same(round_to_tf32(x), nearest_tf32(x)); });
  BOOST_TEST(wrong == 0);
}

BOOST_AUTO_TEST_CASE(tf32_ties_go_away_from_zero) {
  BOOST_TEST(round_to_tf32(1.0f + 0x1p-11f) == 1.0f + 0x1p-10f);
  BOOST_TEST(round_to_tf32(-1.0f - 0x1p-11f) == -1.0f - 0x1p-10f);
  BOOST_TEST(round_to_tf32(1.0f + 0x1p-11f - 0x1p-23f) == 1.0f);
  BOOST_TEST(round_to_tf32(std::numeric_limits<float>::max()) == kInfinity);
  BOOST_TEST(round_to_tf32(-kInfinity) == -kInfinity);
  BOOST_TEST(std::bit_cast<std::uint32_t>(round_to_tf32(std::bit_cast<float>(0xff800001u))) ==
             0x7fffffffu);
}

BOOST_AUTO_TEST_CASE(elements_of_a_format_known_at_run_time) {
  const float x = 1.0f + 0x1p-9f + 0x1p-20f;  // of none of the short formats
  float words[2] = {7.0f, 7.0f};
  std::uint16_t halves[2] = {7, 7};
  store_element(words, Format::fp32, 1, x);
  BOOST_TEST(load_element(words, Format::fp32, 1) == x);
  store_element(words, Format::tf32, 0, x);
  BOOST_TEST(load_element(words, Format::tf32, 0) == x);
  store_element(halves, Format::bf16, 1, x);
  BOOST_TEST(load_element(halves, Format::bf16, 1) == 1.0f);
  store_element(halves, Format::fp16, 0, x);
  BOOST_TEST(load_element(halves, Format::fp16, 0) == 1.0f + 0x1p-9f);
  BOOST_TEST(halves[1] == 0x3f80);
  BOOST_TEST(element_bytes(Format::fp32) == 4u);
  BOOST_TEST(element_bytes(Format::tf32) == 4u);
  BOOST_TEST(element_bytes(Format::bf16) == 2u);
  BOOST_TEST(element_bytes(Format::fp16) == 2u);
}

}  // namespace

BOOST_AUTO_TEST_SUITE_END()
