// SPDX-License-Identifier: Apache-2.0
#include "cli/outputs.hpp"

#include <system_error>

#include "support/atomic_file.hpp"
#include "support/error.hpp"
#include "support/text.hpp"

namespace plumbline::cli {
namespace {

namespace fs = std::filesystem;

bool one_file(const fs::path& a, const fs::path& b) {
  std::error_code unknown;
  const fs::file_status status = fs::status(a, unknown);
  if (fs::exists(status) && !fs::is_regular_file(status)) return false;
  // What is not there yet has no identity but its path.
  return fs::equivalent(a, b, unknown) ||
         fs::weakly_canonical(fs::absolute(a, unknown), unknown) ==
             fs::weakly_canonical(fs::absolute(b, unknown), unknown);
}

}  // namespace

void expect_apart(const std::vector<Output>& outputs, const std::vector<std::string>& inputs) {
  for (auto output = outputs.begin(); output != outputs.end(); ++output) {
    if (output->path.empty()) continue;
    for (auto other = outputs.begin(); other != output; ++other) {
      if (other->path.empty() || (output->path == "-") != (other->path == "-")) continue;
      const std::string both = other->option + " and " + output->option;
      if (output->path == "-")
        throw BadInput(both, "\"-\" for both", "at most one of them on standard output");
      if (one_file(output->path, other->path))
        throw BadInput(both, path_in_quotes(output->path) + " for both", "two files");
    }
    for (const std::string& input : inputs) {
      if (output->path != "-" && one_file(output->path, input))
        throw BadInput(output->option, path_in_quotes(output->path) + ", which is read",
                       "another file");
    }
  }
}

fs::path made_folder(const std::string& out, const std::vector<std::string>& names) {
  const fs::path folder = out;
  std::error_code error;
  fs::create_directories(folder, error);
  if (error || !fs::is_directory(folder, error))
    throw BadInput("--out", path_in_quotes(folder) + (error ? ": " + error.message() : ", a file"),
                   "a folder, there or to be made");
  try {
    for (const std::string& name : names) AtomicFile{folder / name};
  } catch (const BadInput& refusal) {
    throw BadInput("--out", refusal);
  }
  return folder;
}

}  // namespace plumbline::cli
