// SPDX-License-Identifier: Apache-2.0
// Arrays in fp32 against the oracle, read with a running error.
#pragma once

#include <boost/test/unit_test.hpp>
#include <cmath>
#include <span>
#include <string>
#include <vector>

#include "reference/scalars/running_error.hpp"

namespace plumbline::gpu_tests {

/// The oracle tells what its own operations, each rounded with 2^-53, can do to a result. A kernel
/// evaluates the same formulas with 2^-24, sums in another order, and may take P from a rounded LSE
/// and D from rounded o: four times that error, in its unit.
inline constexpr double kUnits = 4 * 0x1p29;

inline void compare(const std::string& name, std::span<const float> actual,
                    const std::vector<reference::RunningError>& expected) {
  BOOST_REQUIRE_EQUAL(actual.size(), expected.size());
  double worst = 0.0;
  std::size_t where = 0;
  for (std::size_t n = 0; n < actual.size(); ++n) {
    const double error = std::abs(actual[n] - expected[n].value());
    const double bound = kUnits * expected[n].error() + 0x1p-149;
    const double ratio = error <= bound ? error / bound : INFINITY;
    if (ratio > worst) worst = ratio, where = n;
  }
  BOOST_TEST(worst <= 1.0, name << "[" << where << "] is " << actual[where] << ", not "
                                << expected[where].value() << " +- "
                                << kUnits * expected[where].error());
}

}  // namespace plumbline::gpu_tests
