// SPDX-License-Identifier: Apache-2.0
// Runs the program as a person would, and keeps what it said.
#pragma once

#include <sys/wait.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>

namespace plumbline::test {

/// A folder of its own, gone with the object.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "plumbline-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary folder");
    path_ = name;
  }
  ~TemporaryFolder() { std::filesystem::remove_all(path_); }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  std::filesystem::path operator/(const std::string& name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

inline std::string text_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

struct ProgramRun {
  int status;  ///< exit status; -1 when a signal ended the program
  std::string out, err;
};

/// `plumbline ARGUMENTS`, the arguments as a shell reads them.
inline ProgramRun plumbline(const std::string& arguments) {
  const TemporaryFolder folder;
  const std::string command = std::string(PLUMBLINE_PROGRAM) + " " + arguments + " >" +
                              (folder / "out").string() + " 2>" + (folder / "err").string() +
                              " </dev/null";
  const int status = std::system(command.c_str());
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, text_of(folder / "out"),
          text_of(folder / "err")};
}

}  // namespace plumbline::test
