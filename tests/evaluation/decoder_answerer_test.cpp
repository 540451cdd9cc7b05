// SPDX-License-Identifier: Apache-2.0
// A model's greedy answers, token by token with a cache, against whole sequences by the scorer.
#include "evaluation/decoder_answerer.hpp"

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <limits>

#include "inference/scorer.hpp"
#include "model/initial_values.hpp"
#include "tests/text/refusal.hpp"

using namespace plumbline;
using namespace plumbline::evaluation;

namespace {

gpu::ModelConfiguration small(const std::string& position) {
  gpu::ModelConfiguration model = gpu::preset("nano");
  model.layers = model.heads = model.kv_heads = 1;
  model.width = 32;
  model.hidden = 64;
  model.vocabulary = 50;
  model.context = 16;
  model.position = position;
  return model;
}

/// Eight times the first values: the likeliest token then leads by far more than rounding.
std::vector<float> parameters_of(const gpu::ModelConfiguration& model) {
  const gpu::ParameterLayout layout(model);
  std::vector<float> values(layout.size());
  gpu::set_initial_values(layout, 3, values);
  for (float& value : values) value *= 8;
  return values;
}

/// Greedy, each token by a pass over all before it.
Tokens by_whole_sequences(gpu::Scorer& scorer, Tokens tokens, int count, int vocabulary) {
  const std::size_t given = tokens.size();
  while (tokens.size() < given + static_cast<std::size_t>(count)) {
    const std::vector<int> ids(tokens.begin(), tokens.end()), targets(ids.size(), -100);
    const auto logits = scorer.logits({.batch = 1,
                                       .length = static_cast<int>(ids.size()),
                                       .ids = ids.data(),
                                       .targets = targets.data()});
    const auto last = logits.end() - vocabulary;
    const auto likeliest = std::max_element(last, logits.end());
    std::vector<float> sorted(last, logits.end());
    std::sort(sorted.rbegin(), sorted.rend());
    // Logits are of size 1 to 100 here, and fp32 has 24 bits.
    BOOST_TEST_REQUIRE(sorted[0] - sorted[1] > 0.01f);
    tokens.push_back(static_cast<text::Token>(likeliest - last));
  }
  return Tokens(tokens.begin() + static_cast<std::ptrdiff_t>(given), tokens.end());
}

}  // namespace

BOOST_AUTO_TEST_CASE(answers_are_the_likeliest_tokens_whatever_is_asked_beside_and_before) {
  const auto model = small("cable");
  const auto parameters = parameters_of(model);
  const std::vector<Tokens> prompts{
      {4, 1, 7, 7, 30}, {49}, {3, 3, 9, 12, 44, 0, 1, 2, 48, 20, 11}, {7, 30}};
  gpu::Scorer scorer(model, {.batch = 1, .length = 32}, parameters);
  std::vector<Tokens> expected;
  for (const Tokens& p : prompts) {
    expected.push_back(by_whole_sequences(scorer, p, 6, model.vocabulary));
  }
  for (const bool deterministic : {true, false}) {
    DecoderAnswerer answerer(model, parameters, deterministic);
    BOOST_TEST((answerer.answers(prompts, 6) == expected));
    for (const int n : {1, 2, 0}) {  // with more and fewer tokens than the decoder has room for
      const auto alone = answerer.answers(std::span(prompts).subspan(n, 1), 6);
      BOOST_TEST((alone == std::vector<Tokens>{expected[n]}));
    }
  }
}

BOOST_AUTO_TEST_CASE(parameters_of_no_use_are_refused) {
  const auto model = small("nope");
  auto parameters = parameters_of(model);
  for (float& value : parameters) value = std::numeric_limits<float>::quiet_NaN();
  DecoderAnswerer answerer(model, parameters, true);
  const std::vector<Tokens> prompts{{1, 2}};
  test::expect_refused([&] { answerer.answers(prompts, 1); }, {"logit", "nan"});
}

BOOST_AUTO_TEST_CASE(a_table_of_positions_ends_and_other_methods_do_not) {
  const auto of = [](const std::string& position) {
    const auto model = small(position);
    return DecoderAnswerer(model, parameters_of(model), true);
  };
  BOOST_TEST(of("learnable").refusal(16) == "");
  BOOST_TEST(of("learnable").refusal(17) == "its table of positions has 16 rows");
  BOOST_TEST(of("cable").refusal(17) == "");
  BOOST_TEST(of("sinusoidal").refusal(17) == "");
  auto bert = gpu::preset("bert_base");
  test::expect_refused([&] { DecoderAnswerer(bert, {}, true); }, {"bert", "gpt2"});
}
