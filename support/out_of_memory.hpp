// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <new>
#include <stdexcept>
#include <string>

namespace plumbline {

/// Memory that this machine or its GPU does not have, in words: how much was asked for. The program
/// ends with status 3.
class OutOfMemory : public std::bad_alloc {
 public:
  explicit OutOfMemory(const std::string& message) : said_(message) {}
  const char* what() const noexcept override { return said_.what(); }

 private:
  std::runtime_error said_;  // whose copies do not throw
};

/// @param bytes what the work needs at least. @param of what they are for: "arrays of this case".
/// @throws OutOfMemory where this machine has less to give, by /proc/meminfo; without such a file
/// nothing is asked.
void require_memory(double bytes, const std::string& of);

}  // namespace plumbline
