// SPDX-License-Identifier: Apache-2.0
#include "reference/optimizer/schedule.hpp"

#include "tests/reference/refused.hpp"

BOOST_AUTO_TEST_SUITE(schedule_test)

using namespace plumbline::reference;

namespace {

const CosineSchedule<double> by_hand{.highest = 8, .lowest = 2, .warm_up_steps = 4, .steps = 10};

}  // namespace

BOOST_AUTO_TEST_CASE(the_warm_up_ends_at_the_highest_rate) {
  BOOST_TEST(learning_rate(by_hand, 0) == 2.0);
  BOOST_TEST(learning_rate(by_hand, 1) == 4.0);
  BOOST_TEST(learning_rate(by_hand, 2) == 6.0);
  BOOST_TEST(learning_rate(by_hand, 3) == 8.0);
  BOOST_TEST(learning_rate(by_hand, 4) == 8.0);  // cos 0
}

BOOST_AUTO_TEST_CASE(then_the_rate_falls_by_half_a_cosine_to_the_lowest) {
  // Angles pi/3, pi/2, 2 pi/3 and beyond the end; cosines 1/2, 0, -1/2.
  const auto expect = [](int step, double expected) {
    const CosineSchedule<RunningError> schedule{RunningError(8), RunningError(2), 4, 10};
    const RunningError rate = learning_rate(schedule, step);
    BOOST_TEST(std::fabs(rate.value() - expected) <= rate.error());
    BOOST_TEST(rate.error() < 1e-13);
  };
  expect(6, 6.5);
  expect(7, 5.0);
  expect(8, 3.5);
  BOOST_TEST(learning_rate(by_hand, 9) > 2.0);
  BOOST_TEST(learning_rate(by_hand, 10) == 2.0);
  BOOST_TEST(learning_rate(by_hand, 1000) == 2.0);
}

BOOST_AUTO_TEST_CASE(there_may_be_no_warm_up) {
  const CosineSchedule<double> schedule{.highest = 8, .lowest = 2, .warm_up_steps = 0, .steps = 10};
  BOOST_TEST(learning_rate(schedule, 0) == 8.0);
}

BOOST_AUTO_TEST_CASE(the_defaults_are_cables) {
  const CosineSchedule<double> schedule;
  BOOST_TEST(learning_rate(schedule, 0) == 6e-4 / 750);
  BOOST_TEST(learning_rate(schedule, 749) == 6e-4);
  BOOST_TEST(learning_rate(schedule, 19073) == 6e-5);
}

BOOST_AUTO_TEST_CASE(what_is_outside_of_the_domain_is_refused) {
  const auto rate = [](double highest, double lowest, int warm_up, int steps, int step) {
    return [=](const auto& zero) {
      using R = std::remove_cvref_t<decltype(zero)>;
      learning_rate(CosineSchedule<R>{R(highest), R(lowest), warm_up, steps}, step);
    };
  };
  const double infinity = std::numeric_limits<double>::infinity();
  expect_refused("step is -1; expected at least 0", rate(8, 2, 4, 10, -1));
  expect_refused("steps is 0; expected at least 1", rate(8, 2, 0, 0, 0));
  expect_refused("warm_up_steps is -1; expected at least 0 and below steps", rate(8, 2, -1, 10, 0));
  expect_refused("warm_up_steps is 10; expected at least 0 and below steps", rate(8, 2, 10, 10, 0));
  expect_refused("highest is 0; expected finite and above 0", rate(0, 0, 4, 10, 0));
  expect_refused("highest is inf; expected finite and above 0", rate(infinity, 2, 4, 10, 0));
  expect_refused("lowest is -1; expected at least 0 and at most highest", rate(8, -1, 4, 10, 0));
  expect_refused("lowest is 9; expected at least 0 and at most highest", rate(8, 9, 4, 10, 0));
  expect_refused("lowest is nan; expected at least 0 and at most highest",
                 rate(8, std::nan(""), 4, 10, 0));
}

BOOST_AUTO_TEST_CASE(readings_agree) {
  expect_readings_agree(
      [](const auto& x) {
        using R = ScalarOf<decltype(x)>;
        const CosineSchedule<R> schedule{x[0], x[1], 3, 9};
        Vector<R> rates(11);
        for (int step = 0; step < 11; ++step) rates[step] = learning_rate(schedule, step);
        return rates;
      },
      {6e-4, 6e-5});
}

BOOST_AUTO_TEST_SUITE_END()
