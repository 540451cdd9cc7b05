// SPDX-License-Identifier: Apache-2.0
#include "models/commands/evaluate_command.hpp"

namespace plumbline::cli {

void add_result_options(CLI::App& command, std::string& json, std::string& svg) {
  add_json_option(command, json);
  add_report_option(command, "--svg", svg, "Draw the result as SVG to FILE (default: -)");
}

std::unique_ptr<text::Tokenizer> opened_tokenizer(const std::string& asked,
                                                  const std::string& of_model) {
  if (!asked.empty()) return read_for("--tokenizer", [&] { return text::open_tokenizer(asked); });
  if (of_model.empty())
    throw BadInput("--tokenizer", "missing", "its name: the model's files do not say it");
  return text::open_tokenizer(of_model);
}

void add_evaluate(CLI::App& app, Run& run, char** argv) {
  auto* evaluate = app.add_subcommand("evaluate", evaluate_description);
  evaluate->require_subcommand(1);
  evaluate->footer("See docs/evaluating.md.");
  add_evaluate_perplexity(*evaluate, run, argv);
  add_evaluate_curves(*evaluate, run);
  add_evaluate_maps(*evaluate, run, argv);
  add_evaluate_cost(*evaluate, run, argv);
  add_evaluate_retrieval(*evaluate, run, argv);
  add_evaluate_passkey(*evaluate, run, argv);
  add_evaluate_needles(*evaluate, run, argv);
}

}  // namespace plumbline::cli
