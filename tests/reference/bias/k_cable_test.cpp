// SPDX-License-Identifier: Apache-2.0
#include "reference/bias/k_cable.hpp"

#include "tests/reference/bias/bias_readings.hpp"

BOOST_AUTO_TEST_SUITE(k_cable_test)

using namespace plumbline::reference;

BOOST_AUTO_TEST_CASE(the_kernel_is_the_logarithm_of_one_plus_the_square) {
  BOOST_TEST(log_kernel(0.0) == 0.0);
  BOOST_TEST(log_kernel(2.0) == std::log1p(4.0));
  BOOST_TEST(log_kernel(-2.0) == std::log1p(4.0));
  BOOST_TEST(log_kernel_derivative(2.0) == 4.0 / 5.0);
  BOOST_TEST(log_kernel_derivative(-1.0) == -1.0);
}

BOOST_AUTO_TEST_CASE(the_weight_stands_outside_of_the_kernel) {
  // S = (1, 3, 4): distances 2, 3 and 1.
  const Vector<double> S = lifted<double>({1, 3, 4}), g = lifted<double>({1, 2, 0.5});
  const KCable<double> bias{S, g};
  const KCableNw<double> unweighted{S};
  BOOST_TEST(bias(1, 0) == -2 * std::log1p(4.0));
  BOOST_TEST(bias(2, 0) == -0.5 * std::log1p(9.0));
  BOOST_TEST(bias(0, 2) == -std::log1p(9.0));
  BOOST_TEST(bias(1, 1) == 0.0);
  BOOST_TEST(unweighted(2, 0) == -std::log1p(9.0));
  BOOST_TEST(unweighted(2, 1) == -std::log1p(1.0));
}

BOOST_AUTO_TEST_CASE(taken_literally_the_weight_stands_inside) {
  // The same S and g: g d = 4, 1.5, -3 and 0.5.
  const KCablePaper<double> bias{lifted<double>({1, 3, 4}), lifted<double>({1, 2, 0.5})};
  BOOST_TEST(bias(1, 0) == -std::log1p(16.0));
  BOOST_TEST(bias(2, 0) == -std::log1p(2.25));
  BOOST_TEST(bias(0, 2) == -std::log1p(9.0));
  BOOST_TEST(bias(2, 1) == -std::log1p(0.25));
  BOOST_TEST(bias(1, 1) == 0.0);
  // Both forms without weights are the same, and so they are at weight 1.
  BOOST_TEST(bias(0, 2) == (KCable<double>{bias.prefix_sum, bias.gain}(0, 2)));
}

BOOST_AUTO_TEST_CASE(the_gradient_by_hand) {
  // S = (1, 2), g_1 = 3: d = 1, so dS_1 = -3 * 2/2 = -3, dS_0 = 3, dg_1 = -ln 2.
  const KCable<double> bias{lifted<double>({1, 2}), lifted<double>({1, 3})};
  auto grad = bias.zero_grad();
  bias.accumulate_grad(grad, 1, 0, 1.0);
  BOOST_TEST(grad.prefix_sum == lifted<double>({3, -3}));
  BOOST_TEST(grad.gain[1] == -std::log1p(1.0));
}

BOOST_AUTO_TEST_CASE(the_literal_form_s_gradient_by_hand) {
  // S = (1, 2), g_1 = 3: e = 3, k = 6/10, so dS_1 = -1.8, dS_0 = 1.8, dg_1 = -0.6.
  const KCablePaper<double> bias{lifted<double>({1, 2}), lifted<double>({1, 3})};
  auto grad = bias.zero_grad();
  bias.accumulate_grad(grad, 1, 0, 1.0);
  BOOST_TEST(grad.prefix_sum == lifted<double>({3 * 0.6, -3 * 0.6}));
  BOOST_TEST(grad.gain == lifted<double>({0, -0.6}));
}

BOOST_AUTO_TEST_CASE(an_enclosure_around_zero_has_no_negative_square) {
  const Interval kernel = log_kernel(interval(-2, 2));
  BOOST_TEST((lower(kernel) == 0));
  BOOST_TEST(contains(kernel, Primitives<MpReal>::log1p(MpReal(4.0))));
}

BOOST_AUTO_TEST_CASE(readings_and_adjoints_agree) {
  for (std::uint64_t seed : {1, 2, 3}) {
    expect_bias_is_right(KCableMethod{}, seed);
    expect_bias_is_right(KCableNwMethod{}, seed);
    expect_bias_is_right(KCablePaperMethod{}, seed);
  }
}

BOOST_AUTO_TEST_SUITE_END()
