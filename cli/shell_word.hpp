// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace plumbline::cli {

/// A text that is not empty as one word for a POSIX shell: in single quotes where it needs them.
inline std::string shell_word(const std::string& text) {
  const bool plain = text.find_first_not_of(
                         "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                         "0123456789._/-") == std::string::npos;
  if (plain) return text;
  std::string result = "'";
  for (const char c : text) result += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return result + "'";
}

}  // namespace plumbline::cli
