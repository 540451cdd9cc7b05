// SPDX-License-Identifier: Apache-2.0
#include "models/training/contrastive.hpp"

#include <algorithm>
#include <cmath>

#include "support/mapped_file.hpp"
#include "support/sha256.hpp"

namespace plumbline::training {

Contrastive::Contrastive(const Settings& settings, const text::Tokenizer& tokenizer)
    : settings_(settings), batches_(settings, tokenizer) {}

Terms Contrastive::data() const {
  const MappedFile pairs(settings_.contrastive->pairs);
  Sha256 sum;
  sum.add(pairs.bytes());
  return Terms::array({{{"bytes", pairs.bytes().size()}, {"fingerprint", sum.digest()}}});
}

int Contrastive::most_texts() const {
  return settings_.batch * (2 + settings_.contrastive->hard_negatives);
}

int Contrastive::parts(const TextRows& texts) const {
  return (texts.rows() - 1) / settings_.part + 1;
}

TextRows Contrastive::part(const TextRows& texts, int k) const {
  const int first = k * settings_.part;
  return texts.part(first, std::min(settings_.part, texts.rows() - first));
}

std::uint64_t Contrastive::draw(int k) const {
  return static_cast<std::uint64_t>(n_) * static_cast<unsigned>(most_texts()) +
         static_cast<unsigned>(k);
}

ContrastiveLoss Contrastive::loss(gpu::Trainer& trainer, const PairTexts& batch, bool trains) {
  std::vector<float> embeddings;
  for (int k = 0; k < parts(batch.texts); ++k) {
    const TextRows rows = part(batch.texts, k);
    const std::vector<float> some =
        trainer.embeddings(rows.view(draw(k)), settings_.contrastive->pooling, trains);
    embeddings.insert(embeddings.end(), some.begin(), some.end());
  }
  return contrastive_loss(embeddings, batch.queries, settings_.model.width,
                          settings_.contrastive->temperature);
}

int Contrastive::begin(gpu::Trainer& trainer, long n) {
  n_ = n;
  batch_ = batches_.batch(n);
  loss_ = loss(trainer, batch_, true);
  return parts(batch_.texts);
}

double Contrastive::add(gpu::Trainer& trainer, int k) {
  const TextRows rows = part(batch_.texts, k);
  const std::ptrdiff_t width = settings_.model.width;
  const auto grad = loss_.grad.begin() + k * settings_.part * width;
  trainer.add_embedding_gradients(rows.view(draw(k)), settings_.contrastive->pooling,
                                  {grad, grad + rows.rows() * width});
  return k == 0 ? loss_.mean : 0.0;
}

double Contrastive::validation_loss(gpu::Trainer& trainer, int rows) {
  return loss(trainer, batches_.validation(std::min(rows, settings_.batch)), false).mean;
}

Baseline Contrastive::baseline() const {
  const PairTexts all = batches_.validation(settings_.batch);
  return {"loss_of_equal_embeddings", std::log(all.texts.rows() - all.queries)};
}

}  // namespace plumbline::training
