// SPDX-License-Identifier: Apache-2.0
// What `plumbline evaluate` consists of. Every evaluation has a file of its own, which adds its
// subcommand here.
#pragma once

#include "cli/command.hpp"
#include "models/text/tokenizer.hpp"

namespace plumbline::cli {

/// --json and --svg: where an evaluation's result goes beside the table on standard output.
void add_result_options(CLI::App& command, std::string& json, std::string& svg);

/// What `body` returns. What it refuses is told of the option that names the file.
template <class Body>
auto read_for(const std::string& option, const Body& body) {
  try {
    return body();
  } catch (const BadInput& refusal) {
    throw BadInput(option, refusal);
  }
}

/// The tokenizer that --tokenizer names, or else the model's.
/// @throws BadInput naming the option if there is neither, or the file cannot be used.
std::unique_ptr<text::Tokenizer> opened_tokenizer(const std::string& asked,
                                                  const std::string& of_model);

void add_evaluate_perplexity(CLI::App& evaluate, Run& run, char** argv);
void add_evaluate_curves(CLI::App& evaluate, Run& run);
void add_evaluate_maps(CLI::App& evaluate, Run& run, char** argv);
void add_evaluate_cost(CLI::App& evaluate, Run& run, char** argv);
void add_evaluate_retrieval(CLI::App& evaluate, Run& run, char** argv);
void add_evaluate_passkey(CLI::App& evaluate, Run& run, char** argv);
void add_evaluate_needles(CLI::App& evaluate, Run& run, char** argv);

}  // namespace plumbline::cli
