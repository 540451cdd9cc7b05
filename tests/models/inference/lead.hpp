// SPDX-License-Identifier: Apache-2.0
// Whether rounding can change which token is the likeliest.
#pragma once

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <span>

namespace plumbline::test {

/// Two ways of computing the same logits choose the same token: with no two numbers further apart
/// than d, the largest of one way stays the largest in the other if it leads by more than 2 d.
inline void expect_lead(std::span<const float> logits, std::span<const float> others) {
  BOOST_TEST_REQUIRE(logits.size() == others.size());
  const auto first = std::max_element(logits.begin(), logits.end());
  double difference = 0, lead = INFINITY;
  for (auto logit = logits.begin(); logit != logits.end(); ++logit) {
    const double other = others[static_cast<std::size_t>(logit - logits.begin())];
    difference = std::max(difference, std::fabs(*logit - other));
    if (logit != first) lead = std::min(lead, double{*first} - *logit);
  }
  BOOST_TEST_REQUIRE(lead > 2 * difference, "leads by " << lead << ", differs by " << difference);
}

}  // namespace plumbline::test
