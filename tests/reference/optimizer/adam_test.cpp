// SPDX-License-Identifier: Apache-2.0
#include "reference/optimizer/adam.hpp"

#include "tests/reference/optimizer/steps.hpp"

BOOST_AUTO_TEST_SUITE(adam_test)

using namespace plumbline::reference;

namespace {

struct AdamStep {
  template <Tensor T>
  void operator()(T& parameter, const T& grad, Moments<T>& moments,
                  const AdamSettings<typename T::Scalar>& settings) const {
    adam_step(parameter, grad, moments, settings);
  }
};

// With beta1 = 1/2, beta2 = 3/4 and epsilon = 4, a gradient of 4 moves by 1/2 of the rate.
AdamSettings<double> by_halves(double weight_decay) { return {1, 0.5, 0.75, 4, weight_decay}; }

}  // namespace

BOOST_AUTO_TEST_CASE(two_steps_by_hand) {
  Vector<double> parameter = lifted<double>({1, 1});
  Moments<Vector<double>> moments = no_moments(parameter);
  // m = 4/2 over 1 - 1/2, v = 16/4 over 1 - 3/4: 4 and 16; 4 / (sqrt 16 + 4) = 1/2.
  adam_step(parameter, lifted<double>({4, -4}), moments, by_halves(0));
  BOOST_TEST(parameter == lifted<double>({0.5, 1.5}));
  BOOST_TEST(moments.first == lifted<double>({2, -2}));
  BOOST_TEST(moments.second == lifted<double>({4, 4}));
  BOOST_TEST(moments.step == 1);
  // m = 2/2 + 4/2 over 1 - 1/4, v = 3/4 4 + 16/4 over 1 - 9/16: 4 and 16 once more. For the
  // gradient of 0, m = -2/2 over 3/4, v = 3/4 4 over 7/16.
  adam_step(parameter, lifted<double>({4, 0}), moments, by_halves(0));
  BOOST_TEST(parameter[0] == 0.0);
  BOOST_TEST(parameter[1] == 1.5 + 4 / 3.0 / (std::sqrt(48 / 7.0) + 4));
  BOOST_TEST(moments.step == 2);
}

BOOST_AUTO_TEST_CASE(weight_decay_goes_through_the_running_means) {
  Matrix<double> parameter = Matrix<double>::Constant(1, 1, 8);
  Moments<Matrix<double>> moments = no_moments(parameter);
  adam_step(parameter, zeros<double>(1, 1), moments, by_halves(0.5));  // g = 0 + 8/2
  BOOST_TEST(parameter(0, 0) == 7.5);
  BOOST_TEST(moments.first(0, 0) == 2.0);
}

BOOST_AUTO_TEST_CASE(a_gradient_that_was_always_0_moves_nothing) {
  Vector<double> parameter = lifted<double>({3});
  Moments<Vector<double>> moments = no_moments(parameter);
  adam_step(parameter, lifted<double>({0}), moments, by_halves(0));
  BOOST_TEST(parameter[0] == 3.0);
}

BOOST_AUTO_TEST_CASE(what_does_not_fit_is_refused) {
  expect_step_refuses_what_does_not_fit(AdamStep());
}

BOOST_AUTO_TEST_CASE(readings_agree) { expect_steps_agree(AdamStep()); }

BOOST_AUTO_TEST_SUITE_END()
