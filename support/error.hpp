// SPDX-License-Identifier: Apache-2.0
// The errors a person sees. The program ends with their exit status (cli/main.cpp).
#pragma once

#include <stdexcept>
#include <string>

namespace plumbline {

/// Exit statuses of every command.
enum ExitStatus { all_right = 0, verdict_against = 1, bad_input = 2, machine_lacks = 3 };

/// Input that cannot be used: names the field, what stands there, and what was expected.
class BadInput : public std::runtime_error {
 public:
  BadInput(const std::string& field, const std::string& value, const std::string& expected)
      : std::runtime_error(field + " is " + value + "; expected " + expected) {}
  /// The same with the place before it, such as the file that the field stands in.
  BadInput(const std::string& place, const BadInput& inner)
      : std::runtime_error(place + ": " + inner.what()) {}
};

/// Something this machine lacks (a GPU, a library).
class MachineLacks : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace plumbline
