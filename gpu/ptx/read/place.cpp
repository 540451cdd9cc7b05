// SPDX-License-Identifier: Apache-2.0
#include "ptx/read/place.hpp"

#include <cxxabi.h>

#include <cstdlib>
#include <memory>

namespace plumbline::ptx {

std::string on_one_line(std::string_view text) {
  std::string all;
  for (const char c : text) {
    const bool space = c == ' ' || c == '\t' || c == '\n' || c == '\r';
    if (!space)
      all += c;
    else if (!all.empty() && all.back() != ' ')
      all += ' ';
  }
  while (!all.empty() && all.back() == ' ') all.pop_back();
  return all;
}

std::string source_of(const Module& module, const Function& function,
                      const Instruction& instruction) {
  if (instruction.location == 0) return "";
  const Location& place = function.locations[instruction.location - 1];
  const auto file = module.files.find(place.file);
  return (file == module.files.end() ? "file " + std::to_string(place.file)
                                     : std::string(file->second)) +
         ":" + std::to_string(place.line);
}

std::string readable(const std::string& name) {
  if (name.compare(0, 2, "_Z") != 0) return name;
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> text(
      abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status), std::free);
  return status == 0 && text ? text.get() : name;
}

}  // namespace plumbline::ptx
