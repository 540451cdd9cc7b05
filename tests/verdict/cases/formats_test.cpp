// SPDX-License-Identifier: Apache-2.0
#include <bit>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "verdict/cases/formats.hpp"

namespace plumbline::cases {

BOOST_AUTO_TEST_SUITE(formats_test)

BOOST_AUTO_TEST_SUITE(bf16)

BOOST_AUTO_TEST_CASE(every_value_but_nan_survives_the_round_trip) {
  int wrong = 0;
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    const float value = from_bf16(static_cast<std::uint16_t>(bits));
    if (std::isnan(value)) continue;
    wrong += to_bf16(value) != bits;
  }
  BOOST_TEST(wrong == 0);
}

BOOST_AUTO_TEST_CASE(halfway_goes_to_even_and_its_neighbours_to_the_nearer_one) {
  // Between each bf16 and the next larger in magnitude, up to infinity as the next after the
  // largest: midpoints in double are exact, so what is expected does not use the bits of fp32.
  int wrong = 0;
  for (std::uint32_t sign = 0; sign <= 0x8000; sign += 0x8000) {
    for (std::uint32_t magnitude = 0; magnitude < 0x7f80; ++magnitude) {
      const auto below = static_cast<std::uint16_t>(sign | magnitude);
      const auto above = static_cast<std::uint16_t>(below + 1);
      const double low = from_bf16(below);
      const double high = magnitude + 1 == 0x7f80 ? std::copysign(0x1p128, low) : from_bf16(above);
      const auto middle = static_cast<float>((low + high) / 2);
      const float infinity = std::numeric_limits<float>::infinity();
      wrong += to_bf16(middle) != (below % 2 == 0 ? below : above);
      wrong += to_bf16(std::nextafter(middle, 0.0f)) != below;
      wrong += to_bf16(std::nextafter(middle, std::copysign(infinity, middle))) != above;
    }
  }
  BOOST_TEST(wrong == 0);
}

BOOST_AUTO_TEST_CASE(nan_stays_nan_whatever_its_payload) {
  for (const std::uint32_t bits :
       {0x7f800001u, 0x7fc00000u, 0x7fffffffu, 0xff800001u, 0xffffffffu}) {
    BOOST_TEST(std::isnan(from_bf16(to_bf16(std::bit_cast<float>(bits)))));
  }
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(eight_bits)

namespace {

std::uint64_t fnv1a(const std::vector<std::byte>& bytes) {
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (const std::byte byte : bytes) {
    hash = (hash ^ static_cast<std::uint64_t>(byte)) * 0x100000001b3u;
  }
  return hash;
}

/// OFP8, table 1: (-1)^s 2^(e - bias) (1 + m / 2^fraction), and 2^(1 - bias) m / 2^fraction for
/// e = 0.
double by_the_table(int code, int fraction, int bias) {
  const int e = (code & 0x7f) >> fraction, m = code & ((1 << fraction) - 1);
  const double of_one = m / std::exp2(fraction);
  const double size = e == 0 ? std::exp2(1 - bias) * of_one : std::exp2(e - bias) * (1 + of_one);
  return code & 0x80 ? -size : size;
}

}  // namespace

BOOST_AUTO_TEST_CASE(every_code_is_the_number_of_the_specification) {
  const float infinity = std::numeric_limits<float>::infinity();
  int wrong = 0;
  for (int code = 0; code < 256; ++code) {
    const auto bits = static_cast<std::uint8_t>(code);
    const bool negative = (code & 0x80) != 0;
    const float four = from_e4m3(bits), five = from_e5m2(bits);
    wrong += (code & 0x7f) == 0x7f ? !std::isnan(four) : four != by_the_table(code, 3, 7);
    if ((code & 0x7f) > 0x7c) {
      wrong += !std::isnan(five);
    } else if ((code & 0x7f) == 0x7c) {
      wrong += five != (negative ? -infinity : infinity);
    } else {
      wrong += five != by_the_table(code, 2, 15);
    }
    if (!std::isnan(four)) wrong += std::signbit(four) != negative || to_e4m3(four) != bits;
    if (!std::isnan(five)) wrong += std::signbit(five) != negative || to_e5m2(five) != bits;
  }
  BOOST_TEST(wrong == 0);
  // Its table 2: the largest number, the smallest normal one, the smallest.
  BOOST_TEST(from_e4m3(0x7e) == 448.0f);
  BOOST_TEST(from_e4m3(0x08) == 0x1p-6f);
  BOOST_TEST(from_e4m3(0x01) == 0x1p-9f);
  BOOST_TEST(from_e5m2(0x7b) == 57344.0f);
  BOOST_TEST(from_e5m2(0x04) == 0x1p-14f);
  BOOST_TEST(from_e5m2(0x01) == 0x1p-16f);
}

BOOST_AUTO_TEST_CASE(numbers_are_rounded_as_ml_dtypes_rounds_them) {
  // Every fp16 number, among them all midpoints, and the float above and below each. The hashes
  // are those of ml_dtypes 0.4.1, astype(float8_e4m3fn) and astype(float8_e5m2), NaN written as
  // 0x7f.
  const float infinity = std::numeric_limits<float>::infinity();
  std::vector<float> numbers, above, below;
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    const float value = from_fp16(static_cast<std::uint16_t>(bits));
    if (std::isnan(value)) continue;
    numbers.push_back(value);
    above.push_back(std::nextafter(value, infinity));
    below.push_back(std::nextafter(value, -infinity));
  }
  numbers.insert(numbers.end(), above.begin(), above.end());
  numbers.insert(numbers.end(), below.begin(), below.end());
  for (const auto& [format, expected] :
       {std::pair{Format::e4m3, 0xd01df72ec792acf1u}, {Format::e5m2, 0x2ca124283300e97du}}) {
    std::vector<std::byte> bytes = stored_bytes(numbers, format);
    const std::vector<float> read = widened(bytes, format);
    for (std::size_t n = 0; n < read.size(); ++n) {
      if (std::isnan(read[n])) bytes[n] = std::byte{0x7f};
    }
    BOOST_TEST(fnv1a(bytes) == expected);
  }
}

BOOST_AUTO_TEST_CASE(nothing_saturates) {
  const float infinity = std::numeric_limits<float>::infinity();
  // Halfway to the number that would be next, 480 and 65536: ties go to even.
  BOOST_TEST(stored(464.0f, Format::e4m3) == 448.0f);
  BOOST_TEST(std::isnan(stored(std::nextafter(464.0f, infinity), Format::e4m3)));
  BOOST_TEST(stored(std::nextafter(61440.0f, 0.0f), Format::e5m2) == 57344.0f);
  BOOST_TEST(stored(61440.0f, Format::e5m2) == infinity);
  for (const float beyond : {1e6f, std::numeric_limits<float>::max(), infinity}) {
    BOOST_TEST(to_e4m3(beyond) == 0x7f);
    BOOST_TEST(to_e4m3(-beyond) == 0xff);
    BOOST_TEST(to_e5m2(beyond) == 0x7c);
    BOOST_TEST(to_e5m2(-beyond) == 0xfc);
  }
  BOOST_TEST(std::isnan(stored(std::nanf(""), Format::e4m3)));
  BOOST_TEST(std::isnan(stored(std::nanf(""), Format::e5m2)));
}

BOOST_AUTO_TEST_CASE(outputs_of_8_bit_inputs_are_bf16) {
  for (const Format format : all_formats()) {
    const bool small = format == Format::e4m3 || format == Format::e5m2;
    BOOST_TEST(has_scales(format) == small);
    BOOST_CHECK(output_format(format) == (small ? Format::bf16 : format));
  }
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_CASE(a_cache_of_int8_holds_whole_numbers) {
  const auto in_int8 = [](float x) { return stored(x, Format::bf16, CacheFormat::int8); };
  BOOST_TEST(in_int8(2.5F) == 2);
  BOOST_TEST(in_int8(-3.5F) == -4);
  BOOST_TEST(in_int8(127) == 127);
  BOOST_TEST(std::isnan(in_int8(127.25F)));
  const std::vector<float> numbers{1, -127, 0, std::nanf("")};
  const auto bytes = stored_bytes(numbers, Format::fp32, CacheFormat::int8);
  const std::vector<int> expected{1, 0x81, 0, 0x80};
  BOOST_REQUIRE(bytes.size() == expected.size());
  for (std::size_t n = 0; n < bytes.size(); ++n) {
    BOOST_TEST(static_cast<int>(bytes[n]) == expected[n]);
  }
  BOOST_TEST(stored(1.06F, Format::fp32, CacheFormat::e4m3) == 1.0F);
  BOOST_TEST(stored(1.06F, Format::fp32, CacheFormat::in_format) == 1.06F);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace plumbline::cases
