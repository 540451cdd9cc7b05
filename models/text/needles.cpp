// SPDX-License-Identifier: Apache-2.0
#include "models/text/needles.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <numeric>

#include "models/text/filler.hpp"
#include "models/text/permutation.hpp"
#include "support/error.hpp"
#include "support/text.hpp"

namespace plumbline::text {
namespace {

/// Streams of a prompt's randomness.
enum Stream : std::uint64_t { secrets, essay, places, needle_order };

constexpr int essay_depths = 40;

std::string secret(const Secrets& all, Secret kind, std::int64_t n) {
  switch (kind) {
    case Secret::words:
      return all.words(n);
    case Secret::numbers:
      return all.number(n);
    case Secret::uuids:
      // Keys and values may both be UUIDs: keys have even numbers, values odd ones (see value()).
      return all.uuid(2 * n);
  }
  return {};
}

std::string value(const Secrets& all, Secret kind, std::int64_t n) {
  return kind == Secret::uuids ? all.uuid(2 * n + 1) : secret(all, kind, n);
}

std::string_view plural(Secret kind) { return kind == Secret::uuids ? "uuids" : "numbers"; }

std::string sentence(const NeedleTask& task, const std::string& key, const std::string& value) {
  return fmt::format("One of the secret {} of {} is {}.", plural(task.value), key, value);
}

/// "a", "a and b", "a, b and c".
std::string listed(const std::vector<std::string>& names) {
  std::string text = names.front();
  for (std::size_t n = 1; n < names.size(); ++n) {
    text += (n + 1 == names.size() ? " and " : ", ") + names[n];
  }
  return text;
}

/// All of a prompt but its haystack.
struct Problem {
  const NeedleTask& task;
  const NeedleOptions& options;
  std::uint64_t seed;
  Secrets secrets_;
  std::vector<std::string> needles, queries, answers;
  std::vector<std::string> essay_sentences;  ///< of the caller's text

  Problem(const NeedleTask& the_task, const NeedleOptions& the_options)
      : task(the_task),
        options(the_options),
        seed(Draw(the_options.seed, 0).word(the_options.number)),
        secrets_(Draw(seed, secrets).word(0)) {
    for (int k = 0; k < task.keys; ++k) {
      const std::string key = secret(secrets_, task.key, k);
      if (k < task.queries) queries.push_back(key);
      for (int v = 0; v < task.values; ++v) {
        const std::string hidden = value(secrets_, task.value, k * task.values + v);
        needles.push_back(sentence(task, key, hidden));
        if (k < task.queries) answers.push_back(hidden);
      }
    }
    if (!options.essay.empty()) {
      essay_sentences = sentences_of(options.essay);
      if (essay_sentences.empty()) throw BadInput("essay", "without a sentence", "a text");
    }
  }

  std::string hay(std::int64_t n) const {
    switch (task.haystack) {
      case Haystack::noise:
        return std::string(noise_sentence);
      case Haystack::essay:
        if (essay_sentences.empty()) {
          return essay_sentence(Draw(seed, essay), static_cast<std::uint64_t>(n));
        }
        return essay_sentences[static_cast<std::size_t>(n) % essay_sentences.size()];
      case Haystack::needles:
        // Secrets beyond the hidden ones: no sentence contradicts the one to be found.
        return sentence(task, secret(secrets_, task.key, task.keys + n),
                        value(secrets_, task.value, task.keys * task.values + n));
    }
    return {};
  }

  /// How many sentences stand before each needle, rising.
  std::vector<std::int64_t> needle_places(std::int64_t sentences) const {
    const auto count = static_cast<std::int64_t>(needles.size());
    std::vector<std::int64_t> result;
    if (options.depth) {
      result.push_back(static_cast<std::int64_t>(*options.depth * static_cast<double>(sentences)));
    } else if (task.haystack == Haystack::essay) {
      const Permutation depths(essay_depths, seed, places);
      for (std::int64_t n = 0; n < count; ++n) {
        result.push_back(sentences * depths(n) / (essay_depths - 1));
      }
    } else {
      const Permutation order(sentences, seed, places);
      for (std::int64_t n = 0; n < count; ++n) result.push_back(order(n));
    }
    std::sort(result.begin(), result.end());
    return result;
  }

  std::string text(std::int64_t sentences) const {
    const bool one = answers.size() == 1;
    const std::string_view many = plural(task.value);
    const std::string_view what = one ? many.substr(0, many.size() - 1) : many;
    const std::string_view are = one ? "is" : "are";
    std::string result = fmt::format(
        "{} hidden in the following text. Keep {} in mind: you will be asked for {}.\n",
        one ? fmt::format("A secret {} is", what) : fmt::format("Some secret {} are", what),
        one ? "it" : "them", one ? "it" : "them");
    const Permutation order(static_cast<std::int64_t>(needles.size()), seed, needle_order);
    const auto before = needle_places(sentences);
    const char* const between = task.haystack == Haystack::essay ? " " : "\n";
    std::size_t next = 0;
    for (std::int64_t n = 0; n <= sentences; ++n) {
      for (; next < before.size() && before[next] == n; ++next) {
        const auto needle = static_cast<std::size_t>(order(static_cast<std::int64_t>(next)));
        result += needles[needle] + between;
      }
      if (n < sentences) result += hay(n) + between;
    }
    result.back() = '\n';
    const std::string asked = listed(queries);
    result += fmt::format("What {} the secret {} of {} in the text above? The secret {} of {} {}",
                          are, what, asked, what, asked, are);
    return result;
  }
};

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return result;
}

/// With end-of-text and room for the answer.
std::int64_t tokens_with(const Tokenizer& tokenizer, const Problem& problem,
                         std::int64_t sentences) {
  return static_cast<std::int64_t>(tokenizer.encode(problem.text(sentences)).size()) + 1 +
         problem.options.answer_room;
}

/// Needles go behind different sentences: there are at least as many.
std::int64_t least_sentences(const Problem& problem) {
  return static_cast<std::int64_t>(problem.needles.size());
}

}  // namespace

const std::vector<NeedleTask>& needle_tasks() {
  using enum Haystack;
  using enum Secret;
  static const std::vector<NeedleTask> tasks{
      {"single_1", noise, words, numbers, 1, 1, 1},
      {"single_2", Haystack::essay, words, numbers, 1, 1, 1},
      {"single_3", Haystack::essay, words, uuids, 1, 1, 1},
      {"multikey_1", Haystack::essay, words, numbers, 4, 1, 1},
      {"multikey_2", needles, words, numbers, 1, 1, 1},
      {"multikey_3", needles, uuids, uuids, 1, 1, 1},
      {"multivalue", Haystack::essay, words, numbers, 1, 4, 1},
      {"multiquery", Haystack::essay, words, numbers, 4, 1, 4}};
  return tasks;
}

const NeedleTask& needle_task(std::string_view name) {
  std::string names;
  for (const NeedleTask& task : needle_tasks()) {
    if (task.name == name) return task;
    names += (names.empty() ? "" : ", ") + std::string(task.name);
  }
  throw BadInput("needle task", in_quotes(name), names);
}

NeedlePrompt needle_prompt(const Tokenizer& tokenizer, const NeedleTask& task,
                           const NeedleOptions& options) {
  if (options.depth) {
    if (!(*options.depth >= 0 && *options.depth <= 1)) {
      throw BadInput("depth", fmt::format("{}", *options.depth), "from 0 to 1");
    }
    if (task.keys * task.values > 1) {
      throw BadInput("depth", fmt::format("given for {}", task.name), "a task with one needle");
    }
  }
  const Problem problem(task, options);
  std::int64_t fits = least_sentences(problem);
  const auto does_fit = [&](std::int64_t sentences) {
    return tokens_with(tokenizer, problem, sentences) <= options.length;
  };
  if (!does_fit(fits)) {
    throw BadInput(
        "length", std::to_string(options.length),
        fmt::format("at least {} for {}", tokens_with(tokenizer, problem, fits), task.name));
  }
  std::int64_t too_many = fits + 1;
  while (does_fit(too_many)) {
    fits = too_many;
    too_many *= 2;
  }
  while (too_many - fits > 1) {
    const std::int64_t middle = fits + (too_many - fits) / 2;
    (does_fit(middle) ? fits : too_many) = middle;
  }
  NeedlePrompt result{problem.text(fits), {tokenizer.specials().end_of_text}, problem.answers};
  const auto tokens = tokenizer.encode(result.text);
  result.tokens.insert(result.tokens.end(), tokens.begin(), tokens.end());
  return result;
}

int shortest_needle_prompt(const Tokenizer& tokenizer, const NeedleTask& task,
                           const NeedleOptions& options) {
  const Problem problem(task, options);
  return static_cast<int>(tokens_with(tokenizer, problem, least_sentences(problem)));
}

double answers_found(const std::vector<std::string>& answers, std::string_view said) {
  const std::string where = lower(said);
  const auto found = std::count_if(answers.begin(), answers.end(), [&](const std::string& answer) {
    return where.find(lower(answer)) != std::string::npos;
  });
  return answers.empty() ? 1 : static_cast<double>(found) / static_cast<double>(answers.size());
}

}  // namespace plumbline::text
