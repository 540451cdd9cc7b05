// SPDX-License-Identifier: Apache-2.0
// GPT-2, BERT with its MLM head and BAM's LLaMA-style decoder on the device, forward and backward.
// Sources: Radford et al., "Language Models are Unsupervised Multitask Learners", 2019,
// section 2.3; Devlin et al., arXiv:1810.04805, section 3; BAM, section 3, with Touvron et al.,
// arXiv:2302.13971, section 2.2. docs/models.md tells their equations, docs/bounds-model.md the
// error.
#ifndef PLUMBLINE_GPU_MODEL_MODEL_CUH
#define PLUMBLINE_GPU_MODEL_MODEL_CUH

#include <cstdint>
#include <memory>
#include <vector>

#include "core/launch.cuh"
#include "model/attention_weights.hpp"
#include "model/parameters.hpp"
#include "model/sequence_batch.hpp"
#include "ops/chunked_cross_entropy.cuh"
#include "ops/pooling.hpp"

namespace plumbline::gpu {

/// Everything is allocated once; a call allocates nothing. For one thread, on one stream.
class Model {
 public:
  virtual ~Model() = default;

  virtual const ParameterLayout& layout() const = 0;
  /// Flat buffers of the layout in device memory: fp32 master weights, 0 at first, and gradients.
  virtual float* parameters() = 0;
  virtual float* gradients() = 0;
  /// To be called after the master weights have changed.
  virtual void parameters_changed() = 0;
  virtual void zero_gradients() = 0;

  /// The mean cross-entropy in nats over the tokens with a target, or their sum over `denominator`
  /// where that is not 0. Without dropout.
  /// @throws BadInput for more or longer sequences than the run's, sequences beyond the table of
  /// learnable positions; std::invalid_argument for ids, types and targets that their tables do not
  /// have, or if there is no target and no denominator.
  virtual ChunkedLoss loss(const SequenceBatch&, std::int64_t denominator = 0) = 0;
  /// The same with dropout, and grad_loss times its gradient added to gradients().
  virtual ChunkedLoss add_gradients(const SequenceBatch&, double grad_loss = 1.0,
                                    std::int64_t denominator = 0) = 0;
  /// Nodes of the CUDA graph that has the launches of add_gradients, from the second of calls in a
  /// row with the same shapes and the same share of each token on; 0 while there is none.
  virtual std::size_t graph_nodes() const = 0;
  /// Of the last call: every token's own loss, [batch, length], 0 where it has no target.
  virtual std::vector<float> losses() = 0;
  /// Every token's logits, [batch, length, vocabulary]; targets are not read. Throws as loss.
  virtual std::vector<float> logits(const SequenceBatch&) = 0;
  /// Of the last call: what a layer attended to. Takes memory of batch x heads x length^2 on the
  /// host. @throws std::out_of_range for a layer that there is not, or before any call.
  virtual AttentionWeights attention_weights(int layer) = 0;

  /// BERT's: every sequence's embedding, [batch, width], pooled from its tokens' last hidden states
  /// and of length 1 (ops/pooling.cuh); targets are not read. `with_dropout`: as it is when
  /// add_embedding_gradients computes it.
  /// @throws BadInput as loss, and for another architecture; std::invalid_argument for a sequence
  /// of no tokens or more than it has.
  virtual std::vector<float> embeddings(const SequenceBatch&, Pooling,
                                        bool with_dropout = false) = 0;
  /// Adds to gradients() those of a loss whose derivatives by the embeddings, with dropout, are
  /// `grad` [batch, width]. Throws likewise, and std::invalid_argument for a grad of another size.
  virtual void add_embedding_gradients(const SequenceBatch&, Pooling,
                                       const std::vector<float>& grad) = 0;
};

/// @throws BadInput as validate does, and for a run of no tokens; InvalidProblem if attention
/// cannot be run.
std::unique_ptr<Model> make_model(const Stream&, const ModelConfiguration&, const ModelRun&);

}  // namespace plumbline::gpu

#endif
