// SPDX-License-Identifier: Apache-2.0
// What `plumbline train` takes of the command line for a position method.
#pragma once

#include <string>

#include "cli/command.hpp"
#include "model/configuration.hpp"

namespace plumbline::cli {

struct PositionChoice {
  std::string position, prior_start = "slope";
  gpu::PositionOptions options;
};

void add_position_options(CLI::App& command, PositionChoice& choice);

/// What was given goes into the model; where nothing is said of them, RoPE's base and the amplitude
/// of sinusoidal positions are those of the published code of the model's paper.
/// @param begun with weights that there are already, whose method and options are kept.
/// @throws BadInput for an unknown method, and for an option that the method does not read.
void choose_position(const CLI::App& command, const PositionChoice& choice, bool begun,
                     gpu::ModelConfiguration& model);

}  // namespace plumbline::cli
