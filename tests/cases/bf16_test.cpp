// SPDX-License-Identifier: Apache-2.0
#include <bit>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <cstdint>
#include <limits>

#include "cases/case.hpp"

namespace plumbline::cases {

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

}  // namespace plumbline::cases
