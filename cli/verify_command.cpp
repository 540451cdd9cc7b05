// SPDX-License-Identifier: Apache-2.0
// plumbline verify: the property-based check of the built-in kernels, or of a library of yours.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <optional>

#include "cli/builtin_kernels.hpp"
#include "cli/campaign.hpp"
#include "cli/command.hpp"
#include "cli/device_option.hpp"
#include "cli/installation.hpp"
#include "cli/numbers.hpp"
#include "cli/outputs.hpp"
#include "cli/page_folder.hpp"
#include "cli/ranks.hpp"
#include "cli/shape_options.hpp"
#include "cli/shell_word.hpp"
#include "support/error.hpp"
#include "support/files_in_use.hpp"
#include "verdict/cases/named_contracts.hpp"
#include "verdict/conventions/name_conventions.hpp"
#include "verdict/report/page/page.hpp"
#include "verdict/report/report.hpp"

namespace plumbline::cli {
namespace {

using verdict::KernelLibrary;

/// What --all runs at least.
constexpr int cases_of_all = 2100;

/// Seconds: far more than a call of any case takes, on the emulation or with a compiler at work.
constexpr double default_time_limit = 20;

/// What the cases of a run take together, as verdict::work_of counts it, where --cases does not say
/// how many: kernels of large shapes get fewer.
constexpr double most_work_of_run = 0x1p32;

struct VerifyOptions {
  std::string kernel_path, device, backend = "auto", case_line;
  std::vector<std::string> kernels;
  Selection selection;
  verdict::Shapes shapes;
  int cases = 1000;
  bool cases_given = false;
  bool all = false;
  double time_limit = default_time_limit;
  std::string seed = "1";
  ReportOptions reports;
  std::string shard, sarif, html, contract;
};

/// "2/4" is the second of four.
verdict::Shard shard_from(const std::string& text) {
  if (text.empty()) return {};
  verdict::Shard shard;
  const char* end = text.data() + text.size();
  const auto number = [&](const char* from, int& into) {
    const auto [rest, error] = std::from_chars(from, end, into);
    return error == std::errc() ? rest : nullptr;
  };
  const char* slash = number(text.data(), shard.first);
  const bool read = slash && slash != end && *slash == '/' && number(slash + 1, shard.count) == end;
  if (!read || shard.first < 1 || shard.first > shard.count) {
    throw BadInput("--shard", in_quotes(text), "I/N with 1 <= I <= N, for example 2/4");
  }
  --shard.first;
  return shard;
}

KernelLibrary load(const VerifyOptions& options) {
  const bool is_software = options.device == "software";
  if (!options.kernel_path.empty() || is_software) {
    const auto library = options.kernel_path.empty() ? own_kernels_for_software()
                                                     : std::filesystem::path(options.kernel_path);
    return verdict::isolate_kernel_library(program_prefix() / "bin/plumbline-kernel-host", library,
                                           options.time_limit, software_device(options.device));
  }
  if (!options.device.empty()) {
    throw BadInput("--device", options.device + " without --kernel",
                   "a library whose kernels are to run on it, or --backend cuda");
  }
  if (options.backend != "auto") return load_backend(options.backend);
  // auto: the GPU where there is one.
  if (has_backend("cuda") && has_gpu_driver()) {
    try {
      return load_backend("cuda");
    } catch (const MachineLacks&) {
    } catch (const WouldOverwrite&) {
      throw;
    } catch (const BadInput& error) {
      std::cerr << "plumbline: judging the emulated kernels: " << error.what() << "\n";
    }
  }
  return load_backend("emulated");
}

std::vector<verdict::Kernel> selected_kernels(const std::vector<std::string>& names,
                                              const KernelLibrary& library) {
  std::string offered;
  for (const auto& kernel : library.kernels)
    offered += (offered.empty() ? "" : ", ") + kernel.name();
  if (library.kernels.empty()) {
    throw BadInput("kernel library " + library.name, "empty", "at least one kernel");
  }
  const auto kernel_from = [&](const std::string& name, const std::string& option) {
    const auto found = std::find_if(library.kernels.begin(), library.kernels.end(),
                                    [&](const auto& kernel) { return kernel.name() == name; });
    if (found == library.kernels.end()) {
      throw BadInput(option, in_quotes(name), "one of " + offered);
    }
    return *found;
  };
  return selected("--kernels", names, library.kernels, kernel_from);
}

/// Kernels with the contract that the options name in place of their own.
std::vector<verdict::Kernel> declared(std::vector<verdict::Kernel> kernels,
                                      const std::string& contract) {
  if (contract.empty()) return kernels;
  for (auto& kernel : kernels) kernel.declare(contract);
  return kernels;
}

/// Why none of the kernels' cells is left where they are declared a contract.
/// @throws BadInput where there is none in any format that they offer.
void expect_contract_in_a_format(const VerifyOptions& options,
                                 const std::vector<verdict::Kernel>& undeclared) {
  std::vector<std::string> not_offered;
  const auto cells = offered_cells(options.selection, options.shapes, undeclared, not_offered);
  std::optional<BadInput> refused;
  for (const Cell& cell : cells) {
    try {
      cases::contract_named(options.contract, cell.format, "--contract");
      return;
    } catch (const BadInput& error) {
      refused.emplace(error);
    }
  }
  if (refused) throw BadInput(*refused);
}

/// Of the cases that the options ask for, by all ranks.
void run_cells(const VerifyOptions& options, const std::vector<verdict::Kernel>& undeclared,
               verdict::VerifyReport& report, Ranks& ranks, bool print) {
  const auto kernels = declared(undeclared, options.contract);
  Campaign campaign;
  ranks.together([&] {
    try {
      campaign.cells =
          offered_cells(options.selection, options.shapes, kernels, report.not_offered);
    } catch (const BadInput&) {
      if (!options.contract.empty()) expect_contract_in_a_format(options, undeclared);
      throw;
    }
  });
  expect_same_cells(campaign, ranks);
  const auto cells = static_cast<int>(campaign.cells.size());
  campaign.shapes = options.shapes;
  if (!options.cases_given) campaign.most_work = most_work_of_run;
  const int asked = options.all ? cases_of_all : options.cases;
  campaign.cases_per_cell = (asked + cells - 1) / cells;
  campaign.seed = report.seed;
  campaign.shard = shard_from(options.shard);
  campaign.threads = own_processors();
  report.cells = check_cells(campaign, ranks, [&](const Cell& cell, verdict::CellResult& result) {
    verdict::name_conventions(*cell.kernel, result, campaign.threads);
    if (result.counterexample && print)
      std::cout << verdict::describe_failure(report, result) << std::endl;
  });
  if (ranks.first() && report.cells.size() < campaign.cells.size()) {
    std::cerr << "plumbline: kernels can no longer be run; the rest of the run is skipped\n";
  }
}

cases::Spec spec_of_case(const std::string& line) {
  try {
    return cases::from_line(line);
  } catch (const BadInput& error) {
    throw BadInput("--case", error);
  }
}

/// What is chosen beside one case may only repeat what the case says.
void expect_chosen(const Selection& selection, const cases::Spec& spec) {
  const auto expect = [](const char* option, const auto& chosen, auto of_case) {
    if (std::find(chosen.begin(), chosen.end(), of_case) == chosen.end())
      throw BadInput(option, "without " + std::string(cases::name(of_case)) + ", which --case has",
                     "the same, or no " + std::string(option));
  };
  expect("--pass", selection.chosen_passes(), spec.pass);
  if (!selection.biases.empty()) expect("--bias", selection.chosen_biases(), spec.bias);
  expect("--dtype", selection.chosen_formats(), spec.format);
}

/// The reports that were asked for.
class Reports {
 public:
  explicit Reports(const VerifyOptions& options)
      : json_(options.reports.json), junit_(options.reports.junit), sarif_(options.sarif) {
    if (!options.html.empty()) page_.emplace("--html", options.html, verdict::page_generator);
  }
  void write(const verdict::VerifyReport& report) {
    if (json_) json_.write(to_text(verdict::to_json(report)));
    if (junit_) junit_.write(verdict::to_junit(report));
    if (sarif_) sarif_.write(to_text(verdict::to_sarif(report)));
    if (page_) page_->write(verdict::to_html(report));
  }

 private:
  Report json_, junit_, sarif_;
  std::optional<PageFolder> page_;
};

int verify(const VerifyOptions& options) {
  const auto start = std::chrono::steady_clock::now();
  if (options.sarif == "-") throw BadInput("--sarif", "\"-\"", "the path of a file");
  options.shapes.validate("--");
  shard_from(options.shard);  // what is wrong with it ends the run before its work
  // The judge lets no other process read its memory: Open MPI is not to have ranks read each
  // other's.
  setenv("OMPI_MCA_btl_vader_single_copy_mechanism", "none", 0);  // 4
  setenv("OMPI_MCA_smsc", "^cma", 0);                             // 5
  Ranks& all = ranks();
  std::optional<Reports> reports;
  KernelLibrary library;
  all.together([&] {
    if (all.first()) reports.emplace(options);
    library = load(options);
  });
  const auto kernels = selected_kernels(options.kernels, library);
  const bool print = options.reports.prints_table();
  verdict::VerifyReport report;
  report.library = library.name;
  report.device = library.device;
  report.isolation = library.isolation;
  report.seed = seed_from(options.seed);
  report.shard = options.shard;
  report.artifact = options.kernel_path.empty() ? library.name : options.kernel_path;
  if (!options.kernel_path.empty()) {
    report.kernel_option = "--kernel " + shell_word(options.kernel_path);
    if (options.device == "software") report.kernel_option += " --device software";
    if (options.time_limit != default_time_limit) {
      report.kernel_option += fmt::format(" --time-limit {}", options.time_limit);
    }
  } else if (options.device == "software") {
    report.kernel_option = "--device software";
  } else if (options.backend != "auto") {
    report.kernel_option = "--backend " + options.backend;
  }
  if (!options.contract.empty()) {
    report.kernel_option += (report.kernel_option.empty() ? "" : " ") + std::string("--contract ") +
                            shell_word(options.contract);
  }
  if (const std::string& file = options.selection.bias_file; !file.empty()) {
    report.kernel_option +=
        (report.kernel_option.empty() ? "" : " ") + std::string("--bias-file ") + shell_word(file);
  }
  if (options.case_line.empty()) {
    run_cells(options, kernels, report, all, print);
  } else if (all.first()) {
    const cases::Spec spec = spec_of_case(options.case_line);
    expect_chosen(options.selection, spec);
    if (!options.contract.empty()) {
      cases::contract_named(options.contract, spec.format, "--contract");
    }
    for (const auto& kernel : declared(kernels, options.contract)) {
      report.cells.push_back(verdict::check_spec(kernel, spec, thread_count()));
      auto& cell = report.cells.back();
      verdict::name_conventions(kernel, cell, thread_count());
      if (cell.counterexample && print)
        std::cout << verdict::describe_failure(report, cell) << std::endl;
    }
  }
  if (!all.first()) return all_right;  // the verdict is rank 0's
  report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (report.cases() == 0 && options.shard.empty()) {  // of --case
    throw BadInput("--case", in_quotes(options.case_line, 400), "a case that the kernel supports");
  }
  if (report.cases() == 0) {
    std::cerr << "plumbline: there are fewer cases than shards: none falls into shard "
              << options.shard << ", and nothing was judged\n";
  }
  if (print) std::cout << verdict::to_table(report);
  reports->write(report);
  return report.outcome() == verdict::Outcome::pass ? all_right : verdict_against;
}

}  // namespace

void add_verify(CLI::App& app, Run& run) {
  auto options = std::make_shared<VerifyOptions>();
  auto* command = app.add_subcommand(
      "verify", "Judge kernels on random cases against the oracle, within derived error bounds");
  auto* kernel =
      reads(command
                ->add_option("--kernel", options->kernel_path,
                             "A shared library of kernels (kernel_abi/plumbline_kernel.h), run in "
                             "a process of its own; default: the built-in kernels")
                ->check(not_empty()));
  auto* time_limit = command
                         ->add_option("--time-limit", options->time_limit,
                                      "With --kernel: seconds after which a call counts as a hang; "
                                      "loading may take at least a minute")
                         ->check(number_from(0.01, 86400))
                         ->capture_default_str();
  time_limit->needs(kernel);
  add_device_option(*command, kernel, options->device, true);
  command->add_option("--backend", options->backend, "Where the built-in kernels run")
      ->check(one_of({"auto", "emulated", "cuda"}))
      ->capture_default_str();
  exclude(*command, kernel, {"--backend"});
  exclude(*command, command->get_option("--device"), {"--backend"});
  command->add_option("--kernels", options->kernels, "Only these kernels of the library")
      ->delimiter(',');
  add_contract_option(*command, options->contract, "what the kernels declare");
  add_selection_options(*command, options->selection);
  add_bias_file_option(*command, options->selection);
  add_shape_options(*command, options->shapes);
  auto* cases = command
                    ->add_option("--cases", options->cases,
                                 "Total number of cases, divided among kernel x pass x bias x "
                                 "format and rounded up; by default fewer if they are large")
                    ->check(whole_number_from(1, 100000000))
                    ->capture_default_str();
  auto* all = command->add_flag(
      "--all", options->all,
      fmt::format("Every kernel, pass, bias and format, and at least {} cases", cases_of_all));
  exclude(*command, all, {"--kernels", "--pass", "--bias", "--bias-file", "--dtype", "--cases"});
  command->add_option("--seed", options->seed, "Seed of all random choices")->capture_default_str();
  auto* one_case =
      command
          ->add_option("--case", options->case_line,
                       "One case instead of random ones, as the line after repeat: shows it")
          ->check(not_empty());
  command
      ->add_option(
          "--shard", options->shard,
          "I/N: only every N-th case, starting with the I-th; all N shards together run every case")
      ->check(not_empty());
  exclude(*command, one_case, {"--cases", "--all", "--seed", "--shard"});
  exclude(*command, one_case, shape_options());
  add_report_options(*command, options->reports);
  writes(command->add_option("--sarif", options->sarif, "Write the failures as SARIF 2.1.0 to FILE")
             ->type_name("FILE")
             ->check(not_empty()));
  add_page_option(*command, options->html);
  command->callback([options, cases, &run] {
    options->cases_given = cases->count() > 0;
    run = [options] {
      try {
        return verify(*options);
      } catch (const RankFailed& failure) {
        std::cerr << "plumbline: " << failure.what() << "\n";
        return static_cast<int>(failure.status());
      }
    };
  });
}

}  // namespace plumbline::cli
