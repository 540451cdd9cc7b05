// SPDX-License-Identifier: Apache-2.0
// Text from outside, made fit for an error message.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

namespace plumbline {

/// The text in double quotes, at most `longest` bytes of it, anything but printable ASCII as \xNN:
/// an input file must not be able to write control sequences to a person's terminal.
std::string in_quotes(std::string_view text, std::size_t longest = 60);

/// The text as a terminal, XML and JSON can take it. What is UTF-8 stays, but for control
/// characters other than tab and newline, characters that turn the direction of writing, and those
/// that XML does not know: their bytes, and those that are no UTF-8, become \xNN.
std::string showable(std::string_view text);

/// The same on one line: newlines and tabs become \n and \t.
std::string showable_line(std::string_view text);

/// JSON with what showable does not show as \uNNNN: the same JSON.
std::string showable_json(std::string_view json);

/// "1 case", "2 cases".
std::string counted(std::size_t number, std::string_view thing);

/// A path in double quotes, in full.
inline std::string path_in_quotes(const std::filesystem::path& path) {
  return in_quotes(std::string_view(path.native()), std::string_view::npos);
}

}  // namespace plumbline
