// SPDX-License-Identifier: Apache-2.0
#include "models/text/json_lines.hpp"

#include <fmt/format.h>

#include "support/error.hpp"
#include "support/strict_json.hpp"
#include "support/text.hpp"

namespace plumbline::text {

JsonLines::JsonLines(const std::filesystem::path& path) : path_(path), file_(path) {
  const auto bytes = file_.bytes();
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  for_each_line(text, [&](std::size_t number, std::string_view line) {
    lines_.push_back({number, line});
  });
  if (lines_.empty()) throw BadInput("file " + path_in_quotes(path), "empty", "JSON lines");
}

nlohmann::json JsonLines::at(std::size_t n) const {
  return parse_strict_json(lines_.at(n).text, place(n));
}

std::string JsonLines::place(std::size_t n) const {
  return fmt::format("file {}, line {}", path_in_quotes(path_), lines_.at(n).number);
}

}  // namespace plumbline::text
