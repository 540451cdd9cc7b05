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

/// What ptxas says against a form, with the line; against the whole file, of its first form.
struct Complaint {
  std::string form, text;
};

/// One file of ptxas: programs of one target and version.
std::vector<Complaint> assemble(const std::string& ptxas, const std::string& target,
                                const std::vector<const Experiment*>& programs) {
  const Folder folder;
  std::string text = header(*programs.front(), target);
  std::vector<std::size_t> first_line;
  for (std::size_t i = 0; i < programs.size(); ++i) {
    first_line.push_back(lines_of(text) + 1);
    text += named(*programs[i], fmt::format("kernel_{}", i));
  }
  std::ofstream(folder.path() + "/text.ptx") << text;
  int status = 0;
  const std::string said =
      output_of(fmt::format("'{}' -O0 -arch={} {}/text.ptx -o {}/out.cubin 2>&1", ptxas, target,
                            folder.path(), folder.path()),
                status);
  if (status == 0) return {};
  std::vector<Complaint> all;
  const std::regex with_line(R"(line (\d+)[;:]\s*(error|fatal).*)");
  for (std::sregex_iterator it(said.begin(), said.end(), with_line), end; it != end; ++it) {
    const std::size_t line = std::stoul((*it)[1]);
    const auto after = std::upper_bound(first_line.begin(), first_line.end(), line);
    all.push_back(
        {programs[static_cast<std::size_t>(after - first_line.begin()) - 1]->form, (*it)[0].str()});
  }
  if (all.empty()) all.push_back({programs.front()->form, said});
  return all;
}

/// Programs with the same header.
using Files = std::map<std::string, std::vector<const Experiment*>>;
Files files_of(const std::vector<Experiment>& experiments) {
  Files files;
  for (const Experiment& experiment : experiments) files[header(experiment)].push_back(&experiment);
  return files;
}

}  // namespace

std::vector<std::string> assembled(const std::string& ptxas,
                                   const std::vector<Experiment>& experiments) {
  std::vector<std::string> errors;
  for (const auto& [_, programs] : files_of(experiments))
    for (const Complaint& one : assemble(ptxas, target_of(*programs.front()), programs))
      errors.push_back(one.form + ": " + one.text);
  return errors;
}

std::set<std::string> refused_for(const std::string& ptxas, const std::string& target,
                                  const std::vector<Experiment>& experiments) {
  std::set<std::string> refused;
  for (const auto& [_, programs] : files_of(experiments))
    for (const Complaint& one : assemble(ptxas, target, programs)) refused.insert(one.form);
  return refused;
}

}  // namespace plumbline::ptx::conformance
