// SPDX-License-Identifier: Apache-2.0
// A warp's lanes. Not for instructions/, which has its own: what is inline there must not be
// shared, since the linker would keep one of the copies that different sets of CPU instructions
// make.
#ifndef PLUMBLINE_GPU_PTX_EXECUTE_WARP_LANES_HPP
#define PLUMBLINE_GPU_PTX_EXECUTE_WARP_LANES_HPP

#include "ptx/execute/warp.hpp"

namespace plumbline::ptx {

/// The values of a register of all lanes.
template <class T>
T* lanes_of(Warp& w, std::uint32_t offset) {
  return reinterpret_cast<T*>(w.registers + offset);
}

/// Calls f(lane) for each lane that executes the operation.
template <class F>
void for_lanes(const Warp& w, F f) {
  for (std::uint32_t rest = w.mask; rest; rest &= rest - 1)
    f(static_cast<std::uint32_t>(__builtin_ctz(rest)));
}

/// Without the CPU's instruction, which not all have, and without the compiler's function for them.
inline std::uint32_t count_of(std::uint32_t mask) {
  if (mask == ~0u) return 32;
  mask -= mask >> 1 & 0x55555555;
  mask = (mask & 0x33333333) + (mask >> 2 & 0x33333333);
  return ((mask + (mask >> 4)) & 0x0f0f0f0f) * 0x01010101 >> 24;
}

}  // namespace plumbline::ptx

#endif
