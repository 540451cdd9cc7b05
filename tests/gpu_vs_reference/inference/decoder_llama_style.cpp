// SPDX-License-Identifier: Apache-2.0
// Decoding by the LLaMA-style decoder with a key head that two query heads share; and what holds to
// the bit of any decoder.
#include "reference/model/llama_style.hpp"
#include "reference/position/learned_position.hpp"
#include "reference/position/rotary_position.hpp"
#include "support/error.hpp"
#include "tests/gpu_vs_reference/inference/decoder_check.hpp"

BOOST_AUTO_TEST_SUITE(decoder_llama_style_test)

using namespace plumbline;
using namespace plumbline::gpu_tests;
using namespace plumbline::reference;

namespace {

template <class Position>
void check_llama_style(const char* name, const Position& position, bool ssmax,
                       const gpu::PositionOptions& options, bool deterministic) {
  const gpu::ModelConfiguration c{.architecture = gpu::Architecture::llama_style,
                                  .layers = 2,
                                  .heads = 2,
                                  .kv_heads = 1,
                                  .width = 64,
                                  .hidden = 96,
                                  .vocabulary = 19,
                                  .context = 9,
                                  .position = name,
                                  .options = options,
                                  .ssmax = ssmax};
  const LlamaStyleConfiguration<Position> oracle{.layers = 2,
                                                 .heads = 2,
                                                 .kv_heads = 1,
                                                 .width = 64,
                                                 .hidden = 96,
                                                 .vocabulary = 19,
                                                 .position = position,
                                                 .ssmax = ssmax};
  check_decoder(
      c,
      [&](const std::vector<int>& ids) {
        auto parameters = LlamaStyleParameters<Traced, Position>::zero(oracle);
        set_oracle_parameters(gpu::ParameterLayout(c), parameters);
        const auto state = llama_style_forward<TracedTier>(oracle, parameters, ids);
        return llama_style_logits<TracedTier>(parameters, state.hidden);
      },
      deterministic);
}

std::vector<float> row(const std::vector<float>& logits, int sequence) {
  const auto begin = logits.begin() + 19 * sequence;
  return {begin, begin + 19};
}

template <class Body>
std::string refusal(Body body) {
  try {
    body();
  } catch (const BadInput& error) {
    return error.what();
  }
  return "nothing was thrown";
}

}  // namespace

BOOST_AUTO_TEST_CASE(llama_style_decodes_with_bams_prior) {
  check_llama_style("ggd", GgdPosition(), true, {.trains_mu = true}, true);
}

BOOST_AUTO_TEST_CASE(llama_style_decodes_sequences_together) {
  check_llama_style("local_rope", RopePosition{.base = 500000, .window = 2}, false,
                    {.base = 500000, .window = 2}, false);
}

BOOST_AUTO_TEST_CASE(logits_have_the_same_bits_in_any_batch) {
  const auto c = gpt2_to_decode("cable");
  const auto parameters = test_parameters(c);
  gpu::Decoder alone(c, {.batch = 1, .capacity = 20}, parameters);
  gpu::Decoder three(c, {.batch = 3, .capacity = 9}, parameters);
  const auto of_one = alone.append({some_tokens(2, 0, 4)});
  const auto of_three =
      three.append({some_tokens(0, 0, 7), some_tokens(1, 0, 1), some_tokens(2, 0, 4)});
  BOOST_TEST(row(of_three, 2) == of_one);
  const auto later = alone.append({some_tokens(2, 4, 1)});
  BOOST_TEST(row(three.append({{}, some_tokens(1, 1, 2), some_tokens(2, 4, 1)}), 2) == later);
}

BOOST_AUTO_TEST_CASE(a_copy_and_a_shortened_sequence_go_on_with_the_same_bits) {
  const auto c = gpt2_to_decode("fox");
  gpu::Decoder decoder(c, {.batch = 2, .capacity = 9}, test_parameters(c));
  const auto prompt = decoder.append({some_tokens(0, 0, 5), some_tokens(1, 0, 8)});
  decoder.copy(0, 1);
  BOOST_TEST(decoder.length(1) == 5);
  const auto next = decoder.append({some_tokens(0, 5, 2), some_tokens(0, 5, 2)});
  BOOST_TEST(row(next, 0) == row(next, 1));
  BOOST_TEST(row(next, 0) != row(prompt, 0));
  decoder.truncate(0, 5);
  BOOST_TEST(row(decoder.append({some_tokens(0, 5, 2), {}}), 0) == row(next, 1));
}

BOOST_AUTO_TEST_CASE(what_cannot_be_decoded_is_refused_by_name) {
  auto c = gpt2_to_decode("learnable");
  const auto parameters = test_parameters(c);
  const auto making = [&](const gpu::ModelConfiguration& model, const gpu::DecoderRun& run) {
    return refusal([&] { gpu::Decoder(model, run, parameters); });
  };
  BOOST_TEST(making(c, {.batch = 1, .capacity = 10}) ==
             "capacity is 10; expected at most 9, where the table of learnable positions ends");
  BOOST_TEST(making(c, {.batch = 0, .capacity = 9}) == "batch is 0; expected at least 1");
  BOOST_TEST(making(c, {.batch = 1, .capacity = 0}) ==
             "capacity is 0; expected from 1 to 2^30 - 1");
  gpu::ModelConfiguration bert = c;
  bert.architecture = gpu::Architecture::bert;
  BOOST_TEST(making(bert, {.batch = 1, .capacity = 9}).starts_with("architecture is bert;"));
  BOOST_CHECK_THROW(gpu::Decoder(c, {.batch = 1, .capacity = 9}, {1.0f}), std::invalid_argument);

  gpu::Decoder decoder(c, {.batch = 2, .capacity = 4}, parameters);
  const auto first = decoder.append({{1, 2}, {3}});
  const auto appending = [&](std::vector<std::vector<int>> tokens) {
    return refusal([&] { decoder.append(tokens); });
  };
  BOOST_TEST(appending({{1}}) == "sequences is 1; expected 2");
  BOOST_TEST(appending({{1}, {19}}) == "token of sequence 1 is 19; expected from 0 to 18");
  BOOST_TEST(appending({{1, 1, 1}, {}}) ==
             "tokens of sequence 0 is 3; expected at most 2: the capacity is 4");
  BOOST_TEST(refusal([&] { decoder.truncate(0, 3); }) == "length is 3; expected from 0 to 2");
  BOOST_TEST(refusal([&] { decoder.copy(0, 2); }) == "sequence is 2; expected from 0 to 1");
  BOOST_TEST(decoder.length(0) == 2);
  BOOST_TEST(decoder.append({{}, {}}) == first);
}

BOOST_AUTO_TEST_SUITE_END()
