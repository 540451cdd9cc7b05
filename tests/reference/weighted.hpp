// SPDX-License-Identifier: Apache-2.0
// Checks of equations with many results: one fixed weight on each makes them an objective.
#pragma once

#include <vector>

#include "reference/core/sum.hpp"
#include "tests/reference/parameters.hpp"
#include "tests/reference/readings.hpp"

namespace plumbline::reference {

/// `equation` (vector -> vector) and `adjoint` (inputs, gradient of the results -> gradient of the
/// inputs) in every reading, and the adjoint against the dual reading of sum_n weight_n result_n.
/// `seed` gives the weights, in [-1, 1).
template <class Equation, class Adjoint>
void expect_readings_and_adjoint(const Equation& equation, const Adjoint& adjoint,
                                 const std::vector<double>& inputs, std::uint64_t seed) {
  BOOST_TEST_CONTEXT("seed " << seed) {
    expect_readings_agree(equation, inputs);
    const std::vector<double> weights =
        Numbers(seed).between(-1, 1, static_cast<int>(equation(lifted<double>(inputs)).size()));
    expect_adjoint(
        [&](const auto& x) {
          using R = ScalarOf<decltype(x)>;
          Vector<R> total(1);
          total[0] = dot(equation(x), lifted<R>(weights));
          return total;
        },
        [&](const auto& x) { return adjoint(x, lifted<ScalarOf<decltype(x)>>(weights)); }, inputs);
  }
}

}  // namespace plumbline::reference
