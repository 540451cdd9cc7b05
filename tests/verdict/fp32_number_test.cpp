// SPDX-License-Identifier: Apache-2.0
// What an fp32 kernel computes, against floats: every operation on operands that are off by less
// than they say, in float and with the rounding errors that CUDA documents.
#include "verdict/bounds/fp32_number.hpp"

#include <boost/test/unit_test.hpp>
#include <cmath>
#include <functional>
#include <random>
#include <string>

#include "reference/scalars/mpreal.hpp"

namespace plumbline::verdict {

BOOST_AUTO_TEST_SUITE(fp32_number_test)

namespace {

using reference::MpReal;
using reference::RunningError;

struct Operand {
  double exact;
  float held;  ///< by the kernel
  Fp32Number number() const {
    const double off = std::abs(double{held} - exact);
    return {RunningError(exact), off * (1 + 0x1p-40)};
  }
};

std::mt19937_64 random_bits{2026};

double between(double least, double most) {
  return std::uniform_real_distribution<double>(least, most)(random_bits);
}

/// A number and what a kernel that has lost a few bits of it holds.
Operand operand(double least, double most) {
  const double exact = between(least, most);
  const double lost =
      between(0, 1) < 0.2 ? 0 : std::ldexp(between(-1, 1), -static_cast<int>(between(10, 24)));
  const double held = exact * (1 + lost);
  if (between(0, 1) < 0.2) return {static_cast<float>(exact), static_cast<float>(exact)};
  return {exact, static_cast<float>(held)};
}

double to_double(const MpReal& x) { return static_cast<double>(x); }

struct Operation {
  const char* name;
  double least, most;    ///< of the first operand
  double least2, most2;  ///< of the second
  std::function<float(float, float)> in_float;
  std::function<MpReal(const MpReal&, const MpReal&)> exact;
  std::function<Fp32Number(const Fp32Number&, const Fp32Number&)> bounded;
  double ulps;  ///< of 2^-23 |x| each: what a kernel's function errs more than in_float
};

template <class F>
Operation unary(const char* name, double least, double most, float (*in_float)(float), const F& f,
                double ulps) {
  return {name,
          least,
          most,
          0,
          1,
          [=](float x, float) { return in_float(x); },
          [=](const MpReal& x, const MpReal&) { return f(x); },
          [=](const Fp32Number& x, const Fp32Number&) { return f(x); },
          ulps};
}

const std::vector<Operation> operations{
    {"+", -4, 4, -4, 4, [](float x, float y) { return x + y; },
     [](const MpReal& x, const MpReal& y) -> MpReal { return x + y; },
     [](const Fp32Number& x, const Fp32Number& y) { return x + y; }, 0},
    {"-", -4, 4, -4, 4, [](float x, float y) { return x - y; },
     [](const MpReal& x, const MpReal& y) -> MpReal { return x - y; },
     [](const Fp32Number& x, const Fp32Number& y) { return x - y; }, 0},
    {"*", -4, 4, -4, 4, [](float x, float y) { return x * y; },
     [](const MpReal& x, const MpReal& y) -> MpReal { return x * y; },
     [](const Fp32Number& x, const Fp32Number& y) { return x * y; }, 0},
    {"/", -4, 4, 0.25, 4, [](float x, float y) { return x / y; },
     [](const MpReal& x, const MpReal& y) -> MpReal { return x / y; },
     [](const Fp32Number& x, const Fp32Number& y) { return x / y; }, 1},
    {"power", 0.01, 30, -3, 3, [](float x, float y) { return std::pow(x, y); },
     [](const MpReal& x, const MpReal& y) { return reference::power(x, y); },
     [](const Fp32Number& x, const Fp32Number& y) { return reference::power(x, y); }, 7},
    {"max", -1, 1, -1, 1, [](float x, float y) { return std::max(x, y); },
     [](const MpReal& x, const MpReal& y) { return reference::maximum(x, y); },
     [](const Fp32Number& x, const Fp32Number& y) { return reference::maximum(x, y); }, 0},
    unary(
        "exp", -20, 20, [](float x) { return std::exp(x); }, reference::exp, 1),
    unary(
        "log", 0.01, 100, [](float x) { return std::log(x); }, reference::log, 1),
    unary(
        "log near 1", 0.99, 1.01, [](float x) { return std::log(x); }, reference::log, 1),
    unary(
        "log1p", -0.5, 100, [](float x) { return std::log1p(x); }, reference::log1p, 1),
    unary(
        "log of 1 + x", -0.5, 100, [](float x) { return std::log(1 + x); }, reference::log1p, 1.4),
    unary(
        "sqrt", 0.01, 100, [](float x) { return std::sqrt(x); }, reference::sqrt, 0.5),
    unary(
        "sin", -10, 10, [](float x) { return std::sin(x); }, reference::sin, 1),
    unary(
        "cos", -10, 10, [](float x) { return std::cos(x); }, reference::cos, 1),
    unary(
        "tanh", -3, 3, [](float x) { return std::tanh(x); }, reference::tanh, 0.5),
    unary(
        "erf", -3, 3, [](float x) { return std::erf(x); }, reference::erf, 1),
    unary(
        "abs", -3, 3, [](float x) { return std::abs(x); }, reference::absolute, 0),
};

}  // namespace

BOOST_AUTO_TEST_CASE(no_float_is_farther_from_the_exact_result_than_it_says) {
  for (const Operation& operation : operations) {
    double worst = 0;
    for (int n = 0; n < 20000; ++n) {
      const Operand x = operand(operation.least, operation.most),
                    y = operand(operation.least2, operation.most2);
      const Fp32Number bounded = operation.bounded(x.number(), y.number());
      const MpReal exact = operation.exact(MpReal(x.exact), MpReal(y.exact));
      const float computed = operation.in_float(x.held, y.held);
      // A kernel's function errs by some units in the last place more than this library's.
      const double more =
          operation.ulps * 0x1p-23 * std::abs(double{computed}) * (between(0, 1) < 0.5 ? 1 : -1);
      const double error = std::abs(to_double(MpReal(double{computed} + more) - exact));
      if (!(error <= bounded.error())) {
        BOOST_ERROR(operation.name << "(" << x.held << " for " << x.exact << ", " << y.held
                                   << " for " << y.exact << ") is off by " << error << ", and says "
                                   << bounded.error());
        break;
      }
      worst = std::max(worst, bounded.error() == 0 ? 0 : error / bounded.error());
      BOOST_TEST(std::abs(to_double(MpReal(bounded.exact().value()) - exact)) <=
                 bounded.exact().error());
    }
    // Not much too large either.
    BOOST_TEST(worst > 0.5,
               operation.name << ": the largest error is " << worst << " of its bound");
  }
}

BOOST_AUTO_TEST_CASE(what_is_exact_in_floats_has_no_error) {
  const Fp32Number five(5.0), three(3.0), tenth(0.1);
  for (const Fp32Number& exact :
       {five - three, five * three, -five, reference::absolute(three - five),
        reference::exp(Fp32Number(0.0)), reference::log(Fp32Number(1.0)),
        reference::cos(Fp32Number(0.0)), tenth * Fp32Number(0.0)}) {
    BOOST_TEST(exact.error() == 0);
    BOOST_TEST(exact.exact().error() == 0);
  }
  // 0.1 is no float; 2^24 + 1 is none.
  BOOST_TEST(tenth.error() >= std::abs(double{0.1f} - 0.1));
  BOOST_TEST((Fp32Number(0x1p24) + Fp32Number(1.0)).error() >= 1.0);
}

BOOST_AUTO_TEST_CASE(a_sign_that_is_not_certain_may_be_either) {
  const Fp32Number unsure(RunningError(0x1p-30), 0x1p-25), sure(RunningError(0.5), 0x1p-25);
  BOOST_TEST(reference::sign(unsure).error() >= 2);
  BOOST_TEST(reference::sign(Fp32Number(0.0)).error() >= 1);
  BOOST_TEST(reference::step(unsure).error() >= 1);
  BOOST_TEST(reference::sign(sure).error() == 0);
  BOOST_TEST(reference::step(sure).error() == 0);
}

BOOST_AUTO_TEST_CASE(what_derivatives_lose_below_fp32_is_multiplied_by_the_factors_after_it) {
  const Fp32Number seed = Fp32Number::adjoint(), two(2.0), ten(10.0), half(0.5);
  BOOST_TEST(seed.lost() == 0);
  BOOST_TEST(two.lost() == 0);
  BOOST_TEST((two * ten).lost() == 0);  // no derivative
  // Of g * 10: the product itself, and one before it, of another factor than 10's last.
  BOOST_TEST((seed * ten).lost() == 11);
  BOOST_TEST((ten * -seed).lost() == 11);
  BOOST_TEST((seed * ten * two).lost() == 25);
  BOOST_TEST((seed / half).lost() == 3);
  BOOST_TEST((seed * ten + seed * two).lost() == 14);
  BOOST_TEST((seed * Fp32Number(0.0)).lost() == 0);
  // -g a / b^2 with a = b = 1/4: g a may underflow, and be multiplied by 16.
  BOOST_TEST(Fp32Number::by_divisor(seed, Fp32Number(0.25), Fp32Number(0.25)).lost() == 48);
}

BOOST_AUTO_TEST_CASE(what_has_no_bound_is_infinite) {
  const Fp32Number around_0(RunningError(0x1p-30), 0x1p-25), one(1.0);
  for (const Fp32Number& none :
       {one / around_0, reference::log(around_0), reference::power(around_0, one),
        reference::exp(Fp32Number(100.0)), Fp32Number(0x1p100) * Fp32Number(0x1p100)}) {
    BOOST_TEST(none.error() == infinity);
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace plumbline::verdict
