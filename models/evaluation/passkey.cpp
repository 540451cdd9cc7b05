// SPDX-License-Identifier: Apache-2.0
#include "models/evaluation/passkey.hpp"

#include <fmt/format.h>

#include "models/evaluation/lengths.hpp"
#include "models/text/passkey.hpp"

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
  expect_within(2, 1 << 16, "depths", s.depths);
  expect_within(1, most_prompts, "prompts", s.prompts);
  expect_within(1, most_prompts, "batch", s.batch);
  validate_lengths(s.lengths, text::shortest_passkey_prompt(tokenizer), "a passkey prompt");
}

PasskeyResult measure_passkey(Answerer& answerer, const text::Tokenizer& tokenizer,
                              const PasskeySettings& settings, const Progress& progress) {
  validate(settings, tokenizer);
  PasskeyResult result{settings, {}};
  const long prompts = long{settings.depths} * settings.prompts;
  for (const int length : settings.lengths) {
    PasskeyLength row{length, answerer.refusal(length), {}};
    if (row.refused.empty()) {
      const long before = prompts * static_cast<long>(result.lengths.size());
      const std::string now = fmt::format("passkeys in {} tokens", length);
      progress(before, now);
      row.cells.resize(static_cast<std::size_t>(settings.depths));
      const auto passkey = [&](long n) {
        const long depth = n / settings.prompts,
                   number = depth + n % settings.prompts * settings.depths;
        return text::passkey_prompt(tokenizer, {length, static_cast<int>(depth), settings.depths,
                                                settings.seed, static_cast<std::uint64_t>(number)});
      };
      const auto answered = [&](long n, const Tokens& said) {
        score(passkey(n).answer, said, row.cells[static_cast<std::size_t>(n / settings.prompts)]);
        progress(before + n + 1, now);
      };
      ask(answerer, {prompts, [&](long n) { return passkey(n).prompt; }, digits_of_a_key, answered},
          settings.batch);
    }
    result.lengths.push_back(std::move(row));
  }
  return result;
}

}  // namespace plumbline::evaluation
