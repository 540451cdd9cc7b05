// SPDX-License-Identifier: Apache-2.0
#include "reference/optimizer/adamw.hpp"

#include "tests/reference/optimizer/steps.hpp"

BOOST_AUTO_TEST_SUITE(adamw_test)

using namespace plumbline::reference;

namespace {

struct AdamWStep {
  template <Tensor T>
  void operator()(T& parameter, const T& grad, Moments<T>& moments,
                  const AdamSettings<typename T::Scalar>& settings) const {
    adamw_step(parameter, grad, moments, settings);
  }
};

}  // namespace

BOOST_AUTO_TEST_CASE(weights_decay_past_the_running_means) {
  // Kept: 1 - 1/2 1/2 of 4, which is 3; Adam's step is half of the rate (adam_test.cpp).
  Vector<double> parameter = lifted<double>({4});
  Moments<Vector<double>> moments = no_moments(parameter);
  const AdamSettings<double> settings{0.5, 0.5, 0.75, 4, 0.5};
  adamw_step(parameter, lifted<double>({4}), moments, settings);
  BOOST_TEST(parameter[0] == 2.75);
  BOOST_TEST(moments.first[0] == 2.0);
  BOOST_TEST(moments.second[0] == 4.0);
  BOOST_TEST(moments.step == 1);
}

BOOST_AUTO_TEST_CASE(without_decay_it_is_adam) {
  Numbers numbers(3);
  Vector<double> parameter = lifted<double>(numbers.between(-1, 1, 3)), other = parameter;
  Moments<Vector<double>> moments = no_moments(parameter), other_moments = moments;
  const AdamSettings<double> settings{.learning_rate = 0.01};
  for (int n = 0; n < 5; ++n) {
    const Vector<double> grad = lifted<double>(numbers.between(-1, 1, 3));
    adamw_step(parameter, grad, moments, settings);
    adam_step(other, grad, other_moments, settings);
  }
  BOOST_TEST(parameter == other);
}

BOOST_AUTO_TEST_CASE(what_does_not_fit_is_refused) {
  expect_step_refuses_what_does_not_fit(AdamWStep());
}

BOOST_AUTO_TEST_CASE(readings_agree) { expect_steps_agree(AdamWStep()); }

BOOST_AUTO_TEST_SUITE_END()
