// SPDX-License-Identifier: Apache-2.0
#include "ptx/read/place.hpp"

#include <cxxabi.h>

#include <algorithm>
#include <cstdlib>
#include <memory>

namespace plumbline::ptx {

namespace {

constexpr std::size_t most_shown = 2000;  ///< bytes of a text

/// Of the UTF-8 character that begins there; 0: none does.
std::size_t character_at(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t i) {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u;
  };
  const unsigned first = byte(at), second = byte(at + 1);
  const std::size_t bytes = first < 0x80                    ? 1
                            : first >= 0xc2 && first < 0xe0 ? 2
                            : first >= 0xe0 && first < 0xf0 ? 3
                            : first >= 0xf0 && first < 0xf5 ? 4
                                                            : 0;
  for (std::size_t i = 1; i < bytes; ++i)
    if (byte(at + i) >> 6 != 2) return 0;
  const bool overlong = (first == 0xe0 && second < 0xa0) || (first == 0xf0 && second < 0x90);
  const bool none = (first == 0xed && second >= 0xa0) || (first == 0xf4 && second >= 0x90);
  return overlong || none ? 0 : bytes;
}

}  // namespace

std::string shown(std::string_view text) {
  std::string all;
  for (std::size_t at = 0; at < text.size();) {
    if (all.size() >= most_shown) return all + "...";
    const std::size_t bytes = character_at(text, at);
    const bool control = bytes == 1 && static_cast<unsigned char>(text[at]) < ' ';
    all += bytes == 0 || control ? "?" : text.substr(at, bytes);
    at += bytes == 0 ? 1 : bytes;
  }
  return all;
}

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
  return shown(all);
}

namespace {

std::string text_of(const Module& module, const Location& place) {
  const auto file = module.files.find(place.file);
  return (file == module.files.end() ? "file " + std::to_string(place.file) : shown(file->second)) +
         ":" + std::to_string(place.line);
}

}  // namespace

std::string source_of(const Module& module, const Function& function,
                      const Instruction& instruction) {
  if (instruction.location == 0) return "";
  return text_of(module, function.locations[instruction.location - 1]);
}

std::vector<std::string> callers_of(const Module& module, const Function& function,
                                    const Instruction& instruction) {
  std::vector<std::string> all;
  if (instruction.location == 0) return all;
  // A caller comes before what it calls, so that this ends.
  for (std::uint32_t at = function.locations[instruction.location - 1].caller; at;
       at = function.locations[at - 1].caller)
    all.push_back(text_of(module, function.locations[at - 1]));
  return all;
}

std::string called_at(const std::vector<std::string>& calls) {
  constexpr std::size_t most = 4;
  std::string all;
  for (std::size_t i = 0; i < calls.size(); ++i) {
    if (i == most / 2 && calls.size() > most) {
      i = calls.size() - most / 2;
      all += ", ... (" + std::to_string(calls.size() - most) + " more)";
    }
    all += ", called at " + calls[i];
  }
  return all;
}

std::string brief_instruction(const std::string& text) {
  constexpr std::size_t most = 8;
  std::string all;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t begin = std::min(text.find('{', at), text.size());
    const std::size_t end = std::min(text.find('}', begin), text.size());
    const std::string_view list = std::string_view(text).substr(begin, end - begin);
    all += text.substr(at, begin - at);
    if (static_cast<std::size_t>(std::ranges::count(list, ',')) < most)
      all += list;
    else
      all += std::string(list.substr(0, list.find(','))) + ", ..." +
             std::string(list.substr(list.rfind(',')));
    at = end;
    if (at < text.size()) all += text[at++];
  }
  return all;
}

std::string brief_name(const std::string& name) {
  constexpr std::size_t most = 160;
  const std::string whole = readable(name);
  std::string all = whole;
  for (int deepest = 4; all.size() > most && deepest > 0; --deepest) {
    all.clear();
    int depth = 0;
    for (const char c : whole) {
      if ((c == '>' || c == ')') && depth > 0) --depth;
      if (depth < deepest) all += c;
      if ((c == '<' || c == '(') && ++depth == deepest) all += "...";
    }
  }
  return all;
}

std::string readable(const std::string& name) {
  if (name.compare(0, 2, "_Z") != 0) return name;
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> text(
      abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status), std::free);
  return status == 0 && text ? text.get() : name;
}

}  // namespace plumbline::ptx
