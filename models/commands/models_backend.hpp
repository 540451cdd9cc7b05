// SPDX-License-Identifier: Apache-2.0
// The programs that train and run models: one for the emulation, one for GPUs, of the same sources.
#pragma once

#include <string>

#include "cli/command.hpp"

namespace plumbline::cli {

/// --backend emulated | cuda.
void add_backend_option(CLI::App& command, std::string& backend);

/// What this program computes on: "CPU emulation", or the GPU's name.
std::string device_shown();

/// Becomes the program of the other backend if that one is asked for; returns if this one is.
/// @throws BadInput for an unknown name, MachineLacks where there is no such program.
void go_to_backend(const std::string& backend, char** argv);

}  // namespace plumbline::cli
