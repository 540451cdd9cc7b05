// SPDX-License-Identifier: Apache-2.0
#include "reference/position/learned_position.hpp"

#include "tests/reference/position/layer_readings.hpp"

BOOST_AUTO_TEST_SUITE(learned_position_test)

using namespace plumbline::reference;

namespace {

template <class Position>
void expect_in_a_layer(const Position& position, const RangeOf& range = around_zero) {
  const LayerProblem<Position> problem{position};
  Numbers numbers(1);
  expect_layer_is_right(problem, problem.inputs(numbers, range), 1);
}

std::pair<double, double> of_kerple(const std::string& name) {
  if (name == "layer.position.p") return {0.3, 1.7};
  return name == "layer.position.a" ? std::pair(0.1, 1.1) : around_zero(name);
}

// L L0 is between 0.9 and 2.7: queries stand on both sides of it.
std::pair<double, double> of_fire(const std::string& name) {
  if (name == "layer.position.c") return {0.1, 1.1};
  return name == "layer.position.L" ? std::pair(0.3, 0.9) : around_zero(name);
}

}  // namespace

BOOST_AUTO_TEST_CASE(ggd_in_a_layer) { expect_in_a_layer(GgdPosition()); }
BOOST_AUTO_TEST_CASE(kerple_log_in_a_layer) { expect_in_a_layer(KerpleLogPosition(), of_kerple); }
BOOST_AUTO_TEST_CASE(kerple_power_in_a_layer) {
  expect_in_a_layer(KerplePowerPosition(), of_kerple);
}
BOOST_AUTO_TEST_CASE(t5_in_a_layer) { expect_in_a_layer(t5_position(false, 3, 2)); }
BOOST_AUTO_TEST_CASE(fire_in_a_layer) {
  expect_in_a_layer(FirePosition{{}, {.L0 = 3, .hidden = 2}}, of_fire);
}

BOOST_AUTO_TEST_SUITE_END()
