// SPDX-License-Identifier: Apache-2.0
// Orders that hardware leaves open: of blocks, of warps, of the lanes of an atomic instruction.
#ifndef PLUMBLINE_GPU_PTX_EXECUTE_ORDER_HPP
#define PLUMBLINE_GPU_PTX_EXECUTE_ORDER_HPP

#include <cstdint>
#include <numeric>

namespace plumbline::ptx {

/// An order of 0, ..., count - 1.
class Order {
 public:
  /// seed 0: that of the numbers; else by a step that meets all of them.
  Order(std::uint64_t count, std::uint64_t seed) : count_(count) {
    if (seed == 0 || count < 2) return;
    step_ = (seed * 0x9e3779b97f4a7c15u >> 20) % count;
    while (std::gcd(step_, count) != 1) step_ = (step_ + 1) % count;
    first_ = seed % count;
  }
  /// The number that comes i-th, i < count.
  std::uint64_t operator[](std::uint64_t i) const { return (i * step_ + first_) % count_; }

 private:
  std::uint64_t count_, step_ = 1, first_ = 0;
};

/// Whether others run at this place; no with seed 0. As good as chance.
inline bool others_run_here(std::uint64_t seed, std::uint64_t place) {
  std::uint64_t x = (seed * 0x9e3779b97f4a7c15u) ^ (place * 0xd6e8feb86659fd93u);
  x ^= x >> 32;
  x *= 0xd6e8feb86659fd93u;
  x ^= x >> 32;
  return seed != 0 && (x & 1) != 0;
}

}  // namespace plumbline::ptx

#endif
