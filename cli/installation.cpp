// SPDX-License-Identifier: Apache-2.0
#include "cli/installation.hpp"

#include "support/error.hpp"

namespace plumbline::cli {

std::filesystem::path program_prefix() {
  return std::filesystem::read_symlink("/proc/self/exe").parent_path().parent_path();
}

std::filesystem::path data_folder(const std::string& name) {
  const auto prefix = program_prefix();
  // build/PRESET/bin/plumbline: the sources are two folders above the prefix.
  for (const auto& folder :
       {prefix / "share/plumbline" / name, prefix.parent_path().parent_path() / name}) {
    if (std::filesystem::is_directory(folder)) return folder;
  }
  throw MachineLacks("the folder " + name + " of this version was not found; name it");
}

}  // namespace plumbline::cli
