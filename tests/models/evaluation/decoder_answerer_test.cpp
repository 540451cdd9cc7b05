// SPDX-License-Identifier: Apache-2.0
// A model's greedy answers, token by token with a cache, against whole sequences by the scorer.
#include "models/evaluation/decoder_answerer.hpp"

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <limits>

#include "inference/scorer.hpp"
#include "model/initial_values.hpp"
#include "tests/models/inference/lead.hpp"
#include "tests/models/text/refusal.hpp"

BOOST_AUTO_TEST_SUITE(decoder_answerer_test)

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

struct Answer {
  Tokens tokens;
  std::vector<std::vector<float>> logits;  ///< that each token was chosen by
};

/// Greedy, each token by a pass over all before it.
Answer by_whole_sequences(gpu::Scorer& scorer, Tokens tokens, int count, int vocabulary) {
  Answer answer;
  while (answer.tokens.size() < static_cast<std::size_t>(count)) {
    const std::vector<int> ids(tokens.begin(), tokens.end()), targets(ids.size(), -100);
    const auto logits = scorer.logits({.batch = 1,
                                       .length = static_cast<int>(ids.size()),
                                       .ids = ids.data(),
                                       .targets = targets.data()});
    const std::vector<float> last(logits.end() - vocabulary, logits.end());
    const auto likeliest = std::ranges::max_element(last);
    answer.tokens.push_back(static_cast<text::Token>(likeliest - last.begin()));
    answer.logits.push_back(last);
    tokens.push_back(answer.tokens.back());
  }
  return answer;
}

/// The decoder's logits, given the same tokens, choose the same ones whatever rounding does.
void expect_leads(gpu::Decoder decoder, const std::vector<Tokens>& prompts,
                  const std::vector<Answer>& answers) {
  std::vector<std::vector<int>> given;
  for (const Tokens& prompt : prompts) given.emplace_back(prompt.begin(), prompt.end());
  for (std::size_t n = 0; n < answers[0].tokens.size(); ++n) {
    const std::vector<float>& logits = decoder.append(given);
    for (std::size_t b = 0; b < answers.size(); ++b) {
      const std::size_t vocabulary = answers[b].logits[n].size();
      test::expect_lead(answers[b].logits[n],
                        std::span(logits).subspan(b * vocabulary, vocabulary));
      given[b] = {answers[b].tokens[n]};
    }
  }
}

}  // namespace

BOOST_AUTO_TEST_CASE(answers_are_the_likeliest_tokens_whatever_is_asked_beside_and_before) {
  const auto model = small("cable");
  const auto parameters = parameters_of(model);
  const std::vector<Tokens> prompts{
      {4, 1, 7, 7, 30}, {49}, {3, 3, 9, 12, 44, 0, 1, 2, 48, 20, 11}, {7, 30}};
  gpu::Scorer scorer(model, {.batch = 1, .length = 32}, parameters);
  std::vector<Answer> answers;
  std::vector<Tokens> expected;
  for (const Tokens& p : prompts) {
    answers.push_back(by_whole_sequences(scorer, p, 6, model.vocabulary));
    expected.push_back(answers.back().tokens);
  }
  for (const bool deterministic : {true, false}) {
    expect_leads({model, {.batch = 4, .capacity = 16, .deterministic = deterministic}, parameters},
                 prompts, answers);
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

BOOST_AUTO_TEST_SUITE_END()
