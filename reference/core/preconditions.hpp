// SPDX-License-Identifier: Apache-2.0
// How an equation refuses arguments outside its domain.
#pragma once

#include <charconv>
#include <stdexcept>
#include <string>

namespace plumbline::reference {

/// A number as text that gives the same number again, in as few digits as that takes: 1e-12 stays
/// that, which std::to_string would print as 0.000000. NaN has no sign, whichever scalar it is
/// from.
template <class Number>
std::string shortest_text(const Number& number) {
  if (number != number) return "nan";
  char text[32];  // the longest double has 24 characters, the longest 64-bit integer 20
  return {text, std::to_chars(text, text + sizeof text, number).ptr};
}

/// Checks a precondition.
/// @throws std::invalid_argument "<name> is <value>; expected <expected>" unless `holds`.
template <class Value>
void require(bool holds, const char* name, const Value& value, const char* expected) {
  if (holds) return;
  throw std::invalid_argument(std::string(name) + " is " + shortest_text(value) + "; expected " +
                              expected);
}

}  // namespace plumbline::reference
