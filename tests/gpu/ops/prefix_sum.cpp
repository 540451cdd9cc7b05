// SPDX-License-Identifier: Apache-2.0
#include "ops/prefix_sum.cuh"

#include <boost/test/unit_test.hpp>
#include <vector>

BOOST_AUTO_TEST_SUITE(prefix_sum_test)

namespace {

BOOST_AUTO_TEST_CASE(prefix_sums_of_integers_are_exact_and_inclusive) {
  const plumbline::gpu::Stream stream;
  // Around a thread's 4 values, a warp's 128, a block's 512, and several blocks' worth.
  for (const int length : {1, 3, 4, 5, 127, 128, 129, 511, 512, 513, 1700}) {
    constexpr int rows = 3;
    std::vector<float> increments(static_cast<std::size_t>(rows) * length);
    std::vector<double> sums(increments.size(), -1.0);
    for (std::size_t n = 0; n < increments.size(); ++n)
      increments[n] = static_cast<float>(n * 2654435761u % 1000003u);
    plumbline::gpu::prefix_sum(stream, increments.data(), sums.data(), rows, length);
    for (int row = 0; row < rows; ++row) {
      double expected = 0.0;
      for (int i = 0; i < length; ++i) {
        expected += increments[static_cast<std::size_t>(row) * length + i];
        BOOST_TEST_INFO("length " << length << ", row " << row << ", i " << i);
        BOOST_REQUIRE_EQUAL(sums[static_cast<std::size_t>(row) * length + i], expected);
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(small_increments_beside_large_ones_survive) {
  // 2^24 + 1 does not exist in fp32; in double every sum here is exact.
  std::vector<float> increments(600, 1.0f);
  increments[0] = 16777216.0f;
  std::vector<double> sums(600);
  plumbline::gpu::prefix_sum(plumbline::gpu::Stream(), increments.data(), sums.data(), 1, 600);
  BOOST_TEST(sums[599] - sums[598] == 1.0);
  BOOST_TEST(sums[599] == 16777216.0 + 599.0);
}

}  // namespace

BOOST_AUTO_TEST_SUITE_END()
