// SPDX-License-Identifier: Apache-2.0
// Several steps of an optimiser in every reading, and what its step refuses.
#pragma once

#include "reference/optimizer/moments.hpp"
#include "tests/reference/parameters.hpp"
#include "tests/reference/refused.hpp"

namespace plumbline::reference {

/// `step(parameter, grad, moments, settings)` three times on a vector of two, in every reading.
template <class Step>
void expect_steps_agree(const Step& step) {
  const int size = 2, steps = 3;
  const auto equation = [&](const auto& x) {
    using R = ScalarOf<decltype(x)>;
    Reader<R> reader(x);
    Vector<R> parameter = reader.vector(size);
    Moments<Vector<R>> moments = no_moments(parameter);
    const AdamSettings<R> settings{.learning_rate = R(0.01), .weight_decay = R(0.1)};
    for (int n = 0; n < steps; ++n) step(parameter, reader.vector(size), moments, settings);
    Writer<R> results;
    results.vector(parameter);
    results.vector(moments.first);
    results.vector(moments.second);
    return results.result();
  };
  for (std::uint64_t seed : {1, 2}) {
    BOOST_TEST_CONTEXT("seed " << seed) {
      expect_readings_agree(equation, Numbers(seed).between(-1, 1, size * (1 + steps)));
    }
  }
}

/// What may be wrong with a step's arguments; the defaults are right.
struct StepArguments {
  int grad_rows = 2, grad_columns = 3;
  int first_rows = 2, first_columns = 3;
  int second_rows = 2, second_columns = 3;
  int step = 0;
  double learning_rate = 0.01, beta1 = 0.9, beta2 = 0.95, epsilon = 1e-8, weight_decay = 0.1;
};

/// Everything that check_step refuses, through `step`, which must change nothing then.
template <class Step>
void expect_step_refuses_what_does_not_fit(const Step& step) {
  const auto with = [&](const StepArguments& given) {
    return [&step, given](const auto& zero) {
      using R = std::remove_cvref_t<decltype(zero)>;
      Matrix<R> parameter = Matrix<R>::Constant(2, 3, R(1.0));
      const Matrix<R> grad = Matrix<R>::Constant(given.grad_rows, given.grad_columns, R(1.0));
      Moments<Matrix<R>> moments{zeros<R>(given.first_rows, given.first_columns),
                                 zeros<R>(given.second_rows, given.second_columns), given.step};
      const AdamSettings<R> settings{R(given.learning_rate), R(given.beta1), R(given.beta2),
                                     R(given.epsilon), R(given.weight_decay)};
      try {
        step(parameter, grad, moments, settings);
      } catch (const std::invalid_argument&) {
        BOOST_TEST(representative(parameter(0, 0)) == 1.0);
        BOOST_TEST(moments.step == given.step);
        if (moments.first.size() > 0) BOOST_TEST(representative(moments.first(0, 0)) == 0.0);
        throw;
      }
    };
  };
  const double nan = std::nan(""), infinity = std::numeric_limits<double>::infinity();
  const std::string rows = "; expected the rows of the parameter";
  const std::string columns = "; expected the columns of the parameter";
  expect_refused("grad.rows() is 1" + rows, with({.grad_rows = 1}));
  expect_refused("grad.cols() is 4" + columns, with({.grad_columns = 4}));
  expect_refused("moments.first.rows() is 0" + rows, with({.first_rows = 0}));
  expect_refused("moments.first.cols() is 2" + columns, with({.first_columns = 2}));
  expect_refused("moments.second.rows() is 3" + rows, with({.second_rows = 3}));
  expect_refused("moments.second.cols() is 1" + columns, with({.second_columns = 1}));
  expect_refused("moments.step is -1; expected at least 0", with({.step = -1}));
  expect_refused("learning_rate is -0.5; expected finite and at least 0",
                 with({.learning_rate = -0.5}));
  expect_refused("learning_rate is inf; expected finite and at least 0",
                 with({.learning_rate = infinity}));
  expect_refused("beta1 is 0; expected between 0 and 1", with({.beta1 = 0}));
  expect_refused("beta1 is 1; expected between 0 and 1", with({.beta1 = 1}));
  expect_refused("beta2 is 0; expected between 0 and 1", with({.beta2 = 0}));
  expect_refused("beta2 is 1.5; expected between 0 and 1", with({.beta2 = 1.5}));
  expect_refused("beta2 is nan; expected between 0 and 1", with({.beta2 = nan}));
  expect_refused("epsilon is 0; expected finite and above 0", with({.epsilon = 0}));
  expect_refused("epsilon is inf; expected finite and above 0", with({.epsilon = infinity}));
  expect_refused("weight_decay is -1e-12; expected finite and at least 0",
                 with({.weight_decay = -1e-12}));
  expect_refused("weight_decay is inf; expected finite and at least 0",
                 with({.weight_decay = infinity}));
}

}  // namespace plumbline::reference
