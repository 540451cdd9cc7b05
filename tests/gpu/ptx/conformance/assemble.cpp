// SPDX-License-Identifier: Apache-2.0
#include "tests/gpu/ptx/conformance/assemble.hpp"

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <regex>
#include <stdexcept>

namespace plumbline::ptx::conformance {
namespace {

/// A folder that goes when it is left.
class Folder {
 public:
  Folder() {
    char path[] = "/tmp/plumbline-conformance-XXXXXX";
    if (!mkdtemp(path)) throw std::runtime_error("no temporary folder");
    m_path = path;
  }
  ~Folder() {
    std::remove((m_path + "/text.ptx").c_str());
    std::remove((m_path + "/out.cubin").c_str());
    rmdir(m_path.c_str());
  }
  const std::string& path() const { return m_path; }

 private:
  std::string m_path;
};

std::string output_of(const std::string& command, int& status) {
  std::string output;
  FILE* pipe = popen(command.c_str(), "r");
  if (!pipe) throw std::runtime_error("cannot run " + command);
  char text[4096];
  while (std::size_t n = std::fread(text, 1, sizeof text, pipe)) output.append(text, n);
  status = pclose(pipe);
  return output;
}

std::size_t lines_of(const std::string& text) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

/// One file of ptxas: programs of one target and version.
void assemble(const std::string& ptxas, const std::vector<const Experiment*>& programs,
              std::vector<std::string>& errors) {
  const Folder folder;
  std::string text = header(*programs.front());
  std::vector<std::size_t> first_line;
  for (std::size_t i = 0; i < programs.size(); ++i) {
    first_line.push_back(lines_of(text) + 1);
    text += named(*programs[i], fmt::format("kernel_{}", i));
  }
  std::ofstream(folder.path() + "/text.ptx") << text;
  const char* target = programs.front()->target == Target::sm_80 ? "sm_80" : "sm_90a";
  int status = 0;
  const std::string said =
      output_of(fmt::format("'{}' -O0 -arch={} {}/text.ptx -o {}/out.cubin 2>&1", ptxas, target,
                            folder.path(), folder.path()),
                status);
  if (status == 0) return;
  const std::regex with_line(R"(line (\d+)[;:]\s*(error|fatal).*)");
  bool any = false;
  for (std::sregex_iterator it(said.begin(), said.end(), with_line), end; it != end; ++it) {
    const std::size_t line = std::stoul((*it)[1]);
    const auto after = std::upper_bound(first_line.begin(), first_line.end(), line);
    const Experiment& program = *programs[static_cast<std::size_t>(after - first_line.begin()) - 1];
    errors.push_back(fmt::format("{}: {}", program.form, (*it)[0].str()));
    any = true;
  }
  if (!any) errors.push_back(fmt::format("{}: {}", programs.front()->form, said));
}

}  // namespace

std::vector<std::string> assembled(const std::string& ptxas,
                                   const std::vector<Experiment>& experiments) {
  std::map<std::string, std::vector<const Experiment*>> files;
  for (const Experiment& experiment : experiments) files[header(experiment)].push_back(&experiment);
  std::vector<std::string> errors;
  for (const auto& [name, programs] : files) assemble(ptxas, programs, errors);
  return errors;
}

}  // namespace plumbline::ptx::conformance
