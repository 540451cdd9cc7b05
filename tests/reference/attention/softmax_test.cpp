// SPDX-License-Identifier: Apache-2.0
#include "reference/attention/softmax.hpp"

#include "reference/attention/ssmax.hpp"
#include "tests/reference/parameters.hpp"
#include "tests/reference/readings.hpp"
#include "tests/reference/refused.hpp"

BOOST_AUTO_TEST_SUITE(softmax_test)

using namespace plumbline;
using namespace plumbline::reference;

BOOST_AUTO_TEST_CASE(equal_logits_share_equally) {
  const auto four = softmax(lifted<double>({3, 3, 3, 3}));
  BOOST_TEST(four.probability == lifted<double>({0.25, 0.25, 0.25, 0.25}));
  BOOST_TEST(four.lse == 3 + std::log(4.0));
  const auto one = softmax(lifted<double>({-5}));
  BOOST_TEST(one.probability == lifted<double>({1}));
  BOOST_TEST(one.lse == -5.0);
}

BOOST_AUTO_TEST_CASE(logits_that_are_logarithms_give_their_ratios) {
  // e^s = 1, 2, 5: p = 1/8, 2/8, 5/8 and lse = ln 8. In double: e^(ln a - ln 5) is within
  // u (1.61 + 2 * 1.61 + 2) < 7u of a/5, the sum within 8u + 3u, the quotient within 20u; ln 8
  // = 2.1 within u (1.61 + 11 + 2 + 2.1) < 20u. u = 2^-53.
  const auto three = softmax(lifted<double>({std::log(1.0), std::log(2.0), std::log(5.0)}));
  const double expected[] = {0.125, 0.25, 0.625};
  for (int j = 0; j < 3; ++j) {
    BOOST_TEST(!!(std::fabs(three.probability[j] - expected[j]) <= 20 * 0x1p-53 * expected[j]));
  }
  BOOST_TEST(!!(std::fabs(three.lse - std::log(8.0)) <= 20 * 0x1p-53));
}

BOOST_AUTO_TEST_CASE(the_logarithm_is_natural_and_the_shift_leaves_no_trace) {
  // Adding 1000 to every logit adds 1000 to the LSE and nothing to the probabilities: all exact.
  const auto low = softmax(lifted<double>({0, -1000}));
  const auto high = softmax(lifted<double>({1000, 0}));
  BOOST_TEST(low.probability == high.probability);
  BOOST_TEST(low.lse == 0.0);
  BOOST_TEST(high.lse == 1000.0);
}

BOOST_AUTO_TEST_CASE(every_reading_agrees) {
  const auto equation = [](const auto& x) {
    using R = ScalarOf<decltype(x)>;
    const auto result = softmax(x);
    Writer<R> results;
    results.vector(result.probability);
    results.number(result.lse);
    return results.result();
  };
  Numbers numbers(6);
  for (double size : {0.1, 3.0, 500.0}) {
    expect_readings_agree(equation, numbers.between(-size, size, 12));
  }
  expect_refused("logits.size() is 0; expected at least 1",
                 [](const auto& zero) { softmax(Vector<RealOf<decltype(zero)>>()); });
}

BOOST_AUTO_TEST_CASE(its_derivative_is_p_times_one_or_zero_minus_p) {
  // dp_j/ds_k = p_j (delta_jk - p_k), dlse/ds_k = p_k, through the double shift of the softmax.
  Numbers numbers(7);
  const std::vector<double> inputs = numbers.between(-2, 2, 4);
  for (int j = 0; j < 4; ++j) {
    expect_adjoint(
        [j](const auto& x) {
          Vector<ScalarOf<decltype(x)>> one(1);
          one[0] = softmax(x).probability[j];
          return one;
        },
        [j](const auto& x) {
          using R = ScalarOf<decltype(x)>;
          const Vector<R> p = softmax(x).probability;
          Vector<R> grad(4);
          for (int k = 0; k < 4; ++k) grad[k] = p[j] * (R(j == k ? 1.0 : 0.0) - p[k]);
          return grad;
        },
        inputs);
  }
  expect_adjoint(
      [](const auto& x) {
        Vector<ScalarOf<decltype(x)>> one(1);
        one[0] = softmax(x).lse;
        return one;
      },
      [](const auto& x) { return softmax(x).probability; }, inputs);
}

BOOST_AUTO_TEST_CASE(an_interval_of_logits_encloses_the_softmax_of_its_points) {
  // The shift is the middle of an interval: a constant, not the largest logit. The enclosure holds
  // for every point all the same.
  Numbers numbers(8);
  for (int n = 0; n < 100; ++n) {
    Vector<Interval> boxes(3);
    Vector<MpReal> points(3);
    for (int j = 0; j < 3; ++j) {
      const double low = numbers.between(-3, 3), width = numbers.between(0, 1);
      boxes[j] = interval(low, low + width);
      points[j] = MpReal(low) + MpReal(width) * numbers.between(0, 1);
    }
    const auto box = softmax(boxes);
    const auto point = softmax(points);
    BOOST_TEST(contains(box.lse, point.lse));
    for (int j = 0; j < 3; ++j) BOOST_TEST(contains(box.probability[j], point.probability[j]));
  }
}

BOOST_AUTO_TEST_CASE(errors_of_logits_that_are_larger_than_1_are_borne_by_what_they_can_change) {
  // The first leads by far more than all errors: p = 1, 0, 0, and the LSE is the first logit.
  Vector<RunningError> huge(3);
  huge << RunningError(1e34, 1e19), RunningError(0, 1e19), RunningError(-1e34, 1e19);
  const auto clear = softmax(huge);
  for (int j = 0; j < 3; ++j) {
    BOOST_TEST(clear.probability[j].value() == (j == 0));
    BOOST_TEST(!!(clear.probability[j].error() <= 1e-15));
  }
  BOOST_TEST(clear.lse.value() == 1e34);
  BOOST_TEST(!!(clear.lse.error() >= 1e19 && clear.lse.error() <= 1e19 + 0x1p-50 * 1e34));
  // p of the second is e^(-20 +- 2) of that of the first, and at most e^-18.
  Vector<RunningError> two(2);
  two << RunningError(20, 1), RunningError(0, 1);
  BOOST_TEST(!!(softmax(two).probability[1].error() <= 1.01 * std::exp(-18.0)));

  Numbers numbers(9);
  int finite = 0;
  for (int n = 0; n < 300; ++n) {
    Vector<RunningError> logits(3);
    Vector<MpReal> points(3);
    for (int j = 0; j < 3; ++j) {
      const double value = numbers.between(-9, 9), error = numbers.between(0, 2);
      logits[j] = RunningError(value, error);
      points[j] = MpReal(value) + MpReal(error) * (n % 2 ? numbers.between(-1, 1) : n % 4 - 1);
    }
    const auto bounded = softmax(logits);
    const auto point = softmax(points);
    const auto off = [](const RunningError& x, const MpReal& y) { return abs(x.value() - y); };
    BOOST_TEST(!!(off(bounded.lse, point.lse) <= bounded.lse.error()));
    for (int j = 0; j < 3; ++j) {
      const RunningError& p = bounded.probability[j];
      BOOST_TEST(!!(off(p, point.probability[j]) <= p.error()));
      finite += std::isfinite(p.error());
    }
  }
  BOOST_TEST(finite > 300);
}

BOOST_AUTO_TEST_CASE(ssmax_scales_by_the_logarithm_of_the_number_of_keys) {
  BOOST_TEST(ssmax_factor(2.0, 1) == 0.0);
  BOOST_TEST(ssmax_factor(2.0, 8) == 2 * std::log(8.0));
  // n^(s z) / sum n^(s z) with n = 4, s = 1/2: 2^z / sum 2^z; z = 0, 1, 1, 2 gives 1, 2, 2, 4 of 9.
  Vector<double> logits = lifted<double>({0, 1, 1, 2});
  for (double& z : logits) z *= ssmax_factor(0.5, 4);
  const Vector<double> p = softmax(logits).probability;
  const double expected[] = {1.0 / 9, 2.0 / 9, 2.0 / 9, 4.0 / 9};
  // ln 4 / 2 within 2u; times 2, shifted: the exponent, at most 1.4, within 6u; then as above.
  for (int j = 0; j < 4; ++j) {
    BOOST_TEST(!!(std::fabs(p[j] - expected[j]) <= 30 * 0x1p-53 * expected[j]));
  }
  BOOST_CHECK_THROW(ssmax_factor(1.0, 0), std::invalid_argument);
}

BOOST_AUTO_TEST_SUITE_END()
