// SPDX-License-Identifier: Apache-2.0
#include "evaluation/needles.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "evaluation/lengths.hpp"
#include "support/error.hpp"
#include "support/text.hpp"
#include "text/needles.hpp"

namespace plumbline::evaluation {
namespace {

text::NeedleOptions options_of(const NeedleSettings& s, int length, int number) {
  return {.length = length,
          .answer_room = s.answer_room,
          .seed = s.seed,
          .number = static_cast<std::uint64_t>(number),
          .depth = {},
          .essay = s.essay};
}

/// The text before end-of-text. Rows of an embedding beyond the vocabulary stand for no text.
std::string said(const Tokens& tokens, const text::Tokenizer& tokenizer) {
  Tokens of_text;
  for (const text::Token token : tokens) {
    if (token == tokenizer.specials().end_of_text) break;
    if (token < tokenizer.vocabulary()) of_text.push_back(token);
  }
  return tokenizer.decode(of_text);
}

double mean_score(Answerer& answerer, const text::Tokenizer& tokenizer, const NeedleSettings& s,
                  const text::NeedleTask& task, int length,
                  const std::function<void(long answered)>& answered) {
  std::vector<Tokens> prompts;
  std::vector<std::vector<std::string>> answers;
  for (int p = 0; p < s.prompts; ++p) {
    auto prompt = text::needle_prompt(tokenizer, task, options_of(s, length, p));
    prompts.push_back(std::move(prompt.tokens));
    answers.push_back(std::move(prompt.answers));
  }
  const auto continuations = ask(answerer, prompts, s.answer_room, s.batch, answered);
  double sum = 0;
  for (std::size_t p = 0; p < prompts.size(); ++p) {
    sum += text::answers_found(answers[p], said(continuations[p], tokenizer));
  }
  return sum / s.prompts;
}

}  // namespace

int shortest_length(const NeedleSettings& s, const text::Tokenizer& tokenizer) {
  expect_at_least(1, "prompts", s.prompts);
  expect_at_least(1, "answer_room", s.answer_room);
  if (s.tasks.empty()) throw BadInput("tasks", "empty", "at least one");
  int shortest = 0;
  for (auto name = s.tasks.begin(); name != s.tasks.end(); ++name) {
    if (std::find(s.tasks.begin(), name, *name) != name) {
      throw BadInput("tasks", in_quotes(*name) + " twice", "each task once");
    }
    const text::NeedleTask& task = text::needle_task(*name);
    for (int p = 0; p < s.prompts; ++p) {
      shortest =
          std::max(shortest, text::shortest_needle_prompt(tokenizer, task, options_of(s, 0, p)));
    }
  }
  return shortest;
}

void validate(const NeedleSettings& s, const text::Tokenizer& tokenizer) {
  expect_at_least(1, "batch", s.batch);
  validate_lengths(s.lengths, shortest_length(s, tokenizer),
                   "the longest of these prompts with its answer");
}

NeedleResult measure_needles(Answerer& answerer, const text::Tokenizer& tokenizer,
                             const NeedleSettings& settings, const Progress& progress) {
  validate(settings, tokenizer);
  NeedleResult result{settings, {}};
  long answered = 0;
  for (const std::string& name : settings.tasks) {
    for (const int length : settings.lengths) {
      NeedleCell cell{name, length, answerer.refusal(length), 0};
      if (cell.refused.empty()) {
        const std::string now = fmt::format("{} in {} tokens", name, length);
        progress(answered, now);
        cell.score = mean_score(answerer, tokenizer, settings, text::needle_task(name), length,
                                [&](long of_these) { progress(answered + of_these, now); });
      }
      answered += settings.prompts;
      result.cells.push_back(std::move(cell));
    }
  }
  return result;
}

}  // namespace plumbline::evaluation
