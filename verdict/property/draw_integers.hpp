// SPDX-License-Identifier: Apache-2.0
// Integers from RapidCheck's splittable generator.
#pragma once

#include <rapidcheck.h>

#include <array>
#include <cstddef>
#include <cstdint>

namespace plumbline::verdict {

class DrawIntegers {
 public:
  explicit DrawIntegers(rc::Random random) : random_(random) {}
  int between(int low, int high) {
    return low + static_cast<int>(random_.next() % static_cast<std::uint64_t>(high - low + 1));
  }
  std::size_t below(std::size_t count) { return random_.next() % count; }
  bool chance(int percent) { return between(1, 100) <= percent; }
  template <std::size_t N>
  int one_of(const std::array<int, N>& values) {
    return values[below(N)];
  }
  std::uint64_t seed() { return random_.next(); }

 private:
  rc::Random random_;
};

}  // namespace plumbline::verdict
