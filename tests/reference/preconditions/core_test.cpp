// SPDX-License-Identifier: Apache-2.0
// What reference/core refuses, in every reading. Masks, which are integers: core/mask_test.cpp.
#include "reference/core/sum.hpp"
#include "tests/reference/refused.hpp"

BOOST_AUTO_TEST_SUITE(core_test)

using namespace plumbline::reference;

BOOST_AUTO_TEST_CASE(rows_that_are_not_there) {
  const auto row_of_two = [](int i) {
    return [=](const auto& zero) { row(zeros<RealOf<decltype(zero)>>(2, 3), i); };
  };
  expect_refused("row is -1; expected a row of the matrix", row_of_two(-1));
  expect_refused("row is 2; expected a row of the matrix", row_of_two(2));
}

BOOST_AUTO_TEST_CASE(sums_of_different_sizes) {
  expect_refused("y.size() is 3; expected the size of x", [](const auto& zero) {
    using R = RealOf<decltype(zero)>;
    dot(zeros<R>(2), zeros<R>(3));
  });
  const auto weighted = [](int weights, const std::vector<int>& chosen) {
    return [=](const auto& zero) {
      using R = RealOf<decltype(zero)>;
      weighted_sum(zeros<R>(weights), zeros<R>(2, 3), chosen);
    };
  };
  expect_refused("weights.size() is 1; expected the number of chosen rows", weighted(1, {0, 1}));
  expect_refused("row is 2; expected a row of the matrix", weighted(1, {2}));
}

BOOST_AUTO_TEST_SUITE_END()
