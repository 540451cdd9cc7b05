// SPDX-License-Identifier: Apache-2.0
// plant SOURCE_ROOT TARGET_ROOT HEADER...: copies headers, and puts `planted(...)` around every
// place of their adjoints where a sign can be wrong (sites.hpp). One compiled program thus holds
// all the faults, and none until one is chosen (planted.hpp). Copies keep their lines.
// TARGET_ROOT/planted_headers lists the headers that have adjoints.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <sstream>

#include "tests/faults/adjoints/sites.hpp"

namespace plumbline::adjoint_mutants {
namespace {

std::string in_one_line(const std::string& code) {
  std::istringstream words(code);
  std::string line, word;
  while (words >> word) line += (line.empty() ? "" : " ") + word;
  return line;
}

std::string planted_copy(const std::string& header, const std::string& source,
                         const Adjoints& adjoints) {
  std::string name = header;
  std::replace_if(
      name.begin(), name.end(), [](char c) { return !std::isalnum(c); }, '_');

  std::map<std::size_t, std::string> before, after;  // at an offset of the source
  std::string list;
  int number = 0;
  for (const Span& site : adjoints.sites()) {
    const Token &first = adjoints.tokens()[site.begin], &last = adjoints.tokens()[site.end - 1];
    before[first.begin] += std::string("adjoint_mutants::planted") +
                           (site.may_be_output ? "_input" : "") + "(adjoint_mutants::in_" + name +
                           ", " + std::to_string(number++) + ", ";
    after[last.end] += ")";
    const auto line = 1 + std::count(source.begin(), source.begin() + first.begin, '\n');
    list += "{" + std::to_string(line) + ", R\"code(" +
            in_one_line(source.substr(first.begin, last.end - first.begin)) + ")code\"}, ";
  }
  std::string copy;
  for (std::size_t n = 0; n <= source.size(); ++n) {
    if (const auto at = after.find(n); at != after.end()) copy += at->second;
    if (const auto at = before.find(n); at != before.end()) copy += at->second;
    if (n < source.size()) copy += source[n];
  }
  return "#pragma once\n#include \"tests/faults/adjoints/planted.hpp\"\n"
         "namespace plumbline::adjoint_mutants { inline PlantedHeader in_" +
         name + "{\"" + header + "\", {" + list + "}}; }\n#line 1 \"" + header + "\"\n" + copy;
}

std::string contents(const std::filesystem::path& path) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error("cannot read " + path.string());
  return {std::istreambuf_iterator<char>(file), {}};
}

/// Leaves a file alone that is right, so that nothing is built again for it.
void write(const std::filesystem::path& path, const std::string& text) {
  if (std::filesystem::exists(path) && contents(path) == text) return;
  std::filesystem::create_directories(path.parent_path());
  std::ofstream(path) << text;
}

}  // namespace
}  // namespace plumbline::adjoint_mutants

int main(int count, char** arguments) {
  using namespace plumbline::adjoint_mutants;
  const std::filesystem::path from = arguments[1], to = arguments[2];
  std::string planted_headers;
  for (int n = 3; n < count; ++n) {
    const std::string header = arguments[n];
    try {
      const std::string source = contents(from / header);
      const Adjoints adjoints(source);
      const bool has_adjoints = !adjoints.sites().empty();
      write(to / header, has_adjoints ? planted_copy(header, source, adjoints) : source);
      if (has_adjoints) planted_headers += header + "\n";
    } catch (const std::exception& error) {
      std::cerr << header << ": " << error.what() << "\n";
      return 1;
    }
  }
  write(to / "planted_headers", planted_headers);
  return 0;
}
