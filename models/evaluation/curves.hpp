// SPDX-License-Identifier: Apache-2.0
// What training runs logged, as curves over the updates.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "support/pictures/picture.hpp"

namespace plumbline::evaluation {

/// A run's log.jsonl. A number that was not finite is NaN: null in the file.
struct TrainingLog {
  std::string label;  ///< in the pictures
  std::vector<double> updates, losses, norms, learning_rates;
  std::vector<double> evaluated, validation_losses;  ///< the updates, and what was found
  std::string unit = "nats per token";               ///< of the losses; contrastive: "nats"
};

/// A last line that a killed run left unfinished is passed over.
/// @throws BadInput naming the file and line: it cannot be read, is no log, or has no update.
TrainingLog read_log(const std::filesystem::path& run, const std::string& label);

/// A file name and its picture: loss (of one run with the validation loss, which otherwise has a
/// picture of its own), norm of the gradient, learning
/// rate; a curve a run. @throws std::logic_error without a log.
struct NamedPicture {
  std::string file;
  pictures::Picture picture;
};
std::vector<NamedPicture> training_curves(const std::vector<TrainingLog>& runs);

/// Draws loss.svg, norm.svg, learning_rate.svg and, of several runs, validation_loss.svg.
/// @throws BadInput as read_log, and for a file that cannot be written.
void write_training_curves(const std::vector<TrainingLog>& runs,
                           const std::filesystem::path& folder);

}  // namespace plumbline::evaluation
