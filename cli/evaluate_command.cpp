// SPDX-License-Identifier: Apache-2.0
#include "cli/evaluate_command.hpp"

namespace plumbline::cli {

void add_evaluate(CLI::App& app, Run& run, char** argv) {
  auto* evaluate = app.add_subcommand("evaluate", evaluate_description);
  evaluate->require_subcommand(1);
  evaluate->footer("docs/evaluating.md tells more.");
  add_evaluate_perplexity(*evaluate, run, argv);
  add_evaluate_passkey(*evaluate, run, argv);
  add_evaluate_needles(*evaluate, run, argv);
  add_evaluate_retrieval(*evaluate, run, argv);
}

}  // namespace plumbline::cli
