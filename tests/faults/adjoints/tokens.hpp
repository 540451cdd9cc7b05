// SPDX-License-Identifier: Apache-2.0
// The tokens of a C++ header, as far as planting faults needs them. The code is clang-format's: a
// `<` that opens template arguments has no space before it, one that compares has.
#pragma once

#include <cctype>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <vector>

namespace plumbline::adjoint_mutants {

struct Token {
  std::string text;
  std::size_t begin, end;  ///< offsets in the source
  bool is_word = false;    ///< a name, keyword, number or string
  bool opens = false, closes = false;
  std::size_t partner = 0;  ///< the token of the matching bracket
};

namespace detail {

inline bool is_word_character(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_';
}

/// The end of the word at `n`: with its exponent's sign and digits' points if it is a number.
inline std::size_t end_of_word(const std::string& s, std::size_t n) {
  const bool number = std::isdigit(static_cast<unsigned char>(s[n]));
  while (n < s.size() &&
         (is_word_character(s[n]) ||
          (number && (s[n] == '.' || s[n] == '\'' ||
                      ((s[n] == '-' || s[n] == '+') && std::tolower(s[n - 1]) == 'e'))))) {
    ++n;
  }
  return n;
}

inline std::size_t end_of_string(const std::string& s, std::size_t n) {
  const char quote = s[n++];
  while (s.at(n) != quote) n += s[n] == '\\' ? 2 : 1;
  return n + 1;
}

inline std::size_t end_of_operator(const std::string& s, std::size_t n) {
  for (const char* two :
       {"+=", "-=", "*=", "/=", "==", "!=", "<=", ">=", "&&", "||", "::", "->", "++", "--", "<<"}) {
    if (s.compare(n, 2, two) == 0) return n + 2;
  }
  return n + 1;
}

}  // namespace detail

/// @throws std::runtime_error if brackets do not match.
inline std::vector<Token> tokens_of(const std::string& s) {
  std::vector<Token> tokens;
  std::vector<std::size_t> open;
  for (std::size_t n = 0; n < s.size();) {
    if (std::isspace(static_cast<unsigned char>(s[n]))) {
      ++n;
      continue;
    }
    if (s[n] == '#' || s.compare(n, 2, "//") == 0) {  // to the end of the line
      n = std::min(s.find('\n', n), s.size());
      continue;
    }
    Token token{"", n, n};
    token.is_word = detail::is_word_character(s[n]) || s[n] == '"' || s[n] == '\'';
    token.end = s[n] == '"' || s[n] == '\''       ? detail::end_of_string(s, n)
                : detail::is_word_character(s[n]) ? detail::end_of_word(s, n)
                                                  : detail::end_of_operator(s, n);
    token.text = s.substr(n, token.end - n);
    const bool in_angles = !open.empty() && tokens[open.back()].text == "<";
    token.opens = token.text == "(" || token.text == "[" || token.text == "{" ||
                  (token.text == "<" && n > 0 && detail::is_word_character(s[n - 1]));
    token.closes = token.text == ")" || token.text == "]" || token.text == "}" ||
                   (token.text == ">" && in_angles);
    if (token.closes) {
      if (open.empty()) throw std::runtime_error("a bracket closes that none opened");
      token.partner = open.back();
      tokens[open.back()].partner = tokens.size();
      open.pop_back();
    }
    if (token.opens) open.push_back(tokens.size());
    n = token.end;
    tokens.push_back(token);
  }
  if (!open.empty()) throw std::runtime_error("a bracket is not closed");
  return tokens;
}

}  // namespace plumbline::adjoint_mutants
