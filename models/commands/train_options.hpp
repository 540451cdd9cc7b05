// SPDX-License-Identifier: Apache-2.0
// What the command line of `plumbline train` says.
#pragma once

#include <string>
#include <vector>

#include "cli/command.hpp"
#include "cli/option_names.hpp"
#include "models/commands/position_options.hpp"
#include "models/training/settings.hpp"

namespace plumbline::cli {

struct TrainOptions {
  training::Settings settings;
  training::Habits habits;
  PositionChoice position;
  std::string preset = "nano", format, optimizer = "adamw";
  std::string seed = "1", backend = "emulated", json, folder;
  std::string from, objective = "language_model", pooling = "mean", tokenizer = "byte";
  training::ContrastiveSettings contrastive;
  std::vector<std::string> data;
  int length = 0;              // 0: the model's context
  long tokens_per_update = 0;  // if not given: the paper's
  long declared_updates = 0;   // of the run that is resumed; 0: not known
  double hours_at_most = 24.0;
  bool sequential = false, not_deterministic = false, ssmax = false;
};

/// The options that set the fields of settings, and the terms of a run, of other names.
const OptionNames& train_option_names();

void add_train_options(CLI::App& command, TrainOptions& options);

/// What was given, over what the preset, or the weights of --from, have.
/// @throws BadInput naming the option, and as inference::load_trained_model.
TrainOptions completed(TrainOptions options, const CLI::App& command);

}  // namespace plumbline::cli
