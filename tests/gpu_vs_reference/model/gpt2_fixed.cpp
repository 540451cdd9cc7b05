// SPDX-License-Identifier: Apache-2.0
// GPT-2 with the methods that learn nothing in the attention layers.
#include "reference/position/rotary_position.hpp"
#include "tests/gpu_vs_reference/model/gpt2_step.hpp"

using namespace plumbline::gpu_tests;
using namespace plumbline::reference;

BOOST_AUTO_TEST_CASE(gpt2_with_alibi) { check_gpt2("alibi", AlibiPosition(), true); }

BOOST_AUTO_TEST_CASE(gpt2_with_rope) {
  check_gpt2("rope_interleaved", RopePosition());
  check_gpt2("rope_half_split", RopePosition{.pairs = RopePairs::half_split}, true);
}
