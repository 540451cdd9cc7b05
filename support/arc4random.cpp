// SPDX-License-Identifier: Apache-2.0
// glibc has arc4random() from 2.36 on. Debian's C++ library, linked statically, calls it for
// std::random_device; with this one the result runs on glibc 2.35, too.
#include <sys/random.h>

#include <cstdint>
#include <cstdlib>

extern "C" std::uint32_t arc4random() noexcept {
  std::uint32_t number = 0;
  if (getrandom(&number, sizeof number, 0) != sizeof number) std::abort();
  return number;
}
