// SPDX-License-Identifier: Apache-2.0
#include "training/language_model.hpp"

#include <algorithm>

#include "text/entropy.hpp"

namespace plumbline::training {

LanguageModel::LanguageModel(const Settings& settings, const text::Tokenizer& tokenizer)
    : settings_(settings),
      vocabulary_(tokenizer.vocabulary()),
      data_(text::open_stream(settings.data, tokenizer, settings.separator)),
      split_(text::split(data_, settings.validation)),
      training_(split_.training, tokenizer, settings, settings.batch,
                settings.shuffled ? text::Order::shuffled : text::Order::sequential),
      validation_(split_.validation, tokenizer, settings, settings.part, text::Order::sequential) {}

std::uint64_t LanguageModel::fingerprint() const { return text::fingerprint(data_); }

std::int64_t LanguageModel::tokens_per_update() const {
  return static_cast<std::int64_t>(settings_.batch) * settings_.length;
}

int LanguageModel::begin(gpu::Trainer&, long n) {
  n_ = n;
  batch_ = training_.batch(n);
  targets_ = target_count(batch_);
  return settings_.batch / settings_.part;
}

double LanguageModel::add(gpu::Trainer& trainer, int k) {
  const text::Batch rows = rows_of(batch_, k * settings_.part, settings_.part);
  const auto draw = static_cast<std::uint64_t>(n_) * (settings_.batch / settings_.part) +
                    static_cast<unsigned>(k);
  const std::int64_t denominator = std::max<std::int64_t>(targets_, 1);
  const double sum = trainer.add(sequences(rows, settings_.document_mask, draw), denominator).sum;
  return sum / static_cast<double>(denominator);
}

double LanguageModel::validation_loss(gpu::Trainer& trainer, int most) {
  const std::int64_t rows = std::min<std::int64_t>(most, validation_.windows());
  gpu::LossSum all;
  for (std::int64_t first = 0; first < rows; first += settings_.part) {
    text::Batch batch = validation_.batch(first / settings_.part);
    const auto left = static_cast<int>(std::min<std::int64_t>(rows - first, settings_.part));
    if (left < batch.rows) batch = rows_of(batch, 0, left);
    const gpu::LossSum some = trainer.loss(sequences(batch, settings_.document_mask, 0));
    all.sum += some.sum;
    all.tokens += some.tokens;
  }
  return all.tokens > 0 ? all.sum / static_cast<double>(all.tokens) : 0.0;
}

Baseline LanguageModel::baseline() const {
  return {"unigram_entropy",
          text::unigram_entropy(text::token_counts(split_.validation, vocabulary_))};
}

}  // namespace plumbline::training
