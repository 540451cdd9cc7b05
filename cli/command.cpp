// SPDX-License-Identifier: Apache-2.0
#include "cli/command.hpp"

#include <charconv>
#include <iostream>
#include <thread>

#include "cli/lists.hpp"
#include "cli/numbers.hpp"
#include "cli/outputs.hpp"
#include "support/error.hpp"
#include "support/text.hpp"
#include "verdict/cases/custom_bias.hpp"
#include "verdict/cases/named_contracts.hpp"

namespace plumbline::cli {

std::vector<cases::Pass> Selection::chosen_passes() const {
  return selected("--pass", passes, cases::all_passes(), cases::pass_from);
}

std::vector<cases::Bias> Selection::chosen_biases() const {
  const std::vector<cases::Bias> all =
      bias_of_file ? std::vector{*bias_of_file} : cases::all_biases();
  return selected("--bias", biases, all, cases::bias_from);
}

std::vector<cases::Format> Selection::chosen_formats() const {
  return selected("--dtype", formats, cases::all_formats(), cases::format_from);
}

void add_selection_options(CLI::App& command, Selection& selection, const std::string& passes,
                           const std::string& formats) {
  add_list(command, "--pass", selection.passes, "Only these passes: " + passes + "; or all");
  std::string biases;
  for (const auto bias : cases::all_biases()) {
    biases += (biases.empty() ? "" : ", ") + std::string(cases::name(bias));
  }
  add_list(
      command, "--bias", selection.biases,
      "Only these biases: " + biases +
          "; or all; most also with +rope_interleaved or +rope_half_split, which are not in all");
  add_list(command, "--dtype", selection.formats, "Only these formats: " + formats + "; or all");
}

void add_bias_file_option(CLI::App& command, Selection& selection) {
  // At once: --bias and --case may name it.
  const auto take = [&selection](const std::string& file) {
    selection.bias_file = file;
    selection.bias_of_file = cases::declare_custom_bias_of_file(file);
  };
  reads(command
            .add_option_function<std::string>(
                "--bias-file", take,
                "A bias of your own, as JSON (docs/custom_bias.md): the only one where --bias "
                "does not name others")
            ->check(not_empty()));
}

void exclude(CLI::App& command, CLI::Option* option, const std::vector<std::string>& others) {
  for (const std::string& other : others) option->excludes(command.get_option(other));
}

std::uint64_t cell_seed(std::uint64_t seed, cases::Pass pass, cases::Bias bias,
                        cases::Format format) {
  // FNV-1a over the names: adding a method moves no other method's cases.
  std::uint64_t hash = 0xcbf29ce484222325 ^ seed;
  std::string text;
  for (const auto name : {cases::name(pass), cases::name(bias), cases::name(format)}) {
    text += std::string(name) + " ";
  }
  for (const unsigned char c : text) hash = (hash ^ c) * 0x100000001b3;
  return hash;
}

void add_contract_option(CLI::App& command, std::string& name, const std::string& instead_of) {
  command
      .add_option("--contract", name,
                  "Judge by the contract of a known implementation instead of " + instead_of +
                      " (docs/contracts.md)")
      ->type_name("NAME")
      ->check(one_of(cases::named_contracts()));
}

void add_report_options(CLI::App& command, ReportOptions& options) {
  add_json_option(command, options.json, "Write the report as JSON to FILE (default: -)");
  add_report_option(command, "--junit", options.junit,
                    "Write the report as JUnit XML to FILE (default: -)");
}

void add_report_option(CLI::App& command, const std::string& option, std::string& file,
                       const std::string& description) {
  const auto take = [option, &file](const std::string& given) {
    // Not a check: CLI11 makes none of what may be missing.
    if (given.empty()) throw BadInput(option, "empty", "a file, or - for standard output");
    file = given;
  };
  writes(command.add_option_function<std::string>(option, take, description)
             ->type_name("[FILE]")
             ->expected(0, 1)
             ->default_str("-"));
}

void add_json_option(CLI::App& command, std::string& json, const std::string& description) {
  add_report_option(command, "--json", json, description);
}

Report::Report(const std::string& path, const std::string& option) : path_(path) {
  if (path.empty() || path == "-") return;
  try {
    file_ = std::make_unique<AtomicFile>(path);
  } catch (const BadInput& refusal) {
    if (option.empty()) throw;
    throw BadInput(option, refusal);
  }
}

void Report::write(const std::string& text) {
  if (file_) {
    file_->write(text);
    file_->commit();
  } else if (path_ == "-") {
    std::cout << text << std::flush;
    if (!std::cout)
      throw BadInput("standard output", "not writable",
                     "a terminal, a pipe or a file with free space");
  }
}

const CLI::Validator& not_empty() {
  static const CLI::Validator validator(
      [](const std::string& text) {
        return text.empty() ? std::string("is empty; expected a text") : std::string();
      },
      "");
  return validator;
}

std::uint64_t seed_from(const std::string& text) {
  std::uint64_t seed = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seed);
  if (error != std::errc() || end != text.data() + text.size()) {
    throw BadInput("--seed", in_quotes(text), "a whole number from 0 to 2^64 - 1");
  }
  return seed;
}

int thread_count() { return std::max(1u, std::thread::hardware_concurrency()); }

}  // namespace plumbline::cli
