// SPDX-License-Identifier: Apache-2.0
#include "reference/model/perplexity.hpp"

#include "reference/model/loss.hpp"
#include "tests/reference/weighted.hpp"

BOOST_AUTO_TEST_SUITE(perplexity_test)

using namespace plumbline::reference;

BOOST_AUTO_TEST_CASE(a_uniform_guess_among_four_has_perplexity_four) {
  BOOST_TEST(perplexity(0.0) == 1.0);
  const RunningError loss = cross_entropy(zeros<RunningError>(2, 4), Targets{1, 3});
  const RunningError result = perplexity(loss);
  BOOST_TEST(std::fabs(result.value() - 4) <= result.error());
  BOOST_TEST(result.error() < 1e-13);
}

BOOST_AUTO_TEST_CASE(readings_and_adjoint_agree) {
  const auto equation = [](const auto& x) {
    using R = ScalarOf<decltype(x)>;
    Vector<R> result(1);
    result[0] = perplexity(x[0]);
    return result;
  };
  const auto adjoint = [](const auto& x, const auto& dy) {
    using R = ScalarOf<decltype(x)>;
    Vector<R> result(1);
    result[0] = perplexity(x[0]) * dy[0];
    return result;
  };
  expect_readings_and_adjoint(equation, adjoint, {3.5}, 1);
}

BOOST_AUTO_TEST_SUITE_END()
