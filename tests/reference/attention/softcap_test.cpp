// SPDX-License-Identifier: Apache-2.0
#include "reference/attention/softcap.hpp"

#include "tests/reference/readings.hpp"

BOOST_AUTO_TEST_SUITE(softcap_test)

using namespace plumbline::reference;

BOOST_AUTO_TEST_CASE(values_by_hand) {
  // tanh(ln(3) / 2) = (3 - 1) / (3 + 1) = 1/2: a cap of 2 makes 1 of ln 3, where the slope is 3/4.
  const double x = std::log(3.0);
  BOOST_TEST(!!(std::fabs(softcapped(x, 2.0) - 1.0) <= 8 * 0x1p-53));
  BOOST_TEST(!!(std::fabs(softcapped(-x, 2.0) + 1.0) <= 8 * 0x1p-53));
  BOOST_TEST(!!(std::fabs(softcap_derivative(x, 2.0) - 0.75) <= 8 * 0x1p-53));
  BOOST_TEST(softcapped(0.0, 50.0) == 0.0);
  BOOST_TEST(softcap_derivative(0.0, 50.0) == 1.0);
  BOOST_TEST(softcapped(1e6, 50.0) == 50.0);
  BOOST_TEST(softcap_derivative(-1e6, 50.0) == 0.0);
}

BOOST_AUTO_TEST_CASE(every_reading_agrees_and_the_derivative_is_one) {
  const auto value = [](const auto& x) {
    using R = ScalarOf<decltype(x)>;
    Writer<R> results;
    for (const R& a : x) results.number(softcapped(a, R(1.5)));
    return results.result();
  };
  const auto adjoint = [](const auto& x) {
    using R = ScalarOf<decltype(x)>;
    Writer<R> results;
    for (const R& a : x) results.number(softcap_derivative(a, R(1.5)));
    return results.result();
  };
  const auto sum = [&](const auto& x) {
    using R = ScalarOf<decltype(x)>;
    Vector<R> total = zeros<R>(1);
    for (const R& y : value(x)) total[0] += y;
    return total;
  };
  Numbers numbers(6);
  for (const double size : {1e-8, 1.0, 30.0}) {
    const std::vector<double> x = numbers.between(-size, size, 50);
    expect_readings_agree(value, x);
    expect_adjoint(sum, adjoint, x);
  }
}

BOOST_AUTO_TEST_SUITE_END()
