// SPDX-License-Identifier: Apache-2.0
#include "reference/position/context_position.hpp"

#include "tests/reference/position/layer_readings.hpp"

BOOST_AUTO_TEST_SUITE(context_position_test)

using namespace plumbline::reference;

namespace {

// Whether the increments of all tokens but the first are positive in both heads, and that of the
// first is dropped in one: there S_i = S_j, the kink of CABLE's |.|, is far away, and both sides of
// the ReLU occur.
bool away_from_the_kink(const LayerProblem<CableNwPosition>& problem,
                        const std::vector<double>& inputs) {
  const auto [X, p] = problem.read<double>(lifted<double>(inputs));
  const Matrix<double> z = linear<Equations<double>>(p.position.increment, X);
  return z.row(0).minCoeff() < -0.1 && z.bottomRows(2).minCoeff() > 0.1;
}

template <class Position>
void expect_in_a_layer() {
  LayerProblem<Position> problem;
  for (std::uint64_t seed = 1;; ++seed) {
    Numbers numbers(seed), same(seed);
    const auto inputs = problem.inputs(numbers, around_zero);
    if (!away_from_the_kink({}, LayerProblem<CableNwPosition>().inputs(same, around_zero))) {
      continue;
    }
    expect_layer_is_right(problem, inputs, seed);
    problem.mask = {};  // both directions, as encoders have it
    expect_layer_is_right(problem, inputs, seed);
    break;
  }
}

}  // namespace

BOOST_AUTO_TEST_CASE(cable_in_a_layer) { expect_in_a_layer<CablePosition>(); }
BOOST_AUTO_TEST_CASE(cable_nw_in_a_layer) { expect_in_a_layer<CableNwPosition>(); }
BOOST_AUTO_TEST_CASE(k_cable_in_a_layer) { expect_in_a_layer<KCablePosition>(); }
BOOST_AUTO_TEST_CASE(k_cable_nw_in_a_layer) { expect_in_a_layer<KCableNwPosition>(); }
BOOST_AUTO_TEST_CASE(fox_in_a_layer) { expect_in_a_layer<FoxPosition>(); }

BOOST_AUTO_TEST_SUITE_END()
