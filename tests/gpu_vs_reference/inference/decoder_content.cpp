// SPDX-License-Identifier: Apache-2.0
// Decoding by GPT-2 with the methods of the tokens' content, whose prefix sums are in the cache.
#include "reference/position/context_position.hpp"
#include "tests/gpu_vs_reference/inference/decoder_check.hpp"

BOOST_AUTO_TEST_SUITE(decoder_content_test)

using namespace plumbline;
using namespace plumbline::gpu_tests;
using namespace plumbline::reference;

BOOST_AUTO_TEST_CASE(cable_is_decoded_from_prefix_sums) {
  check_gpt2_decoder("cable", CablePosition());
  check_gpt2_decoder("cable_nw", CableNwPosition());
  check_gpt2_decoder("k_cable", KCablePosition());
  check_gpt2_decoder("k_cable_nw", KCableNwPosition(), true);
}

BOOST_AUTO_TEST_CASE(cable_as_printed_is_decoded) {
  check_gpt2_decoder("cable_paper", ContextPosition<CablePaper, ReluIncrements, true>());
  check_gpt2_decoder("cable_nw_paper", ContextPosition<CableNwPaper, ReluIncrements, false>());
  check_gpt2_decoder("k_cable_paper", ContextPosition<KCablePaper, ReluIncrements, true>());
}

BOOST_AUTO_TEST_CASE(forget_gates_are_decoded) { check_gpt2_decoder("fox", FoxPosition(), true); }

BOOST_AUTO_TEST_CASE(long_prompts_are_read_by_the_kernels_of_training) {
  check_long_prompt("cable", CablePosition(), true);
}

BOOST_AUTO_TEST_SUITE_END()
