// SPDX-License-Identifier: Apache-2.0
#include "models/text/passkey.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "models/text/filler.hpp"
#include "support/draw.hpp"
#include "support/error.hpp"

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

/// All of a prompt but end-of-text, the key and the filler.
struct PromptParts {
  std::vector<Token> task, before_key, after_key, question;

  explicit PromptParts(const Tokenizer& tokenizer)
      : task(tokenizer.encode("A pass key is hidden in a long text that does not matter. Find it "
                              "and keep it in mind: you will be asked for it.\n")),
        before_key(tokenizer.encode("\nThe pass key is ")),
        after_key(tokenizer.encode(". Remember it.\n")),
        question(tokenizer.encode("\nWhat is the pass key? The pass key is ")) {}

  std::size_t size() const {
    return task.size() + before_key.size() + after_key.size() + question.size();
  }
};

constexpr std::size_t key_digits = 5;

/// Prompt and answer without filler: end-of-text, the frame, the key twice.
std::size_t size_without_filler(const PromptParts& frame) {
  return 1 + frame.size() + 2 * key_digits;
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
  const PromptParts frame(tokenizer);
  const auto unit = tokenizer.encode(std::string(noise_sentence) + " ");

  const std::size_t parts = size_without_filler(frame);
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
  append(prompt, frame.task);
  for (std::size_t n = 0; n < before; ++n) prompt.push_back(unit[n % unit.size()]);
  append(prompt, frame.before_key);
  result.key_place = static_cast<int>(prompt.size());
  append(prompt, result.answer);
  append(prompt, frame.after_key);
  for (std::size_t n = before; n < filler; ++n) prompt.push_back(unit[n % unit.size()]);
  append(prompt, frame.question);
  return result;
}

std::vector<Token> passkey_documents(const Tokenizer& tokenizer, const PasskeyOptions& options,
                                     std::int64_t count) {
  if (count < 1) throw BadInput("count", std::to_string(count), "at least 1");
  std::vector<Token> tokens;
  const Draw depths(options.seed, 1);
  for (std::int64_t n = 0; n < count; ++n) {
    PasskeyOptions one = options;
    one.number += static_cast<std::uint64_t>(n);
    one.depth = static_cast<int>(
        depths.below(one.number, static_cast<std::uint32_t>(std::max(options.depths, 1))));
    const PasskeyPrompt passkey = passkey_prompt(tokenizer, one);
    append(tokens, passkey.prompt);
    append(tokens, passkey.answer);
  }
  return tokens;
}

int shortest_passkey_prompt(const Tokenizer& tokenizer) {
  return static_cast<int>(size_without_filler(PromptParts(tokenizer)));
}

}  // namespace plumbline::text
