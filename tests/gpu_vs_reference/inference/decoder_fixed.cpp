// SPDX-License-Identifier: Apache-2.0
// Decoding by GPT-2 with positions in the embeddings, and with the methods of the distance.
#include "core/launch.cuh"
#include "methods.hpp"
#include "reference/bias/all.hpp"
#include "reference/position/learned_position.hpp"
#include "reference/position/rotary_position.hpp"
#include "tests/gpu_vs_reference/inference/decoder_check.hpp"

BOOST_AUTO_TEST_SUITE(decoder_fixed_test)

using namespace plumbline;
using namespace plumbline::gpu_tests;
using namespace plumbline::reference;

BOOST_AUTO_TEST_CASE(embedded_positions_go_on_where_the_cache_ends) {
  check_gpt2_decoder(gpt2_to_decode("learnable"), NopePosition(),
                     {.kind = EmbeddedPositions::learnable});
  auto c = gpt2_to_decode("sinusoidal");
  c.context = 3;  // of training
  check_gpt2_decoder(c, NopePosition(), {.kind = EmbeddedPositions::sinusoidal});
  c = gpt2_to_decode("sinusoidal_own_frequency");
  c.options.amplitude = 0.1;
  check_gpt2_decoder(c, NopePosition(),
                     {.kind = EmbeddedPositions::sinusoidal,
                      .amplitude = 0.1,
                      .cosine = SinusoidalCosine::own_frequency},
                     false);
}

BOOST_AUTO_TEST_CASE(methods_without_parameters_are_decoded) {
  check_gpt2_decoder("alibi", AlibiPosition());
  check_gpt2_decoder("rope_interleaved", RopePosition());
  check_gpt2_decoder("rope_half_split", RopePosition{.pairs = RopePairs::half_split}, true);
  auto c = gpt2_to_decode("local_rope_keys");
  c.options.window = 3;
  check_gpt2_decoder(c, RopePosition{.window = 3, .window_count = WindowCount::keys});
}

BOOST_AUTO_TEST_CASE(functions_of_the_distance_are_decoded) {
  check_gpt2_decoder("ggd", GgdPosition(), true);
#define PLUMBLINE_CHECK(number, Form) \
  check_gpt2_decoder(Form<double>::name, PositionOfHeads<Form>());
  PLUMBLINE_BIASES_OF_HEADS(PLUMBLINE_CHECK)
#undef PLUMBLINE_CHECK
  check_gpt2_decoder("t5", t5_position(false));
  check_gpt2_decoder("t5_clipped", TablePosition<ClippedDistance>{{}, {ClippedDistance(256)}});
  check_gpt2_decoder("fire", FirePosition());
}

BOOST_AUTO_TEST_CASE(the_host_waits_for_the_logits_alone) {
  const auto c = gpt2_to_decode("alibi");
  gpu::Decoder decoder(c, {.batch = 2, .capacity = 9}, test_parameters(c));
  decoder.append({some_tokens(0, 0, 5), some_tokens(1, 0, 3)});
  const long before = gpu::Stream::waits;
  decoder.append({some_tokens(0, 5, 1), {}});
  BOOST_TEST(gpu::Stream::waits == before + 1);
}

BOOST_AUTO_TEST_CASE(long_prompts_are_read_by_the_kernels_of_training) {
  check_long_prompt("rope_half_split", RopePosition{.pairs = RopePairs::half_split}, true);
  check_long_prompt("t5", t5_position(false), false);
}

BOOST_AUTO_TEST_SUITE_END()
