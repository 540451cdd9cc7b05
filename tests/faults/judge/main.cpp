// SPDX-License-Identifier: Apache-2.0
// plumbline bench verdict: how good the verdict is.
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "cli/command.hpp"
#include "cli/outputs.hpp"
#include "cli/program.hpp"
#include "cli/progress.hpp"
#include "support/error.hpp"
#include "tests/faults/judge/report.hpp"

namespace plumbline::bench {
namespace {

struct Options {
  std::string table = "-", json, seed = "1";
  long runs = 2000;
  int draws = Effort{}.draws, judged = Effort{}.judged, every = 1, seeds = 3, threads = 0;
  bool quick = false;
};

int measure(Options options) {
  if (options.quick) {
    options.table = "-";
    options.every = 20;
    options.runs = 200;
    options.seeds = 1;
  }
  // Opened now: a place that cannot be written ends the run before its work.
  cli::Report table(options.table, "--table"), json(options.json, "--json");
  Measured measured;
  measured.effort.seed = cli::seed_from(options.seed);
  measured.effort.threads = options.threads > 0 ? options.threads : cli::thread_count();
  measured.effort.draws = options.draws;
  measured.effort.judged = options.judged;
  measured.command =
      fmt::format("./plumbline bench verdict --runs {} --seed {} --draws {} --judged {}",
                  options.runs, options.seed, options.draws, options.judged);
  if (options.seeds != Options{}.seeds)
    measured.command += fmt::format(" --seeds {}", options.seeds);
  const auto faults = all_faults();
  auto mutants = all_mutants(faults);
  if (options.every > 1) {
    measured.command += fmt::format(" --every {}", options.every);
    std::vector<Mutant> some;
    for (std::size_t n = 0; n < mutants.size(); n += options.every) some.push_back(mutants[n]);
    mutants = some;
  }
  const auto& effort = measured.effort;
  {
    cli::Progress progress(static_cast<long>(mutants.size()));
    measured.campaign = run_campaign(
        mutants, effort, [&](std::size_t n) { progress.update(static_cast<long>(n), "mutants"); });
  }
  measured.thresholds = smallest_errors(effort.seed, options.seeds, effort.threads);
  {
    cli::Progress progress(options.runs);
    measured.alarms = false_alarms(options.runs, effort.seed, effort.products, effort.threads,
                                   [&](long n) { progress.update(n, "correct kernels"); });
  }
  if (table) table.write(to_markdown(measured));
  if (json) json.write(cli::to_text(to_json(measured)));
  return all_right(measured) ? ExitStatus::all_right : ExitStatus::verdict_against;
}

}  // namespace
}  // namespace plumbline::bench

int main(int argc, char** argv) {
  using plumbline::bench::Options;
  return plumbline::cli::run_program(argc, argv, [](CLI::App& app, plumbline::cli::Run& run) {
    auto options = std::make_shared<Options>();
    auto* command = app.add_subcommand("verdict", "Measure how good the verdict is");
    using plumbline::cli::writes;
    writes(command
               ->add_option("--table", options->table,
                            "Write the tables to FILE; - for standard output")
               ->type_name("FILE")
               ->take_last());
    writes(command->add_option("--json", options->json, "Write every mutant as JSON to FILE")
               ->type_name("FILE"));
    command->add_option("--seed", options->seed, "Seed of all random choices")
        ->capture_default_str();
    command->add_option("--runs", options->runs, "Case-runs of correct kernels")
        ->check(CLI::Range(1L, 100000000L))
        ->capture_default_str();
    command->add_option("--draws", options->draws, "Cases drawn for a mutant at most")
        ->check(CLI::Range(1, 1000000))
        ->capture_default_str();
    command->add_option("--judged", options->judged, "Cases judged of a mutant at most")
        ->check(CLI::Range(1, 1000000))
        ->capture_default_str();
    command->add_option("--seeds", options->seeds, "Cases for each smallest error")
        ->check(CLI::Range(1, 1000))
        ->capture_default_str();
    command->add_option("--every", options->every, "Only every N-th mutant")
        ->check(CLI::Range(1, 100000))
        ->capture_default_str();
    auto* quick = command->add_flag("--quick", options->quick,
                                    "Every 20th mutant and 200 case-runs, on standard output");
    plumbline::cli::exclude(*command, quick, {"--runs", "--every", "--seeds"});
    command->add_option("--threads", options->threads, "Threads; default: the machine's cores")
        ->check(CLI::Range(1, 1024));
    command->callback([options, &run] { run = [options] { return measure(*options); }; });
  });
}
