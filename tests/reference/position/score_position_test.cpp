// SPDX-License-Identifier: Apache-2.0
// CoPE and DAPE in an attention layer: the methods whose logits depend on other scores.
#include <type_traits>

#include "reference/position/cope_position.hpp"
#include "reference/position/dape_position.hpp"
#include "tests/reference/position/layer_readings.hpp"

BOOST_AUTO_TEST_SUITE(score_position_test)

using namespace plumbline::reference;

namespace {

std::pair<double, double> of_kerple(const std::string& name) {
  if (name == "layer.position.p") return {0.3, 1.7};
  return name == "layer.position.a" ? std::pair(0.1, 1.1) : around_zero(name);
}

/// Whether the increments of all tokens but the first are positive in both heads, and that of the
/// first is dropped in one: away from the kink of CABLE's |S_i - S_j|, as for CABLE itself.
template <class Position, class Parameters>
bool away_from_the_kink(const Parameters& p, const Matrix<double>& X) {
  if constexpr (std::is_same_v<Position, DapePosition<CablePosition, 2>>) {
    const Matrix<double> z = linear<Equations<double>>(p.position.base.increment, X);
    return z.row(0).minCoeff() < -0.1 && z.bottomRows(2).minCoeff() > 0.1;
  }
  return true;
}

template <class Position>
void expect_in_a_layer(const Position& position, bool ssmax = false,
                       const RangeOf& range = around_zero) {
  const LayerProblem<Position> problem{position, ssmax};
  for (std::uint64_t seed = 1;; ++seed) {
    Numbers numbers(seed);
    const auto inputs = problem.inputs(numbers, range);
    const auto [X, p] = problem.template read<double>(lifted<double>(inputs));
    if (!away_from_the_kink<Position>(p, X)) continue;
    expect_layer_is_right(problem, inputs, seed);
    break;
  }
}

template <class Base, int version>
auto dape() {
  DapePosition<Base, version> position;
  position.hidden = 2;
  return position;
}

CopePosition cope(int positions) {
  CopePosition position;
  position.positions = positions;
  return position;
}

}  // namespace

// Three gates of about a half: two positions clamp some counts, three none.
BOOST_AUTO_TEST_CASE(cope_in_a_layer) {
  expect_in_a_layer(cope(2));
  expect_in_a_layer(cope(3), true);
}

BOOST_AUTO_TEST_CASE(dape_in_a_layer) {
  expect_in_a_layer(dape<AlibiPosition, 1>(), true);
  expect_in_a_layer(dape<KerpleLogPosition, 2>(), false, of_kerple);
  expect_in_a_layer(dape<CablePosition, 2>());
}

// With embeddings that are 0 the positions count, but say nothing.
BOOST_AUTO_TEST_CASE(cope_begins_as_no_positions) {
  const LayerProblem<CopePosition> counted{cope(3)};
  const LayerProblem<NopePosition> none{};
  Numbers numbers(2), again(2);
  auto [X, p] = counted.read<double>(lifted<double>(counted.inputs(numbers, around_zero)));
  const auto [Y, q] = none.read<double>(lifted<double>(none.inputs(again, around_zero)));
  p.position.embedding.setZero();
  BOOST_TEST(
      (attention_layer<Equations<double>>(p, counted.layout, counted.position, X, counted.mask)
           .result ==
       attention_layer<Equations<double>>(q, none.layout, none.position, Y, none.mask).result));
}

BOOST_AUTO_TEST_SUITE_END()
