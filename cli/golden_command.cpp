// SPDX-License-Identifier: Apache-2.0
// plumbline golden: golden vectors, checked or written.
#include <iostream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "cli/command.hpp"
#include "cli/installation.hpp"
#include "cli/outputs.hpp"
#include "golden/golden.hpp"
#include "support/error.hpp"
#include "support/text.hpp"

namespace plumbline::cli {
namespace {

struct GoldenOptions {
  std::string folder;
  ReportOptions reports;
};

int check(const GoldenOptions& options) {
  Report json(options.reports.json), junit(options.reports.junit);
  const std::filesystem::path folder = options.folder;
  const auto report = golden::golden_check(folder.empty() ? data_folder("golden") : folder);
  if (options.reports.prints_table()) golden::write_text(report, std::cout);
  if (json) json.write(to_text(golden::to_json(report)));
  if (junit) {
    std::ostringstream text;
    golden::write_junit(report, text);
    junit.write(text.str());
  }
  return report.passed() ? all_right : verdict_against;
}

int generate(const std::string& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) {
    throw BadInput("folder", in_quotes(folder) + " (" + error.message() + ")",
                   "a folder that can be created");
  }
  for (const auto& file : golden::golden_generate(folder)) {
    std::cout << "wrote " << showable(file.native()) << "\n";
  }
  return all_right;
}

}  // namespace

void add_golden(CLI::App& app, Run& run) {
  auto options = std::make_shared<GoldenOptions>();
  auto* command = app.add_subcommand("golden", golden_description);
  command->require_subcommand(1);
  auto* check_command = command->add_subcommand(
      "check", "Check the golden vectors against the manifest, MPFR and the computation in double");
  reads(
      check_command->add_option("folder", options->folder,
                                "With manifest.json and vectors/; default: those of this version"));
  add_report_options(*check_command, options->reports);
  check_command->callback([options, &run] { run = [options] { return check(*options); }; });
  auto* generate_command =
      command->add_subcommand("generate", "Write the vectors and the manifest");
  generate_command->add_option("folder", options->folder, "Output folder")->required();
  generate_command->callback(
      [options, &run] { run = [options] { return generate(options->folder); }; });
}

}  // namespace plumbline::cli
