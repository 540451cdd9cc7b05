// SPDX-License-Identifier: Apache-2.0
#include "reference/scalars/interval.hpp"

#include "tests/reference/readings.hpp"

BOOST_AUTO_TEST_SUITE(interval_test)

using namespace plumbline;
using reference::contains;
using reference::Interval;
using reference::interval;
using reference::MpReal;

namespace {

void expect_ends(const Interval& x, double low, double high) {
  BOOST_TEST((reference::lower(x) == low && reference::upper(x) == high), x);
}

}  // namespace

BOOST_AUTO_TEST_CASE(functions_with_a_kink_enclose_both_sides) {
  expect_ends(reference::absolute(interval(-1, 2)), 0, 2);
  expect_ends(reference::absolute(interval(-3, -2)), 2, 3);
  expect_ends(reference::sign(interval(-1, 2)), -1, 1);
  expect_ends(reference::sign(interval(0, 2)), 0, 1);
  expect_ends(reference::sign(interval(1, 2)), 1, 1);
  expect_ends(reference::relu(interval(-1, 2)), 0, 2);
  expect_ends(reference::relu(interval(-2, -1)), 0, 0);
  expect_ends(reference::step(interval(-1, 2)), 0, 1);
  expect_ends(reference::step(interval(-1, 0)), 0, 0);
  expect_ends(reference::maximum(interval(-1, 2), interval(0, 1)), 0, 2);
}

BOOST_AUTO_TEST_CASE(an_enclosure_contains_the_function_at_points_of_the_box) {
  reference::Numbers numbers(5);
  using I = reference::Primitives<Interval>;
  using M = reference::Primitives<MpReal>;
  for (int n = 0; n < 300; ++n) {
    const double low = numbers.between(-5, 5), high = low + numbers.between(0, 3);
    const double inside = std::min(high, numbers.between(low, high));
    const Interval x = interval(low, high), positive = I::exp(x);
    const MpReal point(inside), positive_point = M::exp(point);
    BOOST_TEST(contains(I::exp(x), M::exp(point)));
    BOOST_TEST(contains(I::softplus(x), M::softplus(point)));
    BOOST_TEST(contains(I::logistic(x), M::logistic(point)));
    BOOST_TEST(contains(I::absolute(x), M::absolute(point)));
    BOOST_TEST(contains(I::relu(x), M::relu(point)));
    BOOST_TEST(contains(I::sign(x), M::sign(point)));
    BOOST_TEST(contains(I::step(x), M::step(point)));
    BOOST_TEST(contains(I::sin(x), M::sin(point)));
    BOOST_TEST(contains(I::cos(x), M::cos(point)));
    BOOST_TEST(contains(I::erf(x), M::erf(point)));
    BOOST_TEST(contains(I::tanh(x), M::tanh(point)));
    BOOST_TEST(contains(I::log(positive), M::log(positive_point)));
    BOOST_TEST(contains(I::log1p(positive), M::log1p(positive_point)));
    BOOST_TEST(contains(I::sqrt(positive), M::sqrt(positive_point)));
    BOOST_TEST(contains(I::power(positive, x), M::power(positive_point, point)));
  }
}

BOOST_AUTO_TEST_CASE(softplus_and_logistic_are_as_tight_as_their_ends) {
  // Both increase: the enclosure of a box is that of its ends, not of each occurrence of x.
  for (auto* f :
       {&reference::Primitives<Interval>::softplus, &reference::Primitives<Interval>::logistic}) {
    const Interval wide = f(interval(-1, 2));
    BOOST_TEST((reference::lower(wide) == reference::lower(f(Interval(-1.0)))));
    BOOST_TEST((reference::upper(wide) == reference::upper(f(Interval(2.0)))));
  }
}

BOOST_AUTO_TEST_CASE(sin_and_cos_know_their_extremes_between_the_ends) {
  const Interval cosine = reference::cos(interval(-1, 2)), sine = reference::sin(interval(1, 2));
  BOOST_TEST((reference::upper(cosine) == 1));
  BOOST_TEST(contains(cosine, cos(MpReal(2.0))));
  BOOST_TEST((reference::upper(sine) == 1));
  BOOST_TEST(!contains(sine, MpReal(0.8)));  // sin 1 = 0.84 is the least
}

BOOST_AUTO_TEST_CASE(pi_is_enclosed) {
  // sin(pi) = 0 lies strictly inside: below pi the sine is positive, above it is negative.
  const Interval pi = reference::pi<Interval>();
  BOOST_TEST((sin(reference::lower(pi)) > 0));
  BOOST_TEST((sin(reference::upper(pi)) < 0));
}

BOOST_AUTO_TEST_CASE(not_a_number_is_in_no_interval) {
  const Interval nan = reference::log(interval(-2, -1));
  BOOST_TEST(!contains(nan, MpReal(0.0)));
  BOOST_TEST(!reference::certainly_positive(nan));
  BOOST_TEST(!reference::certainly_negative(nan));
  BOOST_TEST(!contains(reference::relu(nan), MpReal(0.0)));
  BOOST_TEST(!contains(reference::softplus(nan), MpReal(0.0)));
  BOOST_TEST(!contains(reference::erf(nan), MpReal(0.0)));
  BOOST_TEST(!contains(reference::tanh(nan), MpReal(0.0)));
}

BOOST_AUTO_TEST_CASE(ends_in_the_wrong_order_are_refused) {
  BOOST_CHECK_THROW(interval(2, 1), std::invalid_argument);
  BOOST_CHECK_THROW(interval(std::nan(""), 1), std::invalid_argument);
}

BOOST_AUTO_TEST_SUITE_END()
