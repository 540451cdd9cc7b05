// SPDX-License-Identifier: Apache-2.0
#include "evaluation/passkey.hpp"

#include <fmt/format.h>

#include "evaluation/lengths.hpp"
#include "text/passkey.hpp"

namespace plumbline::evaluation {
namespace {

constexpr int digits_of_a_key = 5;

PasskeyCell sum(const std::vector<PasskeyCell>& cells) {
  PasskeyCell result;
  for (const PasskeyCell& cell : cells) {
    result.keys += cell.keys;
    result.digits += cell.digits;
  }
  return result;
}

void score(const Tokens& key, const Tokens& said, PasskeyCell& cell) {
  int right = 0;
  for (std::size_t digit = 0; digit < key.size(); ++digit) right += said.at(digit) == key[digit];
  cell.digits += right;
  cell.keys += right == digits_of_a_key;
}

}  // namespace

double PasskeyResult::accuracy(const PasskeyCell& cell) const {
  return cell.keys / double(settings.prompts);
}

double PasskeyResult::accuracy(const PasskeyLength& length) const {
  return sum(length.cells).keys / (double(settings.prompts) * settings.depths);
}

double PasskeyResult::digit_accuracy(const PasskeyLength& length) const {
  return sum(length.cells).digits / (double(settings.prompts) * settings.depths * digits_of_a_key);
}

double PasskeyResult::accuracy_at_depth(int depth) const {
  int keys = 0, measured = 0;
  for (const PasskeyLength& length : lengths) {
    if (!length.refused.empty()) continue;
    keys += length.cells.at(static_cast<std::size_t>(depth)).keys;
    ++measured;
  }
  return keys / (double(settings.prompts) * measured);
}

void validate(const PasskeySettings& s, const text::Tokenizer& tokenizer) {
  expect_at_least(2, "depths", s.depths);
  expect_at_least(1, "prompts", s.prompts);
  expect_at_least(1, "batch", s.batch);
  validate_lengths(s.lengths, text::shortest_passkey_prompt(tokenizer), "a passkey prompt");
}

PasskeyResult measure_passkey(Answerer& answerer, const text::Tokenizer& tokenizer,
                              const PasskeySettings& settings, const Progress& progress) {
  validate(settings, tokenizer);
  PasskeyResult result{settings, {}};
  long answered = 0;
  const int prompts_a_length = settings.depths * settings.prompts;
  for (const int length : settings.lengths) {
    PasskeyLength row{length, answerer.refusal(length), {}};
    if (row.refused.empty()) {
      std::vector<Tokens> prompts, keys;
      for (int depth = 0; depth < settings.depths; ++depth) {
        for (int p = 0; p < settings.prompts; ++p) {
          const auto number = static_cast<std::uint64_t>(depth + p * settings.depths);
          auto passkey = text::passkey_prompt(
              tokenizer, {length, depth, settings.depths, settings.seed, number});
          prompts.push_back(std::move(passkey.prompt));
          keys.push_back(std::move(passkey.answer));
        }
      }
      const std::string now = fmt::format("passkeys in {} tokens", length);
      progress(answered, now);
      const auto said = ask(answerer, prompts, digits_of_a_key, settings.batch,
                            [&](long of_this_length) { progress(answered + of_this_length, now); });
      row.cells.resize(static_cast<std::size_t>(settings.depths));
      for (std::size_t n = 0; n < said.size(); ++n) {
        score(keys[n], said[n], row.cells[n / static_cast<std::size_t>(settings.prompts)]);
      }
    }
    answered += prompts_a_length;
    result.lengths.push_back(std::move(row));
  }
  return result;
}

}  // namespace plumbline::evaluation
