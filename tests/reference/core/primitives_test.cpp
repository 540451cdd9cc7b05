// SPDX-License-Identifier: Apache-2.0
#include "reference/core/primitives.hpp"

#include "tests/reference/parameters.hpp"
#include "tests/reference/readings.hpp"

BOOST_AUTO_TEST_SUITE(primitives_test)

using namespace plumbline;
using reference::BasicDual;
using reference::MpReal;

namespace {

/// Every function of one argument that is defined for all numbers, then those for x > 0.
const auto everywhere = [](const auto& x) {
  using R = reference::ScalarOf<decltype(x)>;
  reference::Writer<R> results;
  for (const R& a : x) {
    results.number(reference::exp(a));
    results.number(reference::absolute(a));
    results.number(reference::sign(a));
    results.number(reference::relu(a));
    results.number(reference::step(a));
    results.number(reference::softplus(a));
    results.number(reference::logistic(a));
    results.number(reference::maximum(a, R(0.5)));
    results.number(reference::sin(a));
    results.number(reference::cos(a));
    results.number(reference::erf(a));
    results.number(reference::tanh(a));
    results.number(reference::pi<R>() * a);
  }
  return results.result();
};
const auto for_positive = [](const auto& x) {
  using R = reference::ScalarOf<decltype(x)>;
  reference::Writer<R> results;
  for (const R& a : x) {
    results.number(reference::log(a));
    results.number(reference::log1p(a));
    results.number(reference::sqrt(a));
    results.number(reference::power(a, R(0.75)));
    results.number(reference::power(a, R(-1.5)));
    results.number(reference::power(R(1.25), a));
  }
  return results.result();
};

}  // namespace

BOOST_AUTO_TEST_CASE(values_by_hand) {
  BOOST_TEST(reference::exp(0.0) == 1.0);
  BOOST_TEST(reference::log(1.0) == 0.0);
  BOOST_TEST(reference::log1p(0.0) == 0.0);
  BOOST_TEST(reference::sqrt(9.0) == 3.0);
  BOOST_TEST(reference::power(2.0, -3.0) == 0.125);
  BOOST_TEST(reference::absolute(-2.5) == 2.5);
  BOOST_TEST(reference::sign(-2.5) == -1.0);
  BOOST_TEST(reference::sign(0.0) == 0.0);
  BOOST_TEST(reference::relu(-1.0) == 0.0);
  BOOST_TEST(reference::relu(1.5) == 1.5);
  BOOST_TEST(reference::step(0.0) == 0.0);
  BOOST_TEST(reference::step(0x1p-1074) == 1.0);
  BOOST_TEST(reference::logistic(0.0) == 0.5);
  BOOST_TEST(reference::softplus(0.0) == std::log(2.0));
  BOOST_TEST(reference::softplus(1e300) == 1e300);  // no overflow on the way
  BOOST_TEST(reference::softplus(-1e300) == 0.0);
  BOOST_TEST(reference::maximum(1.0, 2.0) == 2.0);
  BOOST_TEST(reference::maximum(2.0, 1.0) == 2.0);
  BOOST_TEST(reference::sin(0.0) == 0.0);
  BOOST_TEST(reference::cos(0.0) == 1.0);
  BOOST_TEST(reference::cos(reference::pi<double>()) == -1.0);  // at a flat maximum, so exact
  BOOST_TEST(reference::erf(0.0) == 0.0);
  BOOST_TEST(reference::erf(-7.0) == -1.0);  // 1 - 4e-23 rounds to 1
  BOOST_TEST(reference::tanh(0.0) == 0.0);
  BOOST_TEST(reference::tanh(-20.0) == -1.0);  // 1 - 8e-18 rounds to 1
}

BOOST_AUTO_TEST_CASE(functions_agree_in_every_reading) {
  reference::Numbers numbers(2);
  reference::expect_readings_agree(everywhere, {0.0, 1.0, -1.0, 0.5, 0x1p-1074, -700.0, 700.0});
  reference::expect_readings_agree(for_positive, {1.0, 0x1p-400, 0x1p-60, 100.0});
  for (double size : {1e-8, 1.0, 20.0}) {
    reference::expect_readings_agree(everywhere, numbers.between(-size, size, 500));
    reference::expect_readings_agree(for_positive, numbers.between(size * 1e-3, size, 500));
  }
}

BOOST_AUTO_TEST_CASE(the_c_library_keeps_to_its_ulps) {
  // What the running error takes for granted: |v - f(x)| <= 2u |v|, u = 2^-53; 4u |v| for erf and
  // 6u |v| for tanh.
  reference::Numbers numbers(3);
  const auto check = [](double value, const MpReal& exact, int ulps = 1) {
    BOOST_TEST((abs(MpReal(value) - exact) <= MpReal(std::fabs(value)) * ulps * 0x1p-52),
               value << " for " << exact);
  };
  using D = reference::Primitives<double>;
  using M = reference::Primitives<MpReal>;
  for (int n = 0; n < 5000; ++n) {
    const double x = numbers.between(-40.0, 40.0), y = std::exp(x), z = numbers.between(-3.0, 3.0);
    check(D::exp(x), M::exp(MpReal(x)));
    check(D::log(y), M::log(MpReal(y)));
    check(D::log1p(y), M::log1p(MpReal(y)));
    check(D::power(y, z), M::power(MpReal(y), MpReal(z)));
    const double near_one = 1.0 + numbers.between(-1e-3, 1e-3);
    check(D::log(near_one), M::log(MpReal(near_one)));
    check(std::expm1(z), MpReal(boost::multiprecision::expm1(MpReal(z))));
    for (double angle : {x, z, x * 0x1p40}) {  // rotations of far positions, too
      check(D::sin(angle), M::sin(MpReal(angle)));
      check(D::cos(angle), M::cos(MpReal(angle)));
    }
    check(D::erf(z), M::erf(MpReal(z)), 2);
    for (double size : {x, z, z * 0x1p-20}) check(D::tanh(size), M::tanh(MpReal(size)), 3);
  }
}

BOOST_AUTO_TEST_CASE(derivatives_are_the_limits_of_difference_quotients) {
  // In MPFR, by central differences of width h = 10^-15: they differ from the derivative by
  // h^2/6 max|f'''|. On [1/4, 4] the third derivatives are below 1e4 (the largest is that of
  // a^(-1.5): 13.125 a^(-4.5) <= 6720), and rounding adds 10^-50 |f| / h; so below 10^-26 in all.
  // No argument lies within h of a kink (0 and 0.5).
  const MpReal h("1e-15"), bound("1e-26");
  const auto compare = [&](const auto& equation, double x) {
    reference::Vector<BasicDual<MpReal>> seeded(1);
    seeded[0] = {MpReal(x), MpReal(1.0)};
    reference::Vector<MpReal> above(1), below(1);
    above[0] = MpReal(x) + h;
    below[0] = MpReal(x) - h;
    const auto derivative = equation(seeded);
    const auto high = equation(above), low = equation(below);
    for (Eigen::Index n = 0; n < derivative.size(); ++n) {
      const MpReal quotient = (high[n] - low[n]) / (2 * h);
      BOOST_TEST(
          (abs(derivative[n].tangent - quotient) <= bound),
          "function " << n << " at " << x << ": " << derivative[n].tangent << " and " << quotient);
    }
  };
  for (double x : {0.25, 0.75, 1.0, 1.7, 4.0}) {
    compare(everywhere, x);
    compare(everywhere, -x);
    compare(for_positive, x);
  }
}

BOOST_AUTO_TEST_CASE(at_a_kink_the_derivative_is_the_documented_one) {
  using reference::Dual;
  BOOST_TEST(reference::absolute(Dual(0.0, 1.0)).tangent == 0.0);
  BOOST_TEST(reference::relu(Dual(0.0, 1.0)).tangent == 0.0);
  BOOST_TEST(reference::maximum(Dual(1.0, 3.0), Dual(1.0, 5.0)).tangent == 5.0);
}

BOOST_AUTO_TEST_SUITE_END()
