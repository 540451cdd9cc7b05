// SPDX-License-Identifier: Apache-2.0
#include "models/training/batches.hpp"

#include <algorithm>

#include "support/error.hpp"
#include "support/text.hpp"

namespace plumbline::training {

namespace {

std::optional<text::Frame> frame_for(const text::Tokenizer& tokenizer, const Settings& settings) {
  if (settings.model.architecture != gpu::Architecture::bert) return {};
  const text::SpecialTokens specials = tokenizer.specials();
  if (!specials.cls || !specials.sep || !specials.mask)
    throw BadInput("tokenizer", in_quotes(settings.tokenizer),
                   "one with the tokens cls, sep and mask, for BERT");
  return text::Frame{*specials.cls, *specials.sep};
}

}  // namespace

std::int64_t target_count(const text::Batch& batch) {
  return std::count_if(batch.labels.begin(), batch.labels.end(),
                       [](std::int32_t label) { return label != text::no_label; });
}

gpu::SequenceBatch sequences(const text::Batch& batch, bool document_mask, std::uint64_t draw) {
  return {.batch = batch.rows,
          .length = batch.length,
          .ids = batch.inputs.data(),
          .targets = batch.labels.data(),
          .documents = document_mask ? batch.documents.data() : nullptr,
          .draw = draw};
}

Batches::Batches(text::TokenStream stream, const text::Tokenizer& tokenizer,
                 const Settings& settings, int batch, text::Order order)
    : sampler_(std::move(stream), {.batch = batch,
                                   .length = settings.length,
                                   .order = order,
                                   .seed = settings.seed,
                                   .end_of_text = tokenizer.specials().end_of_text,
                                   .frame = frame_for(tokenizer, settings)}) {
  if (settings.model.architecture == gpu::Architecture::bert)
    masking_.emplace(tokenizer,
                     text::MaskingOptions{.rate = settings.masking, .seed = settings.seed});
}

text::Batch Batches::batch(std::int64_t update) const {
  text::Batch batch = sampler_.batch(update);
  if (masking_) masking_->apply(update, 0, batch);
  return batch;
}

text::Batch rows_of(const text::Batch& batch, int first, int count) {
  const auto part = [&](const std::vector<std::int32_t>& all) {
    const auto begin = all.begin() + static_cast<std::ptrdiff_t>(first) * batch.length;
    return std::vector<std::int32_t>(begin,
                                     begin + static_cast<std::ptrdiff_t>(count) * batch.length);
  };
  return {.rows = count,
          .length = batch.length,
          .inputs = part(batch.inputs),
          .labels = part(batch.labels),
          .documents = part(batch.documents),
          .positions = part(batch.positions),
          .starts = {batch.starts.begin() + first, batch.starts.begin() + first + count}};
}

}  // namespace plumbline::training
