// SPDX-License-Identifier: Apache-2.0
// What every command of the program is: options on a CLI11 subcommand, and a function to run.
#pragma once

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "support/atomic_file.hpp"
#include "support/error.hpp"
#include "support/text.hpp"
#include "verdict/cases/spec.hpp"

namespace plumbline::cli {

/// Set by the chosen subcommand; returns the exit status.
using Run = std::function<int()>;

void add_verify(CLI::App& app, Run& run);
void add_identities(CLI::App& app, Run& run);
void add_judge(CLI::App& app, Run& run);
void add_oracle(CLI::App& app, Run& run);
void add_vectors(CLI::App& app, Run& run);
void add_claims(CLI::App& app, Run& run);  ///< of plumbline-claims: cli/claims_main.cpp
inline constexpr const char* claims_description =
    "Check the papers' claims: holds, holds under a condition, refuted";
void add_profile(CLI::App& app, Run& run);  ///< of plumbline-profile: cli/profile_main.cpp
inline constexpr const char* profile_description =
    "Count what a program's CUDA kernels do, on the software device";
void add_train(CLI::App& app, Run& run,
               char** argv);  ///< of plumbline-models: models/commands/main.cpp
void add_evaluate(CLI::App& app, Run& run, char** argv);  ///< of plumbline-models
void add_generate(CLI::App& app, Run& run, char** argv);  ///< of plumbline-models
inline constexpr const char* evaluate_description =
    "Measure trained models: perplexity against context length, ...";
inline constexpr const char* generate_description = "Continue texts with a trained model";
inline constexpr const char* train_description = "Train GPT-2, BERT or BAM's decoder on texts";
void add_golden(CLI::App& app, Run& run);    ///< of plumbline-golden: cli/golden_main.cpp
void add_methods(CLI::App& app, Run& run);   ///< of plumbline-golden
void add_tokenize(CLI::App& app, Run& run);  ///< of plumbline-models
inline constexpr const char* golden_description = "Golden vectors (docs/golden.md)";
inline constexpr const char* methods_description =
    "Coverage of every position method, each cell tested";
inline constexpr const char* tokenize_description =
    "Turn texts into a token shard (llm.c's layout) to train on";

/// "all" or nothing for all of them, or the named ones, checked by from_name(name, option).
/// @throws BadInput for a name that stands there twice.
template <class T, class FromName>
std::vector<T> selected(const std::string& option, const std::vector<std::string>& names,
                        const std::vector<T>& all, FromName from_name) {
  if (names.empty() || names == std::vector<std::string>{"all"}) return all;
  std::vector<T> result;
  for (auto name = names.begin(); name != names.end(); ++name) {
    if (std::find(names.begin(), name, *name) != name) {
      throw BadInput(option, in_quotes(*name) + " twice", "each name once");
    }
    result.push_back(from_name(*name, option));
  }
  return result;
}

/// Which passes, biases and formats a command works on.
struct Selection {
  std::vector<std::string> passes, biases, formats;
  std::string bias_file;  ///< empty: none
  std::optional<cases::Bias> bias_of_file;

  /// @throws BadInput for an unknown name.
  std::vector<cases::Pass> chosen_passes() const;
  /// Of a bias file alone its bias, where no other is named.
  std::vector<cases::Bias> chosen_biases() const;
  std::vector<cases::Format> chosen_formats() const;
};
/// Of a command that has fewer passes and formats, their names.
void add_selection_options(CLI::App& command, Selection& selection,
                           const std::string& passes = "forward, backward, decode",
                           const std::string& formats = "fp32, bf16, fp16, tf32, e4m3, e5m2");
/// --bias-file, beside those.
void add_bias_file_option(CLI::App& command, Selection& selection);

/// `option` decides what these others choose: together they are bad usage, not ignored.
void exclude(CLI::App& command, CLI::Option* option, const std::vector<std::string>& others);

/// Every pass, bias and format has a seed of its own, so that choosing fewer of them leaves the
/// others' cases as they were.
std::uint64_t cell_seed(std::uint64_t seed, cases::Pass pass, cases::Bias bias,
                        cases::Format format);

/// Where a report goes besides the table on standard output.
struct ReportOptions {
  std::string json, junit;  ///< a path; "-" for standard output, "" for nowhere

  /// Standard output carries one thing: the table, or the report that was asked for there.
  bool prints_table() const { return json != "-" && junit != "-"; }
};
void add_report_options(CLI::App& command, ReportOptions& options);

/// --contract NAME. @param instead_of whose contract it takes the place of.
void add_contract_option(CLI::App& command, std::string& name, const std::string& instead_of);

/// OPTION [FILE], where the option alone means "-", standard output. An empty name is refused by
/// BadInput: it is most often an unset variable.
void add_report_option(CLI::App& command, const std::string& option, std::string& file,
                       const std::string& description);
/// --json [FILE]; the description is what --help says of it.
void add_json_option(
    CLI::App& command, std::string& json,
    const std::string& description = "Write the result as JSON to FILE (default: -)");

/// A report that is written whole at the end to a path, to standard output for "-", or nowhere for
/// "". The place is opened at once, so that a path that cannot be written ends a run before its
/// work.
class Report {
 public:
  /// @throws BadInput when the path cannot be written, naming the option if there is one.
  explicit Report(const std::string& path, const std::string& option = "");
  explicit operator bool() const { return !path_.empty(); }
  /// @throws BadInput when there is no room for it.
  void write(const std::string& text);

 private:
  std::string path_;
  std::unique_ptr<AtomicFile> file_;
};

/// JSON as UTF-8 that a terminal may take, whatever bytes a file name or a kernel's message holds.
template <class Json>
std::string to_text(const Json& json) {
  return showable_json(json.dump(2, ' ', false, Json::error_handler_t::replace)) + "\n";
}

/// A check for options: an empty text is no path and no case, but most often an unset variable.
const CLI::Validator& not_empty();

/// A seed: a whole number below 2^64, as text.
/// @throws BadInput naming the option.
std::uint64_t seed_from(const std::string& text);

/// Number of threads to work with: the machine's.
int thread_count();

}  // namespace plumbline::cli
