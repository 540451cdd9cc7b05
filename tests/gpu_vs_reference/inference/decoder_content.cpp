// SPDX-License-Identifier: Apache-2.0
// Decoding by GPT-2 with the methods of the tokens' content, whose prefix sums are in the cache.
#include "reference/position/context_position.hpp"
#include "tests/gpu_vs_reference/inference/decoder_check.hpp"

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

// A prompt that goes through the layers in two pieces, and more tokens than the training context.
BOOST_AUTO_TEST_CASE(a_prompt_of_more_than_64_tokens_is_read_in_pieces) {
  gpu::ModelConfiguration c = gpt2_to_decode("cable");
  c.layers = c.heads = c.kv_heads = 1;
  c.width = 32;
  c.hidden = 128;
  Traced::tape.clear();
  const auto expected =
      gpt2_oracle(c, CablePosition(), {.kind = EmbeddedPositions::none}, some_tokens(0, 0, 71));
  gpu::Decoder decoder(c, {.batch = 1, .capacity = 72}, test_parameters(c));
  LogitSums sums("cable, 70 tokens");
  sums.add(decoder.append({some_tokens(0, 0, 70)}).data(), expected, 69);
  sums.add(decoder.append({some_tokens(0, 70, 1)}).data(), expected, 70);
  sums.check();
}
