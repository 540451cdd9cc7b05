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
#include "support/communicator.hpp"
#include "train/part_tree.hpp"
#include "train/settings.hpp"

namespace plumbline::gpu {

/// A loss summed over tokens.
struct LossSum {
  double sum = 0.0;  ///< nats
  std::int64_t tokens = 0;
};

/// A model, the sum of its gradients over the parts of an update on all ranks, and the optimizer,
/// which is rank 0's: the others get the parameters from there. For one thread on every rank.
class Trainer {
 public:
  /// Allocates everything; parameters and moments are 0. The communicator must outlive it.
  /// @throws BadInput as make_model and validate(settings) do.
  Trainer(const ModelConfiguration&, const ModelRun&, const OptimizerSettings&,
          Communicator& = one_rank());
  ~Trainer();

  const ParameterLayout& layout() const;

  /// Begins an update of so many parts, at least one a rank. Returns those that this rank is to
  /// add, in order.
  PartRange begin(int parts);

  /// Adds the gradient of sum of losses / denominator over the next part's tokens. A part's own
  /// gradient is complete before it is added, and the parts are added in the order of
  /// train/part_tree.hpp: the sum has the same bits for any number of ranks.
  /// @throws BadInput as Model::loss.
  LossSum add(const SequenceBatch& part, std::int64_t denominator);

  /// BERT's embeddings of a part, [batch, width], as add_embedding_gradients computes them.
  /// @throws BadInput and std::invalid_argument as Model::embeddings.
  std::vector<float> embeddings(const SequenceBatch& part, Pooling, bool with_dropout);
  /// As `add`, for a loss whose derivatives by the part's embeddings are `grad` [batch, width].
  void add_embedding_gradients(const SequenceBatch& part, Pooling, const std::vector<float>& grad);

  /// Update `n`, counted from 0, with the sum of all parts, on all ranks together. Where the norm
  /// of all gradients is not finite, nothing is changed. One rank alone waits for nothing.
  /// @throws std::logic_error if a part of this rank is missing.
  void update(long n, double learning_rate);
  /// Nodes of the CUDA graph that has the launches of rank 0's update, from the second in a row on
  /// whose gradients were added in the same place; 0 while there is none.
  std::size_t update_nodes() const;
  /// The norm of the last update's gradients before clipping, on all ranks together. Waits for it.
  double norm();

  /// Without gradients and dropout. @throws BadInput as Model::loss.
  LossSum loss(const SequenceBatch&);

  /// Until all that was asked for is computed.
  void wait() const;

  /// Rank 0's parameters become everybody's.
  void share_parameters();

  /// Flat buffers of the layout; the moments are rank 0's. @throws std::logic_error for them
  /// elsewhere.
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
