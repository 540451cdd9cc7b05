// SPDX-License-Identifier: Apache-2.0
#include "verdict/cases/vectors.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <system_error>

#include "support/atomic_file.hpp"
#include "support/error.hpp"
#include "support/folder_lock.hpp"
#include "support/leftovers.hpp"
#include "support/text.hpp"
#include "verdict/cases/case_file.hpp"

namespace plumbline::cases {

namespace {

/// Cases of two runs in one folder could not be told apart.
void check_has_no_cases(const std::filesystem::path& folder) {
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const auto& path = entry.path();
    if (path.filename() == "index.json" || path.extension() == ".safetensors") {
      throw BadInput("folder " + path_in_quotes(folder),
                     "in use: it has " + path_in_quotes(path.filename()),
                     "a new folder, or one without cases");
    }
  }
}

}  // namespace

std::string vector_file_name(std::size_t index, const Spec& spec) {
  return fmt::format("{:04}-{}-{}-{}{}.safetensors", index, name(spec.bias), name(spec.format),
                     name(spec.family), spec.pass == Pass::backward ? "-backward" : "");
}

void write_vectors(const std::filesystem::path& folder, const std::vector<Spec>& specs,
                   const std::function<void(std::size_t)>& written) {
  std::error_code error;
  Leftovers made = make_folders(folder, error);
  if (error) {
    throw BadInput("folder " + path_in_quotes(folder),
                   fmt::format("not writable ({})", error.message()),
                   "a folder that can be created");
  }
  const FolderLock lock(folder);
  check_has_no_cases(folder);
  nlohmann::json cases = nlohmann::json::array();
  for (std::size_t index = 0; index < specs.size(); ++index) {
    const std::string file = vector_file_name(index, specs[index]);
    made.add(Leftover::file(folder / file));
    write_case(folder / file, generate(specs[index]));
    cases.push_back({{"file", file}, {"spec", to_line(specs[index])}});
    if (written) written(index + 1);
  }
  const nlohmann::json index = {{"format_version", 1}, {"cases", cases}};
  write_file(folder / "index.json", index.dump(2) + "\n");
  made.keep();
}

}  // namespace plumbline::cases
