// SPDX-License-Identifier: Apache-2.0
// What `plumbline evaluate` consists of. Every evaluation has a file of its own, which adds its
// subcommand here.
#pragma once

#include "cli/command.hpp"

namespace plumbline::cli {

/// --json [FILE]; the description is what --help says of it.
void add_json_option(CLI::App& command, std::string& json, const std::string& description);

/// --json and --svg: where an evaluation's result goes beside the table on standard output.
void add_result_options(CLI::App& command, std::string& json, std::string& svg);

/// The folder that --out names, made if it is not there. @throws BadInput if it cannot be.
std::filesystem::path made_folder(const std::string& out);

void add_evaluate_perplexity(CLI::App& evaluate, Run& run, char** argv);
void add_evaluate_curves(CLI::App& evaluate, Run& run);
void add_evaluate_maps(CLI::App& evaluate, Run& run, char** argv);
void add_evaluate_cost(CLI::App& evaluate, Run& run, char** argv);
void add_evaluate_retrieval(CLI::App& evaluate, Run& run, char** argv);
void add_evaluate_passkey(CLI::App& evaluate, Run& run, char** argv);
void add_evaluate_needles(CLI::App& evaluate, Run& run, char** argv);

}  // namespace plumbline::cli
