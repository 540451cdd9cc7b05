// SPDX-License-Identifier: Apache-2.0
// Where a sign can be wrong in the adjoints of a header:
// - in what is assigned, added, subtracted or returned, and in the elements of an initialiser;
// - in each term of a sum, and in what a minus stands before in an argument;
// - in what is handed to another adjoint, or put into a container.
// Left alone are subscripts, conditions, loop heads, preconditions, and zeros or sizes of new
// arrays. What turns out to be an index or a struct has no sign, which the compiler knows
// (planted.hpp).
#pragma once

#include <set>
#include <string>
#include <vector>

#include "tests/faults/adjoints/tokens.hpp"

namespace plumbline::adjoint_mutants {

inline bool is_one_of(const std::string& text, const std::set<std::string>& texts) {
  return texts.contains(text);
}

/// A function is an adjoint by its name. zero_grad makes zeros, whose sign is nothing.
inline bool names_adjoint(const std::string& name) {
  if (name == "zero_grad") return false;
  for (const char* ending : {"grad", "derivative", "backward", "adjoint"}) {
    if (name == ending || name.ends_with(std::string("_") + ending)) return true;
  }
  return false;
}

/// [begin, end) in tokens; may_be_output: a place to write to is no number (planted.hpp).
struct Span {
  std::size_t begin, end;
  bool may_be_output;
  bool operator<(const Span& other) const {  // outer before inner
    return begin != other.begin ? begin < other.begin : end > other.end;
  }
};

class Adjoints {
 public:
  explicit Adjoints(const std::string& source) : tokens_(tokens_of(source)) {
    for (std::size_t n = 0; n + 1 < tokens_.size(); ++n) {
      if (!names_adjoint(text(n)) || text(n + 1) != "(") continue;
      std::size_t body = tokens_[n + 1].partner + 1;
      while (is_one_of(text(body), {"const", "noexcept"})) ++body;
      if (text(body) == "->") body = end_of(body, {"{", ";"});
      returns_reference_ = n > 0 && text(n - 1) == "&";
      if (text(body) == "{") plant_body(body, tokens_[body].partner);
    }
  }

  const std::vector<Token>& tokens() const { return tokens_; }
  const std::set<Span>& sites() const { return sites_; }

 private:
  const std::string& text(std::size_t n) const {
    static const std::string none;
    return n < tokens_.size() ? tokens_[n].text : none;
  }

  void plant_body(std::size_t begin, std::size_t end) {
    for (std::size_t n = begin + 1; n < end; ++n) {
      if (text(n) == "[") {
        n = tokens_[n].partner;
      } else if (is_one_of(text(n), {"for", "if", "while", "switch", "require"})) {
        while (text(n) != "(") ++n;
        n = tokens_[n].partner;
      } else if (is_one_of(text(n), {"using", "static", "constexpr"})) {
        while (text(n) != ";") ++n;
      } else {
        plant_at(n);
      }
    }
  }

  /// The name before the bracket `open`, and before template arguments.
  const std::string& called(std::size_t open) const {
    const Token& before = tokens_[open - 1];
    return before.text == ">" && before.closes ? text(before.partner - 1) : before.text;
  }
  static bool takes_gradients(const std::string& name) {
    return names_adjoint(name) || is_one_of(name, {"push_back", "emplace_back", "assign"});
  }

  void plant_at(std::size_t n) {
    const std::string& t = text(n);
    if (is_one_of(t, {"=", "+=", "-=", "*=", "/="})) {
      const bool makes_reference = t == "=" && is_one_of(text(n - 2), {"&", "&&"});
      if (!makes_reference && text(n + 1) != "{") add(n + 1, end_of(n + 1, {",", ";"}), false);
    } else if (t == "return" && !returns_reference_) {
      if (text(n + 1) == "{") {
        add_elements(n + 1, false);
      } else {
        add(n + 1, end_of(n + 1, {";"}), false);
      }
    } else if (t == "{" && (tokens_[n - 1].is_word || text(n - 1) == "=")) {
      if (!is_one_of(text(n - 1), {"else", "do", "return"})) add_elements(n, true);
    } else if (t == "(" && takes_gradients(called(n))) {
      add_elements(n, true);
    } else if (t == "(" && called(n) == "add_to") {
      const std::size_t comma = end_of(n + 1, {","});
      add(comma + 1, tokens_[n].partner, false);
    } else if (t == "(" && called(n) == "residual") {
      add_elements(n, false);
    } else if (is_one_of(t, {"+", "-"})) {
      const bool binary = tokens_[n - 1].is_word ? text(n - 1) != "return"
                                                 : is_one_of(text(n - 1), {")", "]", ">"});
      if (binary) {
        add(n + 1, end_of_term(n + 1), false);
        if (const std::size_t first = start_of_term(n); !is_one_of(text(first - 1), {"+", "-"})) {
          add(first, n, false);
        }
      } else if (is_one_of(text(n - 1), {"(", ",", "*", "/"})) {
        add(n + 1, end_of_term(n + 1), false);
      }
    }
  }

  /// The comma-separated elements in brackets.
  void add_elements(std::size_t open, bool may_be_output) {
    for (std::size_t n = open + 1; n < tokens_[open].partner;) {
      const std::size_t end = end_of(n, {","});
      if (text(n) == "{") {
        add_elements(n, may_be_output);
      } else if (text(n) != ".") {  // .name = value is an assignment
        add(n, end, may_be_output);
      }
      n = end + 1;
    }
  }

  void add(std::size_t begin, std::size_t end, bool may_be_output) {
    if (is_one_of(text(begin), {"Matrix", "Vector"})) {  // of sizes, or a copy of its argument
      const std::size_t open = tokens_[begin + 1].partner + 1;
      if (text(open) == "(") add_elements(open, false);
      return;
    }
    const bool zero =
        text(begin) == "zeros" ||
        (text(begin) == "R" && is_one_of(text(begin + 2), {"0.0", "0"}) && end == begin + 4);
    if (begin < end && !zero) sites_.insert({begin, end, may_be_output});
  }

  /// The first of `delimiters` from n on that is in no brackets, or where the brackets around
  /// close.
  std::size_t end_of(std::size_t n, const std::set<std::string>& delimiters) const {
    while (n < tokens_.size() && !delimiters.contains(text(n)) && !tokens_[n].closes) {
      n = tokens_[n].opens ? tokens_[n].partner + 1 : n + 1;
    }
    return n;
  }

  static bool ends_term(const std::string& t) {
    return is_one_of(t, {"+", "-", ",", ";", "?", ":", ")", "]", "}", "<", ">",
                         "<=", ">=", "==", "!=", "&&", "||"});
  }
  std::size_t end_of_term(std::size_t n) const {
    if (is_one_of(text(n), {"+", "-"})) ++n;  // a sign of its own
    while (tokens_[n].opens || !ends_term(text(n))) {
      n = tokens_[n].opens ? tokens_[n].partner + 1 : n + 1;
    }
    return n;
  }
  /// Where the term before the operator `n` starts.
  std::size_t start_of_term(std::size_t n) const {
    while (true) {
      const std::size_t before = n - 1;
      if (tokens_[before].closes) {
        n = tokens_[before].partner;
      } else if (ends_term(text(before)) || tokens_[before].opens ||
                 is_one_of(text(before), {"=", "+=", "-=", "*=", "/=", "return"})) {
        const bool own_sign = is_one_of(text(before), {"+", "-"}) && !tokens_[before - 1].is_word &&
                              !tokens_[before - 1].closes;
        if (!own_sign) return n;
        n = before;
      } else {
        n = before;
      }
    }
  }

  std::vector<Token> tokens_;
  std::set<Span> sites_;
  bool returns_reference_ = false;  ///< the function at hand: it returns no new value
};

}  // namespace plumbline::adjoint_mutants
