// SPDX-License-Identifier: Apache-2.0
// A model in training, as host code sees it: no type of CUDA is named here, so that what stands
// around it is compiled once for the emulation and for GPUs.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "model/parameters.hpp"
#include "model/sequence_batch.hpp"
#include "ops/pooling.hpp"
#include "train/settings.hpp"

namespace plumbline::gpu {

/// A loss summed over tokens.
struct LossSum {
  double sum = 0.0;  ///< nats
  std::int64_t tokens = 0;
};

/// A model, the sum of its gradients over the parts of an update, and the optimizer. For one
/// thread.
class Trainer {
 public:
  /// Allocates everything; parameters and moments are 0.
  /// @throws BadInput as make_model and validate(settings) do.
  Trainer(const ModelConfiguration&, const ModelRun&, const OptimizerSettings&);
  ~Trainer();

  const ParameterLayout& layout() const;

  /// Adds the gradient of sum of losses / denominator over a part's tokens to what earlier parts of
  /// this update left. A part's own gradient is complete before it is added: parts that are added
  /// in one order give the same bits wherever each of them was computed.
  /// @throws BadInput as Model::loss.
  LossSum add(const SequenceBatch& part, std::int64_t denominator);

  /// BERT's embeddings of a part, [batch, width], as add_embedding_gradients computes them.
  /// @throws BadInput and std::invalid_argument as Model::embeddings.
  std::vector<float> embeddings(const SequenceBatch& part, Pooling, bool with_dropout);
  /// As `add`, for a loss whose derivatives by the part's embeddings are `grad` [batch, width].
  void add_embedding_gradients(const SequenceBatch& part, Pooling, const std::vector<float>& grad);

  /// Update `n`, counted from 0, with the sum of the parts, which begins anew at 0. Returns the
  /// norm of all gradients before clipping; where that is not finite, nothing was changed.
  double update(long n, double learning_rate);

  /// Without gradients and dropout. @throws BadInput as Model::loss.
  LossSum loss(const SequenceBatch&);

  /// Flat buffers of the layout.
  std::vector<float> parameters() const;
  std::vector<float> mean() const;
  std::vector<float> mean_square() const;
  /// @throws std::invalid_argument for a buffer of another size.
  void set_parameters(const std::vector<float>&);
  void set_moments(const std::vector<float>& mean, const std::vector<float>& mean_square);

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace plumbline::gpu
