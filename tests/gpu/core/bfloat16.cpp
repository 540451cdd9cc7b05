// SPDX-License-Identifier: Apache-2.0
#include "core/bfloat16.cuh"

#include <bit>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <cstdint>
#include <limits>

BOOST_AUTO_TEST_SUITE(bfloat16_test)

namespace {

using plumbline::gpu::bfloat16;
using plumbline::gpu::from_float;
using plumbline::gpu::to_float;

float rounded(float x) { return to_float(from_float<bfloat16>(x)); }

BOOST_AUTO_TEST_CASE(bf16_rounds_to_nearest_and_ties_to_even) {
  // Between 1 and 2 the spacing is 2^-7.
  BOOST_TEST(rounded(1.0f) == 1.0f);
  BOOST_TEST(rounded(1.0f + 0x1p-8f) == 1.0f);                       // tie, down to even
  BOOST_TEST(rounded(1.0f + 0x3p-8f) == 1.0f + 0x1p-6f);             // tie, up to even
  BOOST_TEST(rounded(1.0f + 0x1p-8f + 0x1p-23f) == 1.0f + 0x1p-7f);  // just above the tie
  BOOST_TEST(rounded(-1.0f - 0x1p-8f - 0x1p-23f) == -1.0f - 0x1p-7f);
  BOOST_TEST(rounded(2.0f - 0x1p-9f) == 2.0f);  // carries into the exponent
}

BOOST_AUTO_TEST_CASE(bf16_keeps_subnormals_infinities_and_nans) {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  BOOST_TEST(rounded(0x1p-133f) == 0x1p-133f);  // the smallest bf16
  BOOST_TEST(rounded(infinity) == infinity);
  BOOST_TEST(rounded(std::numeric_limits<float>::max()) == infinity);
  // NaNs whose payload alone would round to a zero or to an infinity.
  BOOST_TEST(std::isnan(rounded(std::bit_cast<float>(0x7fffffffu))));
  BOOST_TEST(std::isnan(rounded(std::bit_cast<float>(0x7f800001u))));
}

}  // namespace

BOOST_AUTO_TEST_SUITE_END()
