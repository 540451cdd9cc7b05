// SPDX-License-Identifier: Apache-2.0
// atom and red.
#ifndef PLUMBLINE_GPU_PTX_EXECUTE_ATOMIC_HPP
#define PLUMBLINE_GPU_PTX_EXECUTE_ATOMIC_HPP

#include "ptx/execute/warp.hpp"
#include "ptx/read/types.hpp"

namespace plumbline::ptx {

enum class Atomic : std::uint8_t {
  add,
  min,
  max,
  inc,
  dec,
  bitwise_and,
  bitwise_or,
  bitwise_xor,
  exch,
  cas
};

/// a: the address; c: its space; the values are in list[1], list[2]...: `count` of them, one for
/// each element of a vector, or two of cas; the results in list[count], ...: ~0u for red. Null for
/// a type that the operation does not have.
Run atomic(Atomic op, Type type);
/// atom.cas.b128: the list has the low and high halves of b, c and the result.
Outcome compare_and_swap_128(Warp& warp, const Operation& operation);

/// What op makes of the value that is there and another one, by their bits, as on global memory.
/// Null for a type that the operation does not have.
using Combine = std::uint64_t (*)(std::uint64_t there, std::uint64_t other);
Combine combination(Atomic op, Type type);

}  // namespace plumbline::ptx

#endif
