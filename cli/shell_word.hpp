// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "support/text.hpp"

namespace plumbline::cli {

/// A text that is not empty as one word for a shell: in single quotes where it needs them, and as
/// $'...', which bash and zsh know, where it has bytes that are not to be shown.
inline std::string shell_word(const std::string& text) {
  const bool plain = text.find_first_not_of(
                         "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                         "0123456789._/-") == std::string::npos;
  if (plain) return text;
  if (showable(text) != text) {
    std::string result = "$'";
    for (const char c : text) {
      if (c == '\'' || c == '\\') result += '\\';
      result += c;
    }
    return showable(result) + "'";
  }
  std::string result = "'";
  for (const char c : text) result += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return result + "'";
}

}  // namespace plumbline::cli
