// SPDX-License-Identifier: Apache-2.0
#include "support/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <utility>

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

namespace {

/// The length of the UTF-8 character that the text, which is not empty, begins with, and the
/// character; 0 for what is none.
std::pair<std::size_t, char32_t> first_character(std::string_view text) {
  const auto byte = [&](std::size_t n) { return static_cast<unsigned char>(text[n]); };
  const std::size_t length = byte(0) < 0x80             ? 1
                             : (byte(0) & 0xe0) == 0xc0 ? 2
                             : (byte(0) & 0xf0) == 0xe0 ? 3
                             : (byte(0) & 0xf8) == 0xf0 ? 4
                                                        : 0;
  if (length == 0 || length > text.size()) return {0, 0};
  char32_t character = length == 1 ? byte(0) : byte(0) & (0x7f >> length);
  for (std::size_t n = 1; n < length; ++n) {
    if ((byte(n) & 0xc0) != 0x80) return {0, 0};
    character = character << 6 | (byte(n) & 0x3f);
  }
  // Longer than need be; half of a UTF-16 pair; beyond the last.
  constexpr char32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool wrong = character < least[length] || (character >= 0xd800 && character <= 0xdfff) ||
                     character > 0x10ffff;
  return {wrong ? 0 : length, character};
}

bool is_shown(char32_t c) {
  const bool control = (c < 0x20 && c != '\t' && c != '\n') || (c >= 0x7f && c <= 0x9f);
  const bool direction = (c >= 0x202a && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069);
  const bool none = c == 0xfffe || c == 0xffff;
  return !control && !direction && !none;
}

/// What can be shown stays; the rest, a character or a byte that belongs to none, is for `escape`.
template <class Escape>
std::string escaped(std::string_view text, const Escape& escape) {
  std::string shown;
  while (!text.empty()) {
    const auto [length, character] = first_character(text);
    const std::string_view bytes = text.substr(0, std::max<std::size_t>(length, 1));
    shown += length > 0 && is_shown(character) ? std::string(bytes) : escape(bytes, character);
    text.remove_prefix(bytes.size());
  }
  return shown;
}

}  // namespace

std::string showable(std::string_view text) {
  return escaped(text, [](std::string_view bytes, char32_t) {
    std::string shown;
    for (const char c : bytes) shown += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    return shown;
  });
}

std::string showable_line(std::string_view text) {
  std::string line;
  for (const char c : showable(text)) {
    if (c == '\n') line += "\\n";
    if (c == '\t') line += "\\t";
    if (c != '\n' && c != '\t') line += c;
  }
  return line;
}

std::string showable_json(std::string_view json) {
  return escaped(json, [](std::string_view, char32_t character) {
    return fmt::format("\\u{:04x}", static_cast<std::uint32_t>(character));
  });
}

std::string counted(std::size_t number, std::string_view thing) {
  return fmt::format("{} {}{}", number, thing, number == 1 ? "" : "s");
}

}  // namespace plumbline
