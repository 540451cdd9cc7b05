// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "models/training/batches.hpp"
#include "models/training/objective.hpp"

namespace plumbline::training {

/// The next token, or BERT's hidden tokens: mean cross-entropy over the tokens with a target.
class LanguageModel : public Objective {
 public:
  /// @throws BadInput as text::open_stream, text::split and Batches.
  LanguageModel(const Settings&, const text::Tokenizer&);

  Terms data() const override;
  int begin(gpu::Trainer&, long n) override;
  double add(gpu::Trainer&, int k) override;
  double validation_loss(gpu::Trainer&, int rows) override;
  /// The unigram entropy of the validation part.
  Baseline baseline() const override;

 private:
  const Settings settings_;
  const int vocabulary_;  ///< the tokenizer's
  const text::TokenStream data_;
  const text::Split split_;
  const Batches training_, validation_;
  text::Batch batch_;  ///< of update n_
  long n_ = 0;
  std::int64_t targets_ = 0;  ///< of batch_
};

}  // namespace plumbline::training
