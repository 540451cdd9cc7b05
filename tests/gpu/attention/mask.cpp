// SPDX-License-Identifier: Apache-2.0
#include "attention/mask.cuh"

#include <boost/test/unit_test.hpp>

BOOST_AUTO_TEST_SUITE(mask_test)

namespace {

using namespace plumbline::gpu;

BOOST_AUTO_TEST_CASE(the_widest_window_of_the_most_keys_overflows_no_int) {
  const int keys = 1 << 30;
  for (const int window : {keys - 1, keys, 0x7fffffff}) {
    BOOST_TEST_CONTEXT("window " << window) {
      const Mask mask{keys, false, clamped_window(window, keys), nullptr, nullptr};
      for (const int position : {0, 1, keys - 1}) {
        const KeyRange range = key_range(mask, 0, position);
        BOOST_TEST(range.begin == 0);
        BOOST_TEST(range.end == keys);
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(a_narrow_window_stays_as_it_is) {
  BOOST_TEST(clamped_window(-1, 5) == -1);
  BOOST_TEST(clamped_window(0, 5) == 0);
  BOOST_TEST(clamped_window(4, 5) == 4);
}

}  // namespace

BOOST_AUTO_TEST_SUITE_END()
