// SPDX-License-Identifier: Apache-2.0
#include "reference/bias/ggd.hpp"

#include "tests/reference/bias/bias_readings.hpp"

BOOST_AUTO_TEST_SUITE(ggd_test)

using namespace plumbline::reference;

namespace {

const double epsilon = 0x1p-10;  // for numbers that are exact in double

}  // namespace

BOOST_AUTO_TEST_CASE(the_uniform_start_is_minus_one_everywhere) {
  const Ggd<double> bias(0.0, 0.0, 0.0, 1e-5);  // theta_alpha = theta_beta = 0
  for (int i = 0; i < 4; ++i) {
    for (int j = 0; j < 4; ++j) BOOST_TEST(bias(i, j) == -1.0);
  }
}

BOOST_AUTO_TEST_CASE(shape_one_is_alibi_and_epsilon_stays) {
  const Ggd<double> bias(0.0, 1.0, 0.0, epsilon);
  for (int i = 0; i < 4; ++i) {
    for (int j = 0; j < 4; ++j) BOOST_TEST(bias(i, j) == -(std::abs(i - j) + epsilon));
  }
}

BOOST_AUTO_TEST_CASE(other_shapes_by_hand) {
  BOOST_TEST((Ggd<double>(0.0, 2.0, 0.0, epsilon)(3, 0) == -(3 + epsilon) * (3 + epsilon)));
  BOOST_TEST((Ggd<double>(0.0, -1.0, 0.0, epsilon)(2, 2) == -1024.0));  // the nearest is the least
}

BOOST_AUTO_TEST_CASE(a_positive_mu_looks_ahead) {
  // e^mu - e^-mu = 1 for theta_mu = ln((1 + sqrt 5)/2): b is largest at j - i = 1, where x = 0.
  const double theta_mu = std::log((1 + std::sqrt(5.0)) / 2);
  const Ggd<double> bias(0.0, 1.0, theta_mu, epsilon);
  BOOST_TEST(bias(0, 1) > bias(0, 2));
  BOOST_TEST(bias(0, 1) > bias(0, 0));
  BOOST_TEST(bias(1, 0) < bias(1, 2));
  // x = -2 exactly but for the rounding of theta_mu, two exponentials and the difference: mu is
  // within 2^-53 (2.24 * 0.49 + 2 * (1.62 + 0.62) + 1) < 2^-50 of 1.
  BOOST_TEST(std::fabs(bias(1, 0) + 2 + epsilon) <= 0x1p-50);
}

BOOST_AUTO_TEST_CASE(the_gradient_by_hand) {
  // b = -(2 + eps), y = 2 + eps: d theta_alpha = b, d theta_beta = b ln y; x = -2 and mu = 0, so
  // |x| grows with mu: d mu = -1, and d mu / d theta_mu = 2.
  const Ggd<double> bias(0.0, 1.0, 0.0, epsilon);
  auto grad = bias.zero_grad();
  bias.accumulate_grad(grad, 3, 1, 1.0);
  BOOST_TEST(grad.theta_alpha == -(2 + epsilon));
  BOOST_TEST(grad.theta_beta == -(2 + epsilon) * std::log(2 + epsilon));
  BOOST_TEST(grad.theta_mu == -2.0);
}

BOOST_AUTO_TEST_CASE(the_inference_code_s_form_differs_unless_the_shape_is_one) {
  const double alpha = std::log(3.0);
  const GgdInferenceCode<double> code(0.0, 2.0, 0.0, epsilon);
  BOOST_TEST(code(3, 0) == -(3 + epsilon) * (3 + epsilon));  // e^(theta_alpha) = 1: the same
  const double paper = Ggd<double>(alpha, 2.0, 0.0, epsilon)(3, 0);
  const double inference = GgdInferenceCode<double>(alpha, 2.0, 0.0, epsilon)(3, 0);
  BOOST_TEST(paper > -28.0);      // -3 (3 + eps)^2
  BOOST_TEST(inference < -80.0);  // -(9 + eps)^2
}

BOOST_AUTO_TEST_CASE(an_epsilon_that_is_not_positive_is_refused) {
  const auto make = [](const auto& x) {
    using R = ScalarOf<decltype(x)>;
    Writer<R> results;
    results.number(Ggd<R>(x[0], x[0], x[0], x[1])(2, 0));
    results.number(GgdInferenceCode<R>(x[0], x[0], x[0], x[1])(2, 0));
    return results.result();
  };
  expect_readings_agree(make, {0.25, 1e-5});
  BOOST_CHECK_THROW(Ggd<double>(0, 0, 0, 0), std::invalid_argument);
  BOOST_CHECK_THROW(Ggd<double>(0, 0, 0, std::nan("")), std::invalid_argument);
  BOOST_CHECK_THROW(GgdInferenceCode<double>(0, 0, 0, -1), std::invalid_argument);
}

BOOST_AUTO_TEST_CASE(readings_and_adjoints_agree) {
  for (std::uint64_t seed : {1, 2, 3, 4, 5}) expect_bias_is_right(GgdMethod{}, seed);
}

BOOST_AUTO_TEST_SUITE_END()
