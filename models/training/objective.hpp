// SPDX-License-Identifier: Apache-2.0
// What a run learns: its data, and how the gradients of an update come of them.
#pragma once

#include <memory>
#include <string>

#include "models/text/tokenizer.hpp"
#include "models/training/settings.hpp"
#include "train/trainer.hpp"

namespace plumbline::training {

/// The loss that a model reaches without looking at what it has to look at.
struct Baseline {
  std::string name;  ///< unigram_entropy, ...
  double loss = 0.0;
};

/// An update's batch goes through the model in parts. Adding all of them in order gives the
/// gradient of the update's mean loss: the same bits wherever each part is computed.
class Objective {
 public:
  virtual ~Objective() = default;

  /// Tells the data apart: an object for every file, with its size and a fingerprint.
  virtual Terms data() const = 0;

  /// Makes the batch of update `n`, counted from 0, the current one; returns its number of parts.
  /// What is made is a function of n and of the trainer's parameters.
  virtual int begin(gpu::Trainer&, long n) = 0;
  /// Adds the gradient of part `k` of the current batch. Returns its share of the update's loss:
  /// the mean loss is the sum over all parts.
  virtual double add(gpu::Trainer&, int k) = 0;

  /// The mean loss of at most `rows` rows that are kept for validation.
  virtual double validation_loss(gpu::Trainer&, int rows) = 0;
  virtual Baseline baseline() const = 0;
};

/// @throws BadInput for data that cannot be used.
std::unique_ptr<Objective> make_objective(const Settings&, const text::Tokenizer&);

}  // namespace plumbline::training
