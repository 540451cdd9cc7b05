// SPDX-License-Identifier: Apache-2.0
// Continuations by a small model of bytes, beside what whole sequences without a cache give.
#include "models/inference/generate.hpp"

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <string>

#include "inference/decoder.hpp"
#include "inference/scorer.hpp"
#include "model/initial_values.hpp"
#include "models/text/byte_tokenizer.hpp"
#include "support/error.hpp"
#include "tests/models/inference/lead.hpp"

BOOST_AUTO_TEST_SUITE(generate_test)

using namespace plumbline;
using namespace plumbline::inference;

namespace {

const text::ByteTokenizer kBytes;
const std::vector<std::string> kPrompts{"In the beginning", "x", "light"};

/// 2 layers, width 64; its logits differ by much more than their rounding.
TrainedModel small_model(const char* position) {
  TrainedModel model{.configuration = {.layers = 2,
                                       .heads = 2,
                                       .kv_heads = 2,
                                       .width = 64,
                                       .hidden = 256,
                                       .vocabulary = 300,
                                       .context = 24,
                                       .position = position},
                     .parameters = {},
                     .tokenizer = "byte"};
  const gpu::ParameterLayout layout(model.configuration);
  model.parameters.resize(layout.size());
  gpu::set_initial_values(layout, 5, model.parameters);
  for (const gpu::Parameter& p : layout.all())
    if (p.shape.size() == 2)
      for (std::size_t n = 0; n < p.size(); ++n) model.parameters[p.offset + n] *= 10;
  return model;
}

/// The vector of a token, which is the classifier's, too.
std::span<float> word(TrainedModel& model, int token) {
  const gpu::ParameterLayout layout(model.configuration);
  return std::span(model.parameters)
      .subspan(layout["transformer.wte.weight"].offset + 64 * static_cast<std::size_t>(token), 64);
}

/// The most likely byte or end-of-text after the tokens, all of them recomputed; the logits that
/// a cache gives must choose the same one.
int likeliest(const TrainedModel& model, const std::vector<int>& tokens,
              std::span<const float> cached) {
  const int length = static_cast<int>(tokens.size());
  gpu::Scorer scorer(model.configuration, {.batch = 1, .length = length}, model.parameters);
  const auto logits = scorer.logits({.batch = 1, .length = length, .ids = tokens.data()});
  std::vector<float> row(logits.end() - model.configuration.vocabulary, logits.end());
  row.resize(257);
  test::expect_lead(row, cached.first(row.size()));
  return static_cast<int>(std::ranges::max_element(row) - row.begin());
}

std::vector<int> with_end_of_text(const std::string& prompt) {
  std::vector<int> tokens{256};
  for (const char byte : prompt) tokens.push_back(static_cast<unsigned char>(byte));
  return tokens;
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

BOOST_AUTO_TEST_CASE(greedy_continuations_are_those_of_full_recomputation) {
  for (const char* position : {"cable", "rope"}) {
    TrainedModel model = small_model(position);
    // Tokens that no text has would come first.
    for (const int token : {257, 260, 261, 299})
      for (float& x : word(model, token)) x *= 5;
    const auto got =
        generate(model, kBytes, kPrompts,
                 {.sampling = {.temperature = 0}, .tokens = 6, .samples = 1, .batch = 2});
    BOOST_REQUIRE_EQUAL(got.size(), 3u);
    for (std::size_t n = 0; n < got.size(); ++n) {
      gpu::Decoder decoder(model.configuration, {.batch = 1, .capacity = 24}, model.parameters);
      std::vector<int> tokens = with_end_of_text(kPrompts[n]), given = tokens;
      for (const text::Token token : got[n].tokens) {
        BOOST_TEST(token == likeliest(model, tokens, decoder.append({given})));
        tokens.push_back(token);
        given = {token};
      }
      BOOST_TEST((got[n].ended || got[n].tokens.size() == 6u));
      if (got[n].ended) BOOST_TEST(likeliest(model, tokens, decoder.append({given})) == 256);
    }
  }
}

BOOST_AUTO_TEST_CASE(continuations_do_not_depend_on_the_batch) {
  const TrainedModel model = small_model("fox");
  const auto made = [&](int batch) {
    return generate(model, kBytes, kPrompts, {.tokens = 5, .samples = 2, .batch = batch});
  };
  const auto one = made(1);
  BOOST_REQUIRE_EQUAL(one.size(), 6u);
  for (const int batch : {2, 4, 100}) {
    const auto other = made(batch);
    for (std::size_t n = 0; n < one.size(); ++n) {
      BOOST_TEST(other[n].prompt == static_cast<int>(n / 2));
      BOOST_TEST(other[n].sample == static_cast<int>(n % 2));
      BOOST_TEST(other[n].tokens == one[n].tokens);
    }
  }
  BOOST_TEST(one[0].tokens != one[1].tokens);
}

BOOST_AUTO_TEST_CASE(end_of_text_ends_a_continuation) {
  TrainedModel model = small_model("nope");
  const auto settings = GenerationSettings{.sampling = {.temperature = 0}, .tokens = 8};
  const auto before = generate(model, kBytes, kPrompts, settings);
  // End-of-text is now what the third token of the first continuation was, and more so; the two
  // tokens before it were likelier by far.
  const auto third = before[0].tokens[2];
  for (int c = 0; c < 64; ++c) word(model, 256)[c] = 1.5f * word(model, third)[c];
  std::size_t told = 0;
  const auto after = generate(model, kBytes, {kPrompts[0]}, settings,
                              [&](const Continuation& c) { told += c.ended ? 100 : 1; });
  BOOST_TEST(after[0].ended);
  BOOST_TEST(after[0].tokens.size() < 8u);
  BOOST_TEST(std::ranges::count(after[0].tokens, 256) == 0);
  BOOST_TEST(told == 100 + after[0].tokens.size());
}

BOOST_AUTO_TEST_CASE(what_cannot_be_continued_is_refused_by_name) {
  TrainedModel model = small_model("learnable");
  const auto generating = [&](const std::vector<std::string>& prompts,
                              const GenerationSettings& settings) {
    return refusal([&] { generate(model, kBytes, prompts, settings); });
  };
  BOOST_TEST(generating({}, {}) == "prompt is missing; expected a text to continue");
  BOOST_TEST(generating({"a", ""}, {}) == "prompt is empty; expected a text to continue");
  BOOST_TEST(generating({"a"}, {.tokens = 0}) == "tokens is 0; expected from 1 to 2^24");
  BOOST_TEST(generating({"a"}, {.samples = 0}).starts_with("samples is 0;"));
  BOOST_TEST(generating({"a"}, {.batch = 0}).starts_with("batch is 0;"));
  BOOST_TEST(generating({"a"}, {.sampling = {.top_p = 2}}).starts_with("top_p is 2;"));
  // End-of-text, 20 bytes and 3 of 4 new tokens are 24 positions.
  const std::string twenty(20, 'a');
  BOOST_TEST(generating({twenty}, {.tokens = 4}) == "nothing was thrown");
  BOOST_TEST(generating({"a", twenty}, {.tokens = 5}) ==
             "tokens is 5 after the 21 of prompt 2, which need 25 positions; expected at most 24 "
             "positions, the rows of the model's table");
  model = small_model("cable");
  BOOST_TEST(generating({twenty}, {.tokens = 5}) == "nothing was thrown");
  model.configuration.vocabulary = 200;
  BOOST_TEST(generating({"a"}, {}) ==
             "the tokenizer's vocabulary is 261; expected at most the model's, 200: it was trained "
             "with another tokenizer");
}

BOOST_AUTO_TEST_SUITE_END()
