// SPDX-License-Identifier: Apache-2.0
// The rows of T5's tables against the oracle's exact integers.
#include "bias/table_rows.cuh"

#include <boost/test/unit_test.hpp>
#include <vector>

#include "reference/bias/t5_buckets.hpp"

BOOST_AUTO_TEST_SUITE(table_rows_test)

namespace {

namespace ref = plumbline::reference;
using namespace plumbline::gpu;

plumbline_problem problem_of(int bias, int keys) {
  plumbline_problem problem{};
  problem.bias = bias;
  problem.keys = keys;
  return problem;
}

template <class Row>
void check(const plumbline_problem& problem, const Row& row) {
  BOOST_TEST(table_rows(problem) == row.rows());
  const std::vector<int> actual = table_row_of_offset(problem);
  std::vector<int> expected;
  for (int offset = 1 - problem.keys; offset < problem.keys; ++offset)
    expected.push_back(row(problem.keys + offset, problem.keys));
  BOOST_TEST(actual == expected, boost::test_tools::per_element());
}

// 10 buckets up to 160: the powers are equal at distances 10, 20 and 80, where logarithms in double
// land a bucket too low.
BOOST_AUTO_TEST_CASE(buckets_are_the_oracles) {
  for (const auto& [buckets, most] :
       {std::pair{32, 128}, {10, 160}, {2, 2}, {3, 9}, {8, 20}, {64, 1000}, {256, 100000}}) {
    BOOST_TEST_CONTEXT(buckets << " buckets up to " << most) {
      plumbline_problem causal = problem_of(PLUMBLINE_T5, 300);
      causal.options[PLUMBLINE_BUCKETS] = buckets;
      causal.options[PLUMBLINE_MAX_DISTANCE] = most;
      check(causal, ref::T5Buckets(buckets, most, false));
      plumbline_problem both = causal;
      both.bias = PLUMBLINE_T5_BIDIRECTIONAL;
      both.options[PLUMBLINE_BUCKETS] = 2 * buckets;
      check(both, ref::T5Buckets(2 * buckets, most, true));
    }
  }
}

BOOST_AUTO_TEST_CASE(clipped_distances_are_the_oracles) {
  for (const int largest : {0, 1, 5, 256}) {
    BOOST_TEST_CONTEXT("largest " << largest) {
      plumbline_problem clipped = problem_of(PLUMBLINE_T5_CLIPPED, 40);
      clipped.options[PLUMBLINE_LARGEST] = largest;
      check(clipped, ref::ClippedDistance(largest));
      clipped.bias = PLUMBLINE_T5_CLIPPED_OFFSET;
      check(clipped, ref::ClippedOffset(largest));
    }
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE_END()
