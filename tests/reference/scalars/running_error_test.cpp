// SPDX-License-Identifier: Apache-2.0
#include "reference/scalars/running_error.hpp"

#include "tests/reference/readings.hpp"

BOOST_AUTO_TEST_SUITE(running_error_test)

using namespace plumbline;
using reference::Interval;
using reference::MpReal;
using reference::RunningError;

namespace {

/// All numbers that a scalar with an error may stand for.
Interval meant_by(const RunningError& x) {
  const MpReal value(x.value()), error(x.error());
  return Interval(MpReal(value - error), MpReal(value + error));
}

/// The bound must cover f(a') for every a' that `a` may stand for; `exact` encloses exactly those
/// values at the ends of the interval, where a monotone function takes its extremes.
void expect_covers(const RunningError& result, const Interval& exact, const char* what) {
  BOOST_TEST((reference::lower(meant_by(result)) <= reference::lower(exact) &&
              reference::upper(exact) <= reference::upper(meant_by(result))),
             what << ": " << meant_by(result) << " does not cover " << exact);
}

}  // namespace

BOOST_AUTO_TEST_CASE(an_exact_number_has_no_error) {
  BOOST_TEST(RunningError(0.1).error() == 0.0);
  BOOST_TEST((-RunningError(0.1)).error() == 0.0);
  BOOST_TEST(reference::absolute(RunningError(-0.1)).error() == 0.0);
}

BOOST_AUTO_TEST_CASE(one_rounding_costs_half_an_ulp_at_most) {
  const RunningError third = RunningError(1.0) / RunningError(3.0);
  BOOST_TEST(third.error() >= 0x1p-53 / 3);
  BOOST_TEST(third.error() <= 0x1p-53 / 3 * (1 + 0x1p-40));
  // 1 + 2^-53 and 1 - 2^-54 lie halfway between two numbers; (1 + 2^-52)^2 loses 2^-104.
  BOOST_TEST((RunningError(1.0) + RunningError(0x1p-53)).error() >= 0x1p-53);
  BOOST_TEST((RunningError(1.0) - RunningError(0x1p-54)).error() >= 0x1p-54);
  BOOST_TEST((RunningError(1.0 + 0x1p-52) * RunningError(1.0 + 0x1p-52)).error() >= 0x1p-104);
}

BOOST_AUTO_TEST_CASE(errors_of_the_operands_are_carried_in_full) {
  // Each result must cover the interval operation on everything that the operands may stand for.
  // The interval's own rounding is below 10^-49 of the value, and the bound exceeds the least one
  // by more than that through rounded_up.
  reference::Numbers numbers(4);
  BOOST_TEST(reference::relu(RunningError(-1.0, 0.5)).error() == 0.0);
  for (int n = 0; n < 2000; ++n) {
    const double ea = std::exp(numbers.between(-40, -1)), eb = std::exp(numbers.between(-40, -1));
    const RunningError a(numbers.between(-4, 4), ea), b(numbers.between(-4, 4), eb);
    const RunningError p(numbers.between(0.5, 4), ea);  // above its error, which is below 0.37
    const Interval A = meant_by(a), B = meant_by(b), P = meant_by(p);
    using I = reference::Primitives<Interval>;
    expect_covers(a + b, A + B, "sum");
    expect_covers(a - b, A - B, "difference");
    expect_covers(a * b, A * B, "product");
    if (std::fabs(b.value()) > b.error()) expect_covers(a / b, A / B, "quotient");
    expect_covers(reference::exp(a), I::exp(A), "exp");
    expect_covers(reference::log(p), I::log(P), "log");
    expect_covers(reference::log1p(p), I::log1p(P), "log1p");
    expect_covers(reference::sqrt(p), I::sqrt(P), "sqrt");
    expect_covers(reference::power(p, b), I::power(P, B), "power");
    expect_covers(reference::absolute(a), I::absolute(A), "absolute");
    expect_covers(reference::sign(a), I::sign(A), "sign");
    expect_covers(reference::relu(a), I::relu(A), "relu");
    expect_covers(reference::step(a), I::step(A), "step");
    expect_covers(reference::softplus(a), I::softplus(A), "softplus");
    expect_covers(reference::logistic(a), I::logistic(A), "logistic");
    expect_covers(reference::maximum(a, b), I::maximum(A, B), "maximum");
    expect_covers(reference::sin(a), I::sin(A), "sin");
    expect_covers(reference::cos(a), I::cos(A), "cos");
    expect_covers(reference::erf(a), I::erf(A), "erf");
    expect_covers(reference::tanh(a), I::tanh(A), "tanh");
    const RunningError far(30 * a.value(), 30 * ea);  // where the slope counts
    expect_covers(reference::tanh(far), I::tanh(meant_by(far)), "tanh, far");
    reference::Vector<RunningError> x(2), y(2);
    x << a, p;
    y << b, a;
    expect_covers(reference::sum(x), A + P, "sum of two");
    expect_covers(reference::dot(x, y), A * B + P * A, "dot of two");
    reference::Matrix<RunningError> rows(2, 1);
    rows << b, a;
    expect_covers(reference::weighted_sum(x, rows, {0, 1})[0], A * B + P * A, "weighted sum");
  }
}

BOOST_AUTO_TEST_CASE(sums_of_many_terms_stay_within_their_bound) {
  // The worst case of left-to-right summation: 1 + 2^-53 is 1, so every small term is lost.
  const int n = 4096;
  std::vector<double> terms(n, 0x1p-53);
  terms[0] = 1.0;
  const auto x = reference::lifted<RunningError>(terms);
  const RunningError total = reference::sum(x);
  BOOST_TEST(total.value() == 1.0);
  BOOST_TEST(total.error() >= (n - 1) * 0x1p-53);
  const auto ones = reference::lifted<RunningError>(std::vector<double>(n, 1.0));
  BOOST_TEST(reference::dot(x, ones).error() >= (n - 1) * 0x1p-53);
}

BOOST_AUTO_TEST_CASE(without_a_bound_nothing_is_within_it) {
  const RunningError around_zero(1.0, 2.0);
  const auto no_bound = [](const RunningError& x) { return !(x.error() <= 1e300); };
  BOOST_TEST(no_bound(RunningError(1.0) / around_zero));
  BOOST_TEST(no_bound(reference::log(around_zero)));
  BOOST_TEST(no_bound(reference::power(around_zero, RunningError(0.5))));
  const RunningError nan(std::nan(""));
  BOOST_TEST(no_bound(nan + RunningError(1.0)));
  BOOST_TEST(no_bound(nan * RunningError(1.0)));
  BOOST_TEST(no_bound(nan / RunningError(1.0)));
  BOOST_TEST(no_bound(reference::exp(nan)));
  BOOST_TEST(no_bound(reference::sin(RunningError(std::numeric_limits<double>::infinity()))));
  BOOST_TEST(no_bound(reference::cos(nan)));
  BOOST_TEST(no_bound(reference::erf(nan)));
  BOOST_TEST(no_bound(reference::tanh(nan)));
  BOOST_TEST(no_bound(reference::log(RunningError(-1.0))));
  BOOST_TEST(no_bound(reference::sqrt(RunningError(-1.0))));
  BOOST_TEST(no_bound(RunningError(1e300) * RunningError(1e300)));
  BOOST_TEST(no_bound(reference::sum(reference::lifted<RunningError>({1.0, std::nan("")}))));
}

BOOST_AUTO_TEST_CASE(underflow_is_within_the_bound) {
  const RunningError small(0x1p-600), half(0.5);
  BOOST_TEST((small * small).error() > 0.0);
  BOOST_TEST((RunningError(0x1p-1074) * half).error() >= 0x1p-1074);
  BOOST_TEST(reference::exp(RunningError(-800.0)).error() > 0.0);
  BOOST_TEST(reference::dot(reference::lifted<RunningError>({0x1p-600}),
                            reference::lifted<RunningError>({0x1p-600}))
                 .error() > 0.0);
}

BOOST_AUTO_TEST_SUITE_END()
