// SPDX-License-Identifier: Apache-2.0
#include "reference/optimizer/radam.hpp"

#include "tests/reference/optimizer/steps.hpp"

BOOST_AUTO_TEST_SUITE(radam_test)

using namespace plumbline::reference;

namespace {

constexpr RadamThreshold both[] = {RadamThreshold::paper, RadamThreshold::pytorch};

/// Begins at step 4, so that the three steps are rectified twice or thrice (beta2 = 0.95: rho_5 is
/// 4.8, rho_6 is 5.7).
template <WeightDecay decay, RadamThreshold threshold>
struct RadamStep {
  template <Tensor T>
  void operator()(T& parameter, const T& grad, Moments<T>& moments,
                  const AdamSettings<typename T::Scalar>& settings) const {
    if (moments.step == 0) moments.step = 4;
    radam_step(parameter, grad, moments, settings, decay, threshold);
  }
};

/// The same from the moments as they come: nothing may change where they are refused.
struct FirstStep {
  template <Tensor T>
  void operator()(T& parameter, const T& grad, Moments<T>& moments,
                  const AdamSettings<typename T::Scalar>& settings) const {
    radam_step(parameter, grad, moments, settings, WeightDecay::decoupled, RadamThreshold::pytorch);
  }
};

}  // namespace

BOOST_AUTO_TEST_CASE(the_length_after_one_step_is_1_and_grows_to_that_of_the_mean) {
  // rho_inf = 2 / (1/4) - 1 = 7; rho_1 = 7 - 2 (3/4) / (1/4), rho_2 = 7 - 4 (9/16) / (7/16).
  BOOST_TEST(radam_final_length(0.75) == 7.0);
  BOOST_TEST(radam_length(0.75, 1) == 1.0);
  BOOST_TEST(radam_length(0.75, 2) == 7 - 36 / 7.0);
  BOOST_TEST(radam_length(0.75, 10000) == 7.0);
}

BOOST_AUTO_TEST_CASE(the_rectification_is_that_of_the_formula) {
  // sqrt of the exact fraction (Python's fractions, square root by decimal), beta2 = 3/4, t = 6,
  // and beta2 = 127/128, t = 5.
  const auto expect = [](double beta2, int step, const char* expected) {
    const RunningError r = radam_rectification(RunningError(beta2), step);
    const MpReal difference = abs(MpReal(r.value()) - MpReal(expected));
    BOOST_TEST((difference <= r.error()), r.value() << " " << expected);
    BOOST_TEST(r.error() < 0x1p-40);  // and says something
  };
  expect(0.75, 6, "0.31987897704756650557877943722259");
  expect(127 / 128.0, 5, "0.04820711693326144474348796187993");
  BOOST_TEST(radam_rectification(0.75, 10000) == 1.0);
}

BOOST_AUTO_TEST_CASE(the_paper_rectifies_from_the_fifth_step_and_pytorch_from_the_sixth) {
  BOOST_TEST(!radam_is_rectified(0.999, 4, RadamThreshold::paper));
  BOOST_TEST(radam_is_rectified(0.999, 5, RadamThreshold::paper));
  BOOST_TEST(!radam_is_rectified(0.999, 5, RadamThreshold::pytorch));
  BOOST_TEST(radam_is_rectified(0.999, 6, RadamThreshold::pytorch));
}

BOOST_AUTO_TEST_CASE(a_step_too_early_to_be_rectified_follows_the_mean_gradient) {
  // beta2 = 1/2: rho never exceeds rho_inf = 3. m = 8/2, over 1 - 1/2: 8. 4 - (1/4) 8 = 2; with
  // lambda = 1: decoupled, (1 - 1/4) 4 = 3 first; l2, a gradient of 8 + 4, which makes the same
  // first step of another mean.
  for (RadamThreshold threshold : both) {
    const auto after = [&](double lambda, WeightDecay decay, double mean) {
      Vector<double> parameter = lifted<double>({4});
      Moments<Vector<double>> moments = no_moments(parameter);
      radam_step(parameter, lifted<double>({8}), moments,
                 AdamSettings<double>{0.25, 0.5, 0.5, 4, lambda}, decay, threshold);
      BOOST_TEST(moments.step == 1);
      BOOST_TEST(moments.first[0] == mean);
      return parameter[0];
    };
    BOOST_TEST(after(0, WeightDecay::decoupled, 4) == 2.0);
    BOOST_TEST(after(1, WeightDecay::decoupled, 4) == 1.0);
    BOOST_TEST(after(1, WeightDecay::l2, 6) == 1.0);
  }
}

BOOST_AUTO_TEST_CASE(a_late_step_is_adams_with_epsilon_beside_the_uncorrected_root) {
  // After 10000 steps all corrections are 1. m = 4, v = 16 stay so under a gradient of 4;
  // 4 / (sqrt 16 + 4) = 1/2. beta2 = 3/4, as 1/2 would never be rectified.
  Vector<double> parameter = lifted<double>({1});
  Moments<Vector<double>> moments{lifted<double>({4}), lifted<double>({16}), 10000};
  radam_step(parameter, lifted<double>({4}), moments, AdamSettings<double>{1, 0.5, 0.75, 4, 0},
             WeightDecay::decoupled, RadamThreshold::pytorch);
  BOOST_TEST(parameter[0] == 0.5);
}

BOOST_AUTO_TEST_CASE(what_does_not_fit_is_refused) {
  expect_step_refuses_what_does_not_fit(FirstStep());
  const auto length = [](int step, double beta2) {
    return
        [=](const auto& zero) { radam_length(std::remove_cvref_t<decltype(zero)>(beta2), step); };
  };
  expect_refused("step is 0; expected at least 1", length(0, 0.5));
  expect_refused("beta2 is 1; expected between 0 and 1", length(1, 1));
  expect_refused("beta2 is 0; expected between 0 and 1", length(1, 0));
  expect_refused("rho_t is 1; expected above 4", [](const auto& zero) {
    radam_rectification(std::remove_cvref_t<decltype(zero)>(0.75), 1);
  });
}

BOOST_AUTO_TEST_CASE(readings_agree) {
  expect_steps_agree(RadamStep<WeightDecay::decoupled, RadamThreshold::pytorch>());
  expect_steps_agree(RadamStep<WeightDecay::l2, RadamThreshold::paper>());
}

BOOST_AUTO_TEST_SUITE_END()
