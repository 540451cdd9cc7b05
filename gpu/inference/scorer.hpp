// SPDX-License-Identifier: Apache-2.0
// A trained model that says how well it predicts given tokens, as host code sees it: no type of
// CUDA is named here.
#pragma once

#include <memory>
#include <vector>

#include "model/attention_weights.hpp"
#include "model/parameters.hpp"
#include "model/sequence_batch.hpp"
#include "ops/pooling.hpp"

namespace plumbline::gpu {

/// Forward passes over whole sequences, without dropout. For one thread.
class Scorer {
 public:
  /// Allocates everything; `parameters` is a flat buffer of the configuration's ParameterLayout.
  /// @throws BadInput as make_model does; std::invalid_argument for a buffer of another size.
  Scorer(const ModelConfiguration&, const ModelRun&, const std::vector<float>& parameters);
  ~Scorer();

  const ParameterLayout& layout() const;

  /// Every token's cross-entropy -ln p(target | tokens) in nats, [batch, length]; 0 where there is
  /// no target.
  /// @throws BadInput for more or longer sequences than the run's, sequences beyond the table of
  /// learnable positions; std::invalid_argument for ids, types and targets that their tables do not
  /// have.
  std::vector<float> losses(const SequenceBatch&);
  /// [batch, length, vocabulary]; targets are not read. Throws as losses.
  std::vector<float> logits(const SequenceBatch&);
  /// BERT's: [batch, width]; targets are not read. Throws as Model::embeddings (model/model.cuh).
  std::vector<float> embeddings(const SequenceBatch&, Pooling);

  /// Of the last call: what a layer attended to. Throws as Model::attention_weights.
  AttentionWeights attention_weights(int layer);

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace plumbline::gpu
