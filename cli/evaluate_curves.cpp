// SPDX-License-Identifier: Apache-2.0
// plumbline evaluate curves: the logs of training runs as pictures.
#include <iostream>

#include "cli/evaluate_command.hpp"
#include "evaluation/curves.hpp"

namespace plumbline::cli {

void add_evaluate_curves(CLI::App& evaluate_command, Run& run) {
  struct Options {
    std::vector<std::string> runs;
    std::string out;
  };
  auto o = std::make_shared<Options>();
  auto* command = evaluate_command.add_subcommand(
      "curves", "Loss, gradient norm and learning rate of training runs, drawn");
  command->add_option("runs", o->runs, "Runs' folders")->required()->check(not_empty());
  command->add_option("--out", o->out, "A folder for the pictures (default: the only run's)")
      ->check(not_empty());
  command->callback([o, &run] {
    run = [o] {
      if (o->out.empty() && o->runs.size() > 1)
        throw BadInput("--out", "missing", "a folder for the pictures of several runs");
      std::vector<evaluation::TrainingLog> logs;
      for (const std::filesystem::path path : o->runs) {
        const std::string name = (path / "").parent_path().filename().string();
        logs.push_back(evaluation::read_log(path, name));
      }
      const std::filesystem::path folder = o->out.empty() ? o->runs.front() : o->out;
      evaluation::write_training_curves(logs, folder);
      std::cout << "wrote pictures into " << folder.string() << "\n";
      return static_cast<int>(all_right);
    };
  });
}

}  // namespace plumbline::cli
