// SPDX-License-Identifier: Apache-2.0
#include "models/evaluation/needles.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "models/evaluation/lengths.hpp"
#include "models/text/needles.hpp"
#include "support/error.hpp"
#include "support/text.hpp"

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
                  const std::function<void(long answered)>& progress) {
  std::vector<std::vector<std::string>> answers;
  double sum = 0;
  const auto prompt = [&](long n) {
    auto needle = text::needle_prompt(tokenizer, task, options_of(s, length, static_cast<int>(n)));
    answers.push_back(std::move(needle.answers));
    return std::move(needle.tokens);
  };
  const auto answered = [&](long n, const Tokens& tokens) {
    sum += text::answers_found(answers[static_cast<std::size_t>(n)], said(tokens, tokenizer));
    progress(n + 1);
  };
  ask(answerer, {s.prompts, prompt, s.answer_room, answered}, s.batch);
  return sum / s.prompts;
}

}  // namespace

int shortest_length(const NeedleSettings& s, const text::Tokenizer& tokenizer) {
  expect_within(1, most_prompts, "prompts", s.prompts);
  expect_within(1, longest_length, "answer_room", s.answer_room);
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
  expect_within(1, most_prompts, "batch", s.batch);
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
