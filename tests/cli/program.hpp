// SPDX-License-Identifier: Apache-2.0
// Runs the program as a person would, and keeps what it said.
#pragma once

#include <sys/wait.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "tests/support/temporary_folder.hpp"

namespace plumbline::test {

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

/// `PROGRAM ARGUMENTS`, the arguments as a shell reads them.
inline ProgramRun run(const std::string& program, const std::string& arguments) {
  const TemporaryFolder folder;
  const std::string command = program + " " + arguments + " >" + (folder / "out").string() + " 2>" +
                              (folder / "err").string() + " </dev/null";
  const int status = std::system(command.c_str());
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, text_of(folder / "out"),
          text_of(folder / "err")};
}

inline ProgramRun plumbline(const std::string& arguments) {
  return run(PLUMBLINE_PROGRAM, arguments);
}

}  // namespace plumbline::test
