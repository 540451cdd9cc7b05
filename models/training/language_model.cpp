// SPDX-License-Identifier: Apache-2.0
#include "models/training/language_model.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "models/text/entropy.hpp"
#include "support/error.hpp"

namespace plumbline::training {

namespace {

/// @throws BadInput where a part has not the tokens of one row.
text::Split with_rows(text::Split split, const Settings& settings) {
  // BERT's rows begin with cls and end with sep; the others' last label is one token more.
  const int more = settings.model.architecture == gpu::Architecture::bert ? -2 : 1;
  for (const auto& [name, part] :
       {std::pair("training", &split.training), std::pair("validation", &split.validation)}) {
    if (part->size() >= settings.length + more) continue;
    throw BadInput("length", std::to_string(settings.length),
                   fmt::format("at most {}: the {} part of the data has {} tokens",
                               part->size() - more, name, part->size()));
  }
  return split;
}

}  // namespace

LanguageModel::LanguageModel(const Settings& settings, const text::Tokenizer& tokenizer)
    : settings_(settings),
      vocabulary_(tokenizer.vocabulary()),
      data_(text::open_stream(settings.data, tokenizer, settings.separator)),
      split_(with_rows(text::split(data_, settings.validation), settings)),
      training_(split_.training, tokenizer, settings, settings.batch,
                settings.shuffled ? text::Order::shuffled : text::Order::sequential),
      validation_(split_.validation, tokenizer, settings, settings.part, text::Order::sequential) {}

Terms LanguageModel::data() const {
  Terms files = Terms::array();
  std::int64_t first = 0;
  for (const auto tokens : data_.pieces()) {  // one a file
    const auto count = static_cast<std::int64_t>(tokens.size());
    files.push_back(
        {{"tokens", count},
         {"fingerprint", fmt::format("{:016x}", text::fingerprint(data_.part(first, count)))}});
    first += count;
  }
  return files;
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
