// SPDX-License-Identifier: Apache-2.0
#include "cli/outputs.hpp"

#include <algorithm>
#include <system_error>
#include <utility>

#include "support/atomic_file.hpp"
#include "support/error.hpp"
#include "support/files_in_use.hpp"
#include "support/leftovers.hpp"
#include "support/text.hpp"

namespace plumbline::cli {
namespace {

namespace fs = std::filesystem;

struct Role {
  CLI::Option* option;
  bool written;
  std::string in_folder;           // of what is written
  std::vector<std::string> names;  // of what is read
};

std::vector<Role>& roles() {
  static std::vector<Role> all;
  return all;
}

/// Unless it has a name of its own.
CLI::Option* named_in_help(CLI::Option* option, const char* type) {
  return option->get_type_name() == "TEXT" ? option->type_name(type) : option;
}

}  // namespace

CLI::Option* reads(CLI::Option* option, std::vector<std::string> names) {
  roles().push_back({option, false, "", std::move(names)});
  return named_in_help(option, "PATH");
}

CLI::Option* reads_tokenizer(CLI::Option* option) { return reads(option, {"byte", "gpt2"}); }

CLI::Option* writes(CLI::Option* option, const std::string& in_folder) {
  roles().push_back({option, true, in_folder, {}});
  return named_in_help(option, in_folder.empty() ? "FILE" : "DIR");
}

void expect_apart() {
  for (const auto& [option, written, in_folder, names] : roles()) {
    if (option->count() == 0) continue;
    for (const std::string& value : option->reduced_results()) {
      if (written)
        will_write(option->get_name(),
                   in_folder.empty() ? fs::path(value) : value / fs::path(in_folder));
      else if (std::ranges::find(names, value) == names.end())
        will_read(option->get_name(), value);
    }
  }
}

fs::path made_folder(const std::string& out, const std::vector<std::string>& names) {
  const fs::path folder = out;
  std::error_code error;
  static Leftovers made;
  made = make_folders(folder, error);
  if (error || !fs::is_directory(folder, error))
    throw BadInput("--out", path_in_quotes(folder) + (error ? ": " + error.message() : ", a file"),
                   "an existing or a new folder");
  for (const std::string& name : names) will_write("--out", folder / name);
  try {
    for (const std::string& name : names) AtomicFile{folder / name};
  } catch (const BadInput& refusal) {
    throw BadInput("--out", refusal);
  }
  return folder;
}

}  // namespace plumbline::cli
