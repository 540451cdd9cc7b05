// SPDX-License-Identifier: Apache-2.0
// How an equation refuses arguments outside its domain.
#pragma once

#include <stdexcept>
#include <string>

namespace plumbline::reference {

/// Checks a precondition.
/// @throws std::invalid_argument "<name> is <value>; expected <expected>" unless `holds`.
template <class Value>
void require(bool holds, const char* name, const Value& value, const char* expected) {
  if (holds) return;
  throw std::invalid_argument(std::string(name) + " is " + std::to_string(value) + "; expected " +
                              expected);
}

}  // namespace plumbline::reference
