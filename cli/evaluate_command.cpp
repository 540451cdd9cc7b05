// SPDX-License-Identifier: Apache-2.0
#include "cli/evaluate_command.hpp"

namespace plumbline::cli {

void add_json_option(CLI::App& command, std::string& json, const std::string& description) {
  command.add_option("--json", json, description)
      ->type_name("[FILE]")
      ->expected(0, 1)
      ->check(not_empty())
      ->default_str("-");
}

std::filesystem::path made_folder(const std::string& out) {
  const std::filesystem::path folder = out;
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) throw BadInput("--out", path_in_quotes(folder) + ": " + error.message(), "a folder");
  return folder;
}

void add_result_options(CLI::App& command, std::string& json, std::string& svg) {
  add_json_option(command, json, "Write the result as JSON to FILE (default: -)");
  command.add_option("--svg", svg, "Draw the result as SVG to FILE (default: -)")
      ->type_name("[FILE]")
      ->expected(0, 1)
      ->check(not_empty())
      ->check(CLI::Validator(
          [&json](const std::string& file) {
            return file == "-" && json == "-"
                       ? std::string("both go to standard output: name a file for one of them")
                       : std::string();
          },
          "", "beside --json"))
      ->default_str("-");
}

void add_evaluate(CLI::App& app, Run& run, char** argv) {
  auto* evaluate = app.add_subcommand("evaluate", evaluate_description);
  evaluate->require_subcommand(1);
  evaluate->footer("docs/evaluating.md tells more.");
  add_evaluate_perplexity(*evaluate, run, argv);
  add_evaluate_curves(*evaluate, run);
  add_evaluate_maps(*evaluate, run, argv);
  add_evaluate_cost(*evaluate, run, argv);
  add_evaluate_retrieval(*evaluate, run, argv);
  add_evaluate_passkey(*evaluate, run, argv);
  add_evaluate_needles(*evaluate, run, argv);
}

}  // namespace plumbline::cli
