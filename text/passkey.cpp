// SPDX-License-Identifier: Apache-2.0
#include "text/passkey.hpp"

#include <fmt/format.h>

#include "support/draw.hpp"
#include "support/error.hpp"
#include "text/filler.hpp"

namespace plumbline::text {
namespace {

std::vector<Token> digits_of(const Tokenizer& tokenizer, const std::string& key) {
  std::vector<Token> tokens;
  for (const char digit : key) {
    const auto token = tokenizer.token_of({&digit, 1});
    if (!token) {
      throw BadInput("tokenizer's token for the digit " + std::string(1, digit), "missing",
                     "one for each digit");
    }
    tokens.push_back(*token);
  }
  return tokens;
}

void append(std::vector<Token>& tokens, const std::vector<Token>& more) {
  tokens.insert(tokens.end(), more.begin(), more.end());
}

}  // namespace

PasskeyPrompt passkey_prompt(const Tokenizer& tokenizer, const PasskeyOptions& options) {
  if (options.depths < 2 || options.depth < 0 || options.depth >= options.depths) {
    throw BadInput("depth", fmt::format("{} of {}", options.depth, options.depths),
                   "0 to one less than the number of depths, which is at least 2");
  }
  PasskeyPrompt result;
  result.key = std::to_string(10000 + Draw(options.seed, 0).below(options.number, 90000));
  result.answer = digits_of(tokenizer, result.key);
  const auto task = tokenizer.encode(
      "A pass key is hidden in a long text that does not matter. Find it and keep it in mind: you "
      "will be asked for it.\n");
  const auto before_key = tokenizer.encode("\nThe pass key is ");
  const auto after_key = tokenizer.encode(". Remember it.\n");
  const auto question = tokenizer.encode("\nWhat is the pass key? The pass key is ");
  const auto unit = tokenizer.encode(std::string(noise_sentence) + " ");

  const std::size_t parts = 1 + task.size() + before_key.size() + after_key.size() +
                            question.size() + 2 * result.answer.size();
  if (options.length < 0 || static_cast<std::size_t>(options.length) < parts) {
    throw BadInput("length", std::to_string(options.length),
                   fmt::format("at least the {} tokens of task, key and question", parts));
  }
  const std::size_t filler = static_cast<std::size_t>(options.length) - parts;
  const auto spaces = static_cast<std::size_t>(options.depths - 1);
  const std::size_t before =
      (filler * static_cast<std::size_t>(options.depth) + spaces / 2) / spaces;
  auto& prompt = result.prompt;
  prompt.push_back(tokenizer.specials().end_of_text);
  append(prompt, task);
  for (std::size_t n = 0; n < before; ++n) prompt.push_back(unit[n % unit.size()]);
  append(prompt, before_key);
  result.key_place = static_cast<int>(prompt.size());
  append(prompt, result.answer);
  append(prompt, after_key);
  for (std::size_t n = before; n < filler; ++n) prompt.push_back(unit[n % unit.size()]);
  append(prompt, question);
  return result;
}

}  // namespace plumbline::text
