// SPDX-License-Identifier: Apache-2.0
#include "train/learning_rate.hpp"

#include <boost/test/unit_test.hpp>
#include <cmath>

#include "reference/optimizer/schedule.hpp"
#include "reference/scalars/running_error.hpp"
#include "support/error.hpp"

BOOST_AUTO_TEST_SUITE(learning_rate_test)

using namespace plumbline;

BOOST_AUTO_TEST_CASE(the_rate_is_the_oracles_within_its_rounding) {
  using reference::RunningError;
  const gpu::CosineSchedule schedules[] = {
      {}, {6e-4, 6e-5, 0, 7}, {1e-3, 0.0, 6, 7}, {1.0, 1.0, 2, 100}, {3e-4, 3e-5, 715, 19073}};
  for (const auto& s : schedules) {
    const reference::CosineSchedule<RunningError> oracle{
        RunningError(s.highest), RunningError(s.lowest), static_cast<int>(s.warm_up),
        static_cast<int>(s.updates)};
    for (long n = 0; n < s.updates + 3; n += 1 + s.updates / 50) {
      const RunningError expected = reference::learning_rate(oracle, static_cast<int>(n));
      const double rate = gpu::learning_rate(s, n);
      // Both are double evaluations of one formula: each within the running error of the truth.
      BOOST_TEST(std::abs(rate - expected.value()) <= 2 * expected.error(), n << ": " << rate);
    }
  }
}

BOOST_AUTO_TEST_CASE(the_rate_by_hand) {
  const gpu::CosineSchedule s{8.0, 2.0, 4, 8};
  const double expected[] = {2, 4, 6, 8, 8, 5 + 3 * std::sqrt(0.5), 5, 5 - 3 * std::sqrt(0.5),
                             2, 2};
  for (int n = 0; n < 10; ++n)
    BOOST_TEST(std::abs(gpu::learning_rate(s, n) - expected[n]) <= 0x1p-48, n);
}

BOOST_AUTO_TEST_CASE(a_schedule_out_of_its_domain_is_refused) {
  for (const gpu::CosineSchedule& s : {gpu::CosineSchedule{0.0, 0.0, 0, 1},
                                       {1.0, 2.0, 0, 1},
                                       {1.0, -1.0, 0, 1},
                                       {1.0, 0.0, 1, 1},
                                       {1.0, 0.0, -1, 1},
                                       {1.0, 0.0, 0, 0},
                                       {NAN, 0.0, 0, 1},
                                       {1.0, NAN, 0, 1}})
    BOOST_CHECK_THROW(gpu::validate(s), BadInput);
  BOOST_CHECK_NO_THROW(gpu::validate(gpu::CosineSchedule{}));
}

BOOST_AUTO_TEST_SUITE_END()
