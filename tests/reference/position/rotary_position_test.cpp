// SPDX-License-Identifier: Apache-2.0
#include "reference/position/rotary_position.hpp"

#include "tests/reference/position/layer_readings.hpp"

BOOST_AUTO_TEST_SUITE(rotary_position_test)

using namespace plumbline::reference;

BOOST_AUTO_TEST_CASE(rope_in_a_layer) {
  for (RopePairs pairs : {RopePairs::interleaved, RopePairs::half_split}) {
    RopePosition position;
    position.pairs = pairs;
    position.base = 500000;
    // Heads of four numbers: two pairs.
    const LayerProblem<RopePosition> problem{position, false, {4, 1, 1}};
    Numbers numbers(1);
    expect_layer_is_right(problem, problem.inputs(numbers, around_zero), 1);
  }
}

BOOST_AUTO_TEST_CASE(the_window_in_both_counts_beside_the_model_s_mask) {
  RopePosition position;
  const Mask documents{.causal = true, .documents = {4, 4}};
  BOOST_TEST(!position.mask(documents).window.hides());
  position.window = 3;
  BOOST_TEST((position.mask(documents).window == 3));
  BOOST_TEST((position.mask(documents).documents == documents.documents));
  BOOST_TEST(!position.mask({}).causal);
  position.window_count = WindowCount::keys;
  BOOST_TEST((position.mask(documents).window == 2));
  // Both windows hold: the narrower one.
  BOOST_TEST((position.mask({.window = 1}).window == 1));
  BOOST_TEST((position.mask({.window = 5}).window == 2));
}

BOOST_AUTO_TEST_CASE(a_layer_with_local_rope_sees_its_window_alone) {
  LayerProblem<RopePosition> local{{}, false, {4, 1, 1}}, of_model = local;
  local.position.window = 1;
  of_model.mask.window = 1;
  Numbers numbers(1);
  const auto [X, p] = local.read<double>(lifted<double>(local.inputs(numbers, around_zero)));
  const auto result = [&X = X, &p = p](const LayerProblem<RopePosition>& problem) {
    return attention_layer<Equations<double>>(p, problem.layout, problem.position, X, problem.mask)
        .result;
  };
  BOOST_TEST((result(local) == result(of_model)));
  of_model.mask.window = {};
  BOOST_TEST((result(local) != result(of_model)));
}

BOOST_AUTO_TEST_SUITE_END()
