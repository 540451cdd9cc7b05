// SPDX-License-Identifier: Apache-2.0
// The body of a program: its commands, and what becomes of what they throw.
#pragma once

#include <functional>

#include "cli/command.hpp"

namespace plumbline::cli {

/// Runs the command that the arguments name, of those that `add_commands` adds. Returns the exit
/// status: 0 success, 1 a check failed, 2 bad input or usage, 3 something that the machine
/// lacks. Everything that is thrown is reported on standard error.
int run_program(int argc, char** argv,
                const std::function<void(CLI::App& app, Run& run)>& add_commands);

}  // namespace plumbline::cli
