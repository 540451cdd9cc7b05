// SPDX-License-Identifier: Apache-2.0
// Checks of equations with many results: one fixed weight on each makes them an objective.
#pragma once

#include <vector>

#include "reference/core/sum.hpp"
#include "tests/reference/parameters.hpp"
#include "tests/reference/readings.hpp"

namespace plumbline::reference {

/// `adjoint` (inputs, gradient of the results -> gradient of the inputs) of `equation` (vector ->
/// vector) against the dual reading of sum_n weight_n result_n.
template <class Equation, class Adjoint>
struct Weighted {
  const Equation& equation;
  const Adjoint& adjoint;
  const std::vector<double>& inputs;
  std::vector<double> weights;

  /// `seed` gives the weights, in [-1, 1).
  Weighted(const Equation& equation, const Adjoint& adjoint, const std::vector<double>& inputs,
           std::uint64_t seed)
      : equation(equation),
        adjoint(adjoint),
        inputs(inputs),
        weights(Numbers(seed).between(-1, 1,
                                      static_cast<int>(equation(lifted<double>(inputs)).size()))) {}

  auto gradient() const {
    return [this](const auto& x) { return adjoint(x, lifted<ScalarOf<decltype(x)>>(weights)); };
  }
  void expect_gradient() const {
    expect_adjoint(
        [this](const auto& x) {
          using R = ScalarOf<decltype(x)>;
          Vector<R> total(1);
          total[0] = dot(equation(x), lifted<R>(weights));
          return total;
        },
        gradient(), inputs);
  }
};

/// `equation` in every reading, and its adjoint against the dual reading: for what is put together
/// of equations whose adjoints are read in every reading by their own tests.
template <class Equation, class Adjoint>
void expect_readings_and_gradient(const Equation& equation, const Adjoint& adjoint,
                                  const std::vector<double>& inputs, std::uint64_t seed) {
  BOOST_TEST_CONTEXT("seed " << seed) {
    expect_readings_agree(equation, inputs);
    Weighted(equation, adjoint, inputs, seed).expect_gradient();
  }
}

/// The same, and the adjoint in every reading too.
template <class Equation, class Adjoint>
void expect_readings_and_adjoint(const Equation& equation, const Adjoint& adjoint,
                                 const std::vector<double>& inputs, std::uint64_t seed) {
  BOOST_TEST_CONTEXT("seed " << seed) {
    const Weighted weighted(equation, adjoint, inputs, seed);
    expect_readings_agree(equation, inputs);
    expect_readings_agree(weighted.gradient(), inputs);
    weighted.expect_gradient();
  }
}

}  // namespace plumbline::reference
