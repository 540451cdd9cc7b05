// SPDX-License-Identifier: Apache-2.0
#include "support/out_of_memory.hpp"

#include <fmt/format.h>

#include <fstream>

namespace plumbline {

void require_memory(double bytes, const std::string& of) {
  constexpr double little = 0x1p28;
  if (bytes <= little) return;
  std::ifstream file("/proc/meminfo");
  std::string field;
  double kibibytes = 0;
  while (file >> field && field != "MemAvailable:") file.ignore(1000, '\n');
  if (!(file >> kibibytes) || bytes <= 1024 * kibibytes) return;
  throw OutOfMemory(fmt::format("{} need at least {:.1f} GiB of memory, and {:.1f} GiB are free",
                                of, bytes * 0x1p-30, kibibytes * 0x1p-20));
}

}  // namespace plumbline
