// SPDX-License-Identifier: Apache-2.0
// GPT-2 with the methods that learn nothing in the attention layers.
#include "reference/position/rotary_position.hpp"
#include "tests/gpu_vs_reference/model/gpt2_step.hpp"

BOOST_AUTO_TEST_SUITE(gpt2_fixed_test)

using namespace plumbline::gpu_tests;
using namespace plumbline::reference;

BOOST_AUTO_TEST_CASE(gpt2_with_alibi) { check_gpt2("alibi", AlibiPosition(), true); }

// Three heads: with a power of two the slopes are the official ones.
BOOST_AUTO_TEST_CASE(gpt2_with_geometric_slopes) {
  auto c = small_gpt2("alibi_geometric");
  c.layers = 1;
  c.heads = c.kv_heads = 3;
  c.width = 96;
  c.hidden = 384;
  AlibiPosition position;
  position.geometric_slopes = true;
  check_gpt2(c, position);
}

BOOST_AUTO_TEST_CASE(gpt2_with_local_rope) {
  auto c = small_gpt2("local_rope_keys");
  c.options.window = 3;
  RopePosition local;
  local.window = c.options.window;
  local.window_count = WindowCount::keys;
  check_gpt2(c, local);
  c.position = "local_rope";
  local.window_count = WindowCount::distance;
  check_gpt2(c, local);
}

BOOST_AUTO_TEST_CASE(gpt2_with_rope) {
  check_gpt2("rope_interleaved", RopePosition());
  RopePosition halves;
  halves.pairs = RopePairs::half_split;
  check_gpt2("rope_half_split", halves, true);
}

BOOST_AUTO_TEST_SUITE_END()
