// SPDX-License-Identifier: Apache-2.0
// plumbline methods: what there is of every position method, found out and not written down.
#include <fmt/format.h>

#include <atomic>
#include <iostream>
#include <mutex>
#include <nlohmann/json.hpp>
#include <thread>

#include "cli/command.hpp"
#include "cli/installation.hpp"
#include "cli/method_kernels.hpp"
#include "cli/outputs.hpp"
#include "cli/progress.hpp"
#include "golden/case_checks.hpp"
#include "golden/oracle_status.hpp"

namespace plumbline::cli {
namespace {

struct MethodsOptions {
  std::string folder, json;
  bool oracle_only = false;
};

/// A cell of the table; without a result where there is nothing.
struct Cell {
  const char* column;
  std::optional<golden::FileResult> result;
};

struct Row {
  std::string method;
  std::vector<Cell> cells;
};

const char* state(const Cell& cell) {
  if (!cell.result) return "-";
  return cell.result->failures.empty() ? "ok" : "FAIL";
}

constexpr std::pair<const char*, cases::Pass> kernel_columns[] = {
    {"forward", cases::Pass::forward},
    {"backward", cases::Pass::backward},
    {"decode", cases::Pass::decode}};

/// The oracle's columns of all methods, on all threads.
std::vector<golden::OracleStatus> oracle_columns(const std::filesystem::path& folder,
                                                 Progress& progress) {
  const auto manifest = golden::read_manifest(folder);
  const auto& methods = reference::methods::all_methods();
  std::vector<golden::OracleStatus> all(methods.size());
  std::atomic<std::size_t> next = 0, done = 0;
  std::mutex one_at_a_time;
  std::exception_ptr thrown;
  const auto work = [&] {
    for (std::size_t n = next++; n < methods.size(); n = next++) {
      try {
        all[n] = golden::oracle_status(methods[n].name, folder, manifest);
      } catch (...) {
        const std::lock_guard lock(one_at_a_time);
        thrown = std::current_exception();
      }
      const std::lock_guard lock(one_at_a_time);
      progress.update(static_cast<long>(++done), methods[n].name);
    }
  };
  std::vector<std::jthread> threads;
  for (int n = 0; n < thread_count(); ++n) threads.emplace_back(work);
  threads.clear();
  if (thrown) std::rethrow_exception(thrown);
  return all;
}

void print(const std::vector<Row>& rows) {
  std::cout << fmt::format("{:<26}", "method");
  for (const Cell& cell : rows.front().cells) std::cout << fmt::format("  {:>9}", cell.column);
  std::cout << "\n";
  for (const Row& row : rows) {
    std::cout << fmt::format("{:<26}", row.method);
    for (const Cell& cell : row.cells) std::cout << fmt::format("  {:>9}", state(cell));
    std::cout << "\n";
    for (const Cell& cell : row.cells) {
      if (!cell.result) continue;
      for (const auto& failure : cell.result->failures) {
        std::cout << "    " << cell.column << ": " << failure << "\n";
      }
    }
  }
}

nlohmann::ordered_json to_json(const std::vector<Row>& rows, bool passed,
                               const std::vector<Backend>& backends) {
  nlohmann::ordered_json report = {{"format", "plumbline-methods-1"}, {"passed", passed}};
  report["devices"] = nlohmann::json::array();
  for (const auto& backend : backends) report["devices"].push_back(backend.attention.device);
  for (const Row& row : rows) {
    nlohmann::ordered_json of_row = {{"method", row.method}};
    for (const Cell& cell : row.cells) {
      auto& of_cell = of_row[cell.column];
      of_cell["state"] = state(cell);
      if (!cell.result) continue;
      of_cell["cases"] = cell.result->cases;
      of_cell["numbers"] = cell.result->numbers;
      of_cell["worst_error_over_bound"] = cell.result->worst;
      of_cell["failures"] = cell.result->failures;
    }
    report["methods"].push_back(of_row);
  }
  return report;
}

int methods(const MethodsOptions& options) {
  Report json(options.json);
  const std::filesystem::path folder = options.folder;
  const auto available = options.oracle_only ? std::vector<Backend>{} : available_backends();
  const long count = static_cast<long>(reference::methods::all_methods().size());
  Progress progress(2 * count);
  std::vector<Row> rows;
  bool passed = true;
  for (auto& oracle : oracle_columns(folder.empty() ? data_folder("golden") : folder, progress)) {
    rows.push_back({oracle.method,
                    {{"value", oracle.value},
                     {"gradient", oracle.gradient},
                     {"enclosure", oracle.enclosure},
                     {"golden", oracle.golden}}});
    if (!options.oracle_only) {
      for (const auto& [column, pass] : kernel_columns) {
        rows.back().cells.push_back({column, check_kernels(pass, oracle.method, available)});
      }
    }
    for (const Cell& cell : rows.back().cells) {
      passed = passed && (!cell.result || cell.result->failures.empty());
    }
    // The kernels may lack a method; the oracle may not.
    passed = passed && oracle.value && oracle.gradient && oracle.enclosure && oracle.golden;
    progress.update(count + static_cast<long>(rows.size()), oracle.method);
  }
  progress.clear();
  if (options.json != "-") {
    print(rows);
    std::cout << "value, gradient, enclosure, golden: the oracle; ";
    if (!options.oracle_only) {
      std::cout << "forward, backward, decode: the built-in CUDA kernels";
      for (const auto& backend : available) std::cout << ", " << backend.attention.device;
      std::cout << "; ";
    }
    std::cout << "-: missing\n";
  }
  if (json) json.write(to_text(to_json(rows, passed, available)));
  return passed ? all_right : verdict_against;
}

}  // namespace

void add_methods(CLI::App& app, Run& run) {
  auto options = std::make_shared<MethodsOptions>();
  auto* command = app.add_subcommand("methods", methods_description);
  reads(command->add_option(
      "folder", options->folder,
      "Golden vectors: manifest.json and vectors/; default: those of this version"));
  add_json_option(*command, options->json, "Write the table as JSON to FILE (default: -)");
  command->add_flag("--oracle-only", options->oracle_only, "Omit the kernels' columns");
  command->footer("Exit status 1 if a check fails; docs/methods.md says what is checked.");
  command->callback([options, &run] { run = [options] { return methods(*options); }; });
}

}  // namespace plumbline::cli
