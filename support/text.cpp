// SPDX-License-Identifier: Apache-2.0
#include "support/text.hpp"

#include <fmt/format.h>

namespace plumbline {

std::string in_quotes(std::string_view text, std::size_t longest) {
  std::string shown = "\"";
  for (const char c : text.substr(0, longest)) {
    if (c >= ' ' && c <= '~' && c != '"' && c != '\\') {
      shown += c;
    } else {
      shown += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    }
  }
  shown += '"';
  if (text.size() > longest) shown += "...";
  return shown;
}

std::string counted(std::size_t number, std::string_view thing) {
  return fmt::format("{} {}{}", number, thing, number == 1 ? "" : "s");
}

}  // namespace plumbline
