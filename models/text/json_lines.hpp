// SPDX-License-Identifier: Apache-2.0
// JSON-lines files: a JSON object a line, read when it is asked for.
#pragma once

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "support/mapped_file.hpp"

namespace plumbline::text {

/// The lines of a file that are not empty. The file is mapped, not copied: it may be larger than
/// the memory.
class JsonLines {
 public:
  /// @throws BadInput naming the file if it cannot be read, is not regular, or has no lines.
  explicit JsonLines(const std::filesystem::path& path);

  std::size_t size() const { return lines_.size(); }
  /// Object `n`, 0-based. @throws BadInput naming file and line if it is no JSON object.
  nlohmann::json at(std::size_t n) const;
  /// File and line of object `n`, for messages.
  std::string place(std::size_t n) const;

 private:
  struct Line {
    std::size_t number;  ///< 1-based, empty ones counted
    std::string_view text;
  };
  std::filesystem::path path_;
  MappedFile file_;
  std::vector<Line> lines_;
};

/// Calls line(number from 1, text without its end) for every line that is not empty; a line ends
/// with \n or \r\n.
template <class Use>
void for_each_line(std::string_view text, const Use& use) {
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    if (!line.empty()) use(number, line);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

}  // namespace plumbline::text
