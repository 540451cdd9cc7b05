// SPDX-License-Identifier: Apache-2.0
// plumbline evaluate curves: the logs of training runs as pictures.
#include <iostream>

#include "cli/lists.hpp"
#include "cli/outputs.hpp"
#include "models/commands/evaluate_command.hpp"
#include "models/evaluation/curves.hpp"

namespace plumbline::cli {
namespace {

/// The folders' names, and the paths where several have one name.
std::vector<std::string> labels_of(const std::vector<std::string>& runs) {
  std::vector<std::string> names, labels;
  for (const std::filesystem::path path : runs)
    names.push_back((path / "").parent_path().filename().string());
  for (std::size_t n = 0; n < runs.size(); ++n)
    labels.push_back(std::ranges::count(names, names[n]) > 1 ? runs[n] : names[n]);
  return labels;
}

void expect_runs(const std::vector<std::string>& runs) {
  expect_each_once("runs", runs);
  for (const std::string& run : runs) {
    std::error_code unknown;
    if (!std::filesystem::exists(run, unknown))
      throw BadInput("runs", path_in_quotes(run) + ", which does not exist",
                     "folders of training runs");
    if (!std::filesystem::exists(std::filesystem::path(run) / "log.jsonl", unknown))
      throw BadInput("runs", path_in_quotes(run) + ", which has no log.jsonl",
                     "folders of training runs");
  }
}

}  // namespace

void add_evaluate_curves(CLI::App& evaluate_command, Run& run) {
  struct Options {
    std::vector<std::string> runs;
    std::string out;
  };
  auto o = std::make_shared<Options>();
  auto* command = evaluate_command.add_subcommand(
      "curves", "Draw loss, gradient norm and learning rate of training runs");
  reads(command->add_option("runs", o->runs, "Runs' folders")->required()->check(not_empty()));
  command->add_option("--out", o->out, "Folder for the pictures (default: the only run's)")
      ->check(not_empty());
  command->callback([o, &run] {
    run = [o] {
      if (o->out.empty() && o->runs.size() > 1)
        throw BadInput("--out", "missing", "a folder for the pictures of several runs");
      expect_runs(o->runs);
      std::vector<evaluation::TrainingLog> logs;
      for (const std::string& label : labels_of(o->runs))
        logs.push_back(evaluation::read_log(o->runs[logs.size()], label));
      const std::filesystem::path folder =
          o->out.empty() ? std::filesystem::path(o->runs.front())
                         : made_folder(o->out, {"loss.svg", "norm.svg", "learning_rate.svg"});
      evaluation::write_training_curves(logs, folder);
      std::cout << "wrote pictures into " << showable(folder.native()) << "\n";
      return static_cast<int>(all_right);
    };
  });
}

}  // namespace plumbline::cli
