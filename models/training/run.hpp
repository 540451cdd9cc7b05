// SPDX-License-Identifier: Apache-2.0
// A training run: data to batches, batches to updates, and what is written on the way.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>

#include "models/training/objective.hpp"
#include "models/training/settings.hpp"
#include "support/ranks.hpp"

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

/// What the first part's time says of the rest.
struct Pace {
  double tokens_per_second = 0.0;  ///< of all ranks together
  double seconds_to_line = 0.0;    ///< until the log's first one: the end of this update
  double seconds_to_end = 0.0;     ///< of the run, without evaluations
};

/// Who sees a run go on. On rank 0 but for `signal`.
struct Watcher {
  /// Once, before anything is written. What it throws ends the run, and the folder is as it was.
  std::function<void(const Pace&)> paced;
  std::function<void(const Status&)> report;
  /// The signal that asks the run to stop, 0 where none did. Asked between two parts.
  std::function<int()> signal;
};

struct Outcome {
  int signal = 0;  ///< that stopped the run, on all ranks: then no loss and no baseline
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
  /// habits.resume, loads the newest checkpoint. Writes nothing.
  /// @throws BadInput naming what cannot be used: settings, data, a vocabulary that is smaller than
  /// the tokenizer's, a folder that holds a run already where none is to be resumed, or none where
  /// one is, a checkpoint that is damaged or was made on other terms, one that is beyond
  /// habits.updates; RankFailed where another rank
  /// cannot.
  Run(const Settings&, const Habits&, Ranks&);
  ~Run();

  long updates_made() const;
  /// The rest of the run. One that is asked to stop, by a signal to any rank, gives up the update
  /// at hand, writes a checkpoint of the last whole one and returns. @throws Diverged, BadInput
  /// when a file cannot be written, RankFailed where another rank failed.
  Outcome train(const Watcher&);

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace plumbline::training
