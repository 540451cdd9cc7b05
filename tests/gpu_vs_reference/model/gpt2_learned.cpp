// SPDX-License-Identifier: Apache-2.0
// GPT-2 with the methods that learn a function of the distance.
#include "reference/position/learned_position.hpp"
#include "tests/gpu_vs_reference/model/gpt2_step.hpp"

BOOST_AUTO_TEST_SUITE(gpt2_learned_test)

using namespace plumbline::gpu_tests;
using namespace plumbline::reference;

BOOST_AUTO_TEST_CASE(gpt2_with_bams_prior) { check_gpt2("ggd", GgdPosition(), true); }

BOOST_AUTO_TEST_CASE(gpt2_with_kerple) {
  check_gpt2("kerple_log", KerpleLogPosition());
  check_gpt2("kerple_power", KerplePowerPosition(), false, true);
}

BOOST_AUTO_TEST_CASE(gpt2_with_t5) {
  check_gpt2("t5", t5_position(false));
  check_gpt2("t5_bidirectional", t5_position(true));
  check_gpt2("t5_clipped_offset", TablePosition<ClippedOffset>{{}, {ClippedOffset(256)}});
  check_gpt2("t5_clipped", TablePosition<ClippedDistance>{{}, {ClippedDistance(256)}});
}

BOOST_AUTO_TEST_CASE(gpt2_with_fire) { check_gpt2("fire", FirePosition()); }

BOOST_AUTO_TEST_SUITE_END()
