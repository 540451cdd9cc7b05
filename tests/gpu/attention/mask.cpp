// SPDX-License-Identifier: Apache-2.0
#include "attention/mask.cuh"

#include <boost/test/unit_test.hpp>

BOOST_AUTO_TEST_SUITE(mask_test)

namespace {

using namespace plumbline::gpu;

BOOST_AUTO_TEST_CASE(the_widest_window_of_the_most_keys_overflows_no_int) {
  const int keys = 1 << 30;
  const Mask mask{keys, false, keys - 1, keys - 1, nullptr, nullptr};
  for (const int position : {0, 1, keys - 1}) {
    const KeyRange range = key_range(mask, 0, position);
    BOOST_TEST(range.begin == 0);
    BOOST_TEST(range.end == keys);
  }
}

BOOST_AUTO_TEST_CASE(sides_of_a_window_by_hand) {
  const Mask left{10, false, 2, -1}, right{10, false, -1, 3}, both{10, false, 2, 1};
  const auto sees = [](const Mask& mask, int position) {
    const KeyRange range = key_range(mask, 0, position);
    return std::pair(range.begin, range.end);
  };
  BOOST_TEST((sees(left, 5) == std::pair(3, 10)));
  BOOST_TEST((sees(right, 5) == std::pair(0, 9)));
  BOOST_TEST((sees(both, 5) == std::pair(3, 7)));
  // Positions of no key: before the first none is seen, beyond the last what the window leaves.
  BOOST_TEST((sees(right, -1) == std::pair(0, 0)));
  BOOST_TEST((sees(left, 11) == std::pair(9, 10)));
  BOOST_TEST((sees(left, 14) == std::pair(10, 10)));
}

BOOST_AUTO_TEST_CASE(queries_at_the_end_of_their_sequences) {
  const int lengths[] = {10, 4, 0};
  const Mask mask{10, true, -1, -1, lengths, nullptr, 7, true};  // three queries
  BOOST_TEST(first_position(mask, 0) == 7);
  BOOST_TEST(first_position(mask, 1) == 1);
  BOOST_TEST(first_position(mask, 2) == -3);
  BOOST_TEST(key_range(mask, 1, 1, 3).end == 4);
  BOOST_TEST(key_range(mask, 2, -3, -1).end == 0);
}

}  // namespace

BOOST_AUTO_TEST_SUITE_END()
