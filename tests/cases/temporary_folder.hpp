// SPDX-License-Identifier: Apache-2.0
// A folder for the files of one test, this process's own: two builds may run their tests at once.
#pragma once

#include <unistd.h>

#include <filesystem>
#include <string>

namespace plumbline {

/// Empty when made, gone with the object.
struct TemporaryFolder {
  const std::filesystem::path path =
      std::filesystem::temp_directory_path() / ("plumbline_test." + std::to_string(::getpid()));

  TemporaryFolder() {
    std::filesystem::remove_all(path);
    std::filesystem::create_directories(path);
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
};

}  // namespace plumbline
