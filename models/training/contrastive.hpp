// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "models/training/contrastive_loss.hpp"
#include "models/training/objective.hpp"
#include "models/training/pair_batches.hpp"

namespace plumbline::training {

/// Embeddings that tell a query's answer from the other texts of an update's batch, all of them:
/// neither parts nor ranks make fewer negatives. Every part goes through the model twice, first for
/// the embeddings of the whole batch, from which the loss comes, then for the gradients (Gao et
/// al., "Scaling Deep Contrastive Learning Batch Size under Memory Limited Setup",
/// arXiv:2101.06983, section 3).
class Contrastive : public Objective {
 public:
  /// @throws BadInput as PairBatches.
  Contrastive(const Settings&, const text::Tokenizer&);

  Terms data() const override;
  int begin(gpu::Trainer&, long n) override;
  double add(gpu::Trainer&, int k) override;
  /// Of the first rows that are kept for validation, at most a batch.
  double validation_loss(gpu::Trainer&, int rows) override;
  /// ln(B + N), the loss of embeddings that are all the same, for a full batch.
  Baseline baseline() const override;

 private:
  TextRows part(const TextRows& texts, int k) const;
  int parts(const TextRows& texts) const;
  int most_texts() const;
  ContrastiveLoss loss(gpu::Trainer&, const PairTexts&, bool trains);
  std::uint64_t draw(int k) const;

  const Settings settings_;
  const PairBatches batches_;
  PairTexts batch_;  ///< of update n_
  long n_ = 0;
  ContrastiveLoss loss_{};  ///< of batch_
};

}  // namespace plumbline::training
