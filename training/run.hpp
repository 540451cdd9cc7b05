// SPDX-License-Identifier: Apache-2.0
// A training run: data to batches, batches to updates, and what is written on the way.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>

#include "training/objective.hpp"
#include "training/ranks.hpp"
#include "training/settings.hpp"

namespace plumbline::training {

/// What a run tells after every update.
struct Status {
  long update = 0, updates = 0;  ///< made, of all
  double loss = 0.0;             ///< mean over the update's tokens, nats
  double norm = 0.0;             ///< of the gradient, before clipping
  double learning_rate = 0.0;
  double tokens_per_second = 0.0, seconds_left = 0.0;
  std::optional<double> validation_loss;  ///< where it was evaluated
  std::filesystem::path saved;            ///< a checkpoint, where one was written
};

struct Outcome {
  long updates = 0;
  double validation_loss = 0.0;  ///< at the end
  Baseline baseline;
  std::filesystem::path checkpoint;
};

/// The gradient was not finite; the last checkpoint is as it was.
class Diverged : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Trains in a folder: run.json (the terms), log.jsonl, checkpoints. The weights are a function of
/// the settings and the data alone: a run that was killed at any moment and resumed ends with the
/// same bits.
class Run {
 public:
  /// Reads the data, takes the folder (which is made), allocates the model and, with
  /// habits.resume, loads the newest checkpoint.
  /// @throws BadInput naming what cannot be used: settings, data, a vocabulary that is smaller than
  /// the tokenizer's, a folder that holds a run already where none is to be resumed, or none where
  /// one is, a checkpoint that is damaged or was made on other terms; RankFailed where another rank
  /// cannot.
  Run(const Settings&, const Habits&, Ranks&);
  ~Run();

  long updates_made() const;
  /// The rest of the run. @throws Diverged, BadInput when a file cannot be written, RankFailed
  /// where another rank failed.
  Outcome train(const std::function<void(const Status&)>& report);

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace plumbline::training
