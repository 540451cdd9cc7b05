// SPDX-License-Identifier: Apache-2.0
#include "models/training/pair_batches.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "models/text/permutation.hpp"
#include "support/error.hpp"
#include "support/text.hpp"

namespace plumbline::training {

TextRows TextRows::part(int first, int count) const {
  const auto begin = used.begin() + first;
  TextRows result{.length = *std::max_element(begin, begin + count),
                  .used = {begin, begin + count}};
  for (int row = first; row < first + count; ++row) {
    const auto from = tokens.begin() + static_cast<std::ptrdiff_t>(row) * length;
    result.tokens.insert(result.tokens.end(), from, from + result.length);
  }
  return result;
}

gpu::SequenceBatch TextRows::view(std::uint64_t draw) const {
  return {.batch = rows(),
          .length = length,
          .ids = tokens.data(),
          .lengths = used.data(),
          .draw = draw};
}

TextRows framed(const text::Tokenizer& tokenizer, std::span<const std::string> texts, int length) {
  TextRows rows{.length = length};
  for (const std::string& text : texts) {
    const text::FramedText framed = text::frame(tokenizer, text, length);
    rows.tokens.insert(rows.tokens.end(), framed.tokens.begin(), framed.tokens.end());
    rows.used.push_back(framed.used);
  }
  return rows;
}

PairBatches::PairBatches(const Settings& settings, const text::Tokenizer& tokenizer)
    : settings_(settings), tokenizer_(tokenizer), pairs_(settings.contrastive->pairs) {
  const auto all = static_cast<std::int64_t>(pairs_.size());
  validation_ =
      std::max<std::int64_t>(1, static_cast<std::int64_t>(settings.validation * double(all)));
  training_ = all - validation_;
  if (training_ < settings.batch)
    throw BadInput("file " + path_in_quotes(settings.contrastive->pairs),
                   fmt::format("{} pairs, {} of them for validation", all, validation_),
                   fmt::format("at least batch, {}, for training", settings.batch));
  for (std::size_t n = 0; n < pairs_.size(); ++n) pairs_.at(n);  // damaged ones, before any work
}

PairTexts PairBatches::batch(std::int64_t n) const {
  const std::int64_t of_epoch = training_ / settings_.batch;
  const text::Permutation order(training_, settings_.seed,
                                static_cast<std::uint64_t>(n / of_epoch));
  std::vector<std::int64_t> numbers(settings_.batch);
  for (int i = 0; i < settings_.batch; ++i) {
    const std::int64_t place = n % of_epoch * settings_.batch + i;
    numbers[i] = settings_.shuffled ? order(place) : place;
  }
  return texts_of(numbers);
}

PairTexts PairBatches::validation(int count) const {
  std::vector<std::int64_t> numbers(std::min<std::int64_t>(validation_, count));
  std::iota(numbers.begin(), numbers.end(), training_);
  return texts_of(numbers);
}

PairTexts PairBatches::texts_of(const std::vector<std::int64_t>& numbers) const {
  std::vector<std::string> texts, positives, negatives;
  for (const std::int64_t number : numbers) {
    text::Pair pair = pairs_.at(static_cast<std::size_t>(number));
    texts.push_back(std::move(pair.query));
    positives.push_back(std::move(pair.positive));
    const auto most = static_cast<std::size_t>(settings_.contrastive->hard_negatives);
    if (pair.negatives.size() > most) pair.negatives.resize(most);
    std::ranges::move(pair.negatives, std::back_inserter(negatives));
  }
  std::ranges::move(positives, std::back_inserter(texts));
  std::ranges::move(negatives, std::back_inserter(texts));
  return {static_cast<int>(numbers.size()), framed(tokenizer_, texts, settings_.length)};
}

}  // namespace plumbline::training
