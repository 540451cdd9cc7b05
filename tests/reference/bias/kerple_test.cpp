// SPDX-License-Identifier: Apache-2.0
#include "reference/bias/kerple.hpp"

#include "tests/reference/bias/bias_readings.hpp"

BOOST_AUTO_TEST_SUITE(kerple_test)

using namespace plumbline::reference;

BOOST_AUTO_TEST_CASE(the_logarithmic_form_by_hand) {
  const KerpleLog<double> bias(2.0, 1.0);
  // 1 + a |i - j| = 1, 2, 3, 4: b = -2 ln of it.
  for (int i = 0; i < 4; ++i) {
    for (int j = 0; j < 4; ++j) BOOST_TEST(bias(i, j) == -2 * std::log1p(std::abs(i - j)));
  }
}

BOOST_AUTO_TEST_CASE(the_power_form_by_hand) {
  const KerplePower<double> square(2.0, 3.0), root(0.5, 3.0);
  const double squares[4] = {0, -3, -12, -27};
  for (int i = 0; i < 4; ++i) {
    for (int j = 0; j < 4; ++j) BOOST_TEST(square(i, j) == squares[std::abs(i - j)]);
  }
  BOOST_TEST(root(4, 0) == -6.0);
  BOOST_TEST(root(0, 1) == -3.0);
}

BOOST_AUTO_TEST_CASE(with_exponent_one_the_power_form_is_alibi) {
  const KerplePower<double> bias(1.0, 0.25);
  for (int i = 0; i < 4; ++i) {
    for (int j = 0; j < 4; ++j) BOOST_TEST(bias(i, j) == Alibi<double>{0.25}(i, j));
  }
}

BOOST_AUTO_TEST_CASE(the_gradients_by_hand) {
  // |i - j| = 3, p = 2, a = 1: dp = -ln 4, da = -2 * 3/4; twice, for a gradient of 2 from above.
  const KerpleLog<double> logarithmic(2.0, 1.0);
  auto grad = logarithmic.zero_grad();
  logarithmic.accumulate_grad(grad, 3, 0, 2.0);
  BOOST_TEST(grad.p == -2 * std::log1p(3.0));
  BOOST_TEST(grad.a == -3.0);
  // |i - j| = 2, p = 2, a = 3: dp = -3 * 4 ln 2, da = -4.
  const KerplePower<double> by_power(2.0, 3.0);
  grad = by_power.zero_grad();
  by_power.accumulate_grad(grad, 1, 3, 1.0);
  BOOST_TEST(grad.p == -12 * std::log(2.0));
  BOOST_TEST(grad.a == -4.0);
}

BOOST_AUTO_TEST_CASE(a_token_and_itself_have_no_bias_and_no_gradient) {
  // 0^p and 0^p ln 0 are 0, not NaN.
  const KerpleLog<double> logarithmic(0.01, 1.0);
  const KerplePower<double> by_power(0.01, 1.0);
  BOOST_TEST(logarithmic(2, 2) == 0.0);
  BOOST_TEST(by_power(2, 2) == 0.0);
  auto grad = logarithmic.zero_grad();
  logarithmic.accumulate_grad(grad, 2, 2, 1.0);
  by_power.accumulate_grad(grad, 2, 2, 1.0);
  BOOST_TEST(grad.p == 0.0);
  BOOST_TEST(grad.a == 0.0);
}

BOOST_AUTO_TEST_CASE(parameters_outside_the_domain_are_refused) {
  const auto logarithmic = [](const auto& x) {
    using R = ScalarOf<decltype(x)>;
    Writer<R> results;
    results.number(KerpleLog<R>(x[0], x[1])(3, 0));
    return results.result();
  };
  const auto by_power = [](const auto& x) {
    using R = ScalarOf<decltype(x)>;
    Writer<R> results;
    results.number(KerplePower<R>(x[0], x[1])(3, 0));
    return results.result();
  };
  expect_readings_agree(logarithmic, {2.01, 1});
  expect_readings_agree(logarithmic, {1, 1});
  expect_readings_agree(by_power, {1, 1});
  const double nan = std::nan("");
  BOOST_CHECK_NO_THROW(KerplePower<double>(0.01f, 0.01f));  // the code's clamp, in float
  BOOST_CHECK_NO_THROW(KerplePower<double>(2, 100));
  BOOST_CHECK_NO_THROW(KerpleLog<double>(0.01f, 0.01f));
  BOOST_CHECK_NO_THROW(KerpleLog<double>(2.01, 100));  // bounded in the power form only
  BOOST_CHECK_THROW(KerplePower<double>(2.01, 1), std::invalid_argument);
  for (double bad : {0.009, 0.0, -1.0, nan}) {
    BOOST_CHECK_THROW(KerplePower<double>(bad, 1), std::invalid_argument);
    BOOST_CHECK_THROW(KerplePower<double>(1, bad), std::invalid_argument);
    BOOST_CHECK_THROW(KerpleLog<double>(bad, 1), std::invalid_argument);
    BOOST_CHECK_THROW(KerpleLog<double>(1, bad), std::invalid_argument);
  }
}

BOOST_AUTO_TEST_CASE(readings_and_adjoints_agree) {
  for (std::uint64_t seed : {1, 2, 3}) {
    expect_bias_is_right(KerpleLogMethod{}, seed);
    expect_bias_is_right(KerplePowerMethod{}, seed);
  }
}

BOOST_AUTO_TEST_SUITE_END()
