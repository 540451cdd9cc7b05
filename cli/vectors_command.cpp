// SPDX-License-Identifier: Apache-2.0
// plumbline vectors: a folder of cases for kernels that run elsewhere.
#include <iostream>

#include "cli/command.hpp"
#include "cli/numbers.hpp"
#include "cli/progress.hpp"
#include "cli/shape_options.hpp"
#include "support/error.hpp"
#include "verdict/cases/vectors.hpp"
#include "verdict/property/spec_generator.hpp"

namespace plumbline::cli {
namespace {

struct VectorsOptions {
  std::string folder;
  Selection selection;
  verdict::Shapes shapes;
  int cases = 28;
  std::string seed = "1";
  std::vector<std::string> case_lines;
};

/// Keys of a case where none are asked for: files of more are large.
constexpr int longest_file = 1100;

int write(const VectorsOptions& options) {
  std::vector<cases::Spec> specs;
  verdict::Shapes shapes = options.shapes;
  shapes.validate("--");
  if (shapes.keys.empty() && shapes.queries.empty()) shapes.longest = longest_file;
  for (const auto& line : options.case_lines) specs.push_back(cases::from_line(line));
  if (specs.empty()) {
    const auto passes = options.selection.passes.empty() ? std::vector{cases::Pass::forward}
                                                         : options.selection.chosen_passes();
    const auto biases = options.selection.chosen_biases();
    const auto formats = options.selection.chosen_formats();
    const int cells = static_cast<int>(passes.size() * biases.size() * formats.size());
    const int per_cell = (options.cases + cells - 1) / cells;
    for (const auto pass : passes) {
      for (const auto bias : biases) {
        for (const auto format : formats) {
          const auto seed = cell_seed(seed_from(options.seed), pass, bias, format);
          for (auto& spec : verdict::draw_specs(pass, bias, format, per_cell, seed, shapes)) {
            specs.push_back(spec);
          }
        }
      }
    }
  }
  {
    Progress progress(static_cast<long>(specs.size()));
    cases::write_vectors(options.folder, specs, [&](std::size_t done) {
      progress.update(static_cast<long>(done), "cases");
    });
  }
  std::cout << "wrote " << counted(specs.size(), "case") << " and index.json to "
            << showable(options.folder) << "\n";
  return all_right;
}

}  // namespace

void add_vectors(CLI::App& app, Run& run) {
  auto options = std::make_shared<VectorsOptions>();
  auto* command = app.add_subcommand(
      "vectors", "Write test cases as safetensors, for a kernel that runs elsewhere");
  command
      ->add_option("folder", options->folder,
                   "Output folder; created if missing, must contain no cases")
      ->required();
  add_selection_options(*command, options->selection);
  add_bias_file_option(*command, options->selection);
  add_shape_options(*command, options->shapes);
  command
      ->add_option("--cases", options->cases,
                   "Total number of cases, divided among pass x bias x format and rounded up")
      ->check(whole_number_from(1, 1000000))
      ->capture_default_str();
  command->add_option("--seed", options->seed, "Seed of all random choices")->capture_default_str();
  auto* given_cases = command
                          ->add_option("--case", options->case_lines,
                                       "This case instead of random ones; may be given several "
                                       "times")
                          ->expected(1);
  exclude(*command, given_cases, {"--pass", "--bias", "--dtype", "--cases", "--seed"});
  exclude(*command, given_cases, shape_options());
  command->callback([options, &run] { run = [options] { return write(*options); }; });
}

}  // namespace plumbline::cli
