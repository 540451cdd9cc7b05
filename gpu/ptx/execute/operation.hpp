// SPDX-License-Identifier: Apache-2.0
// One translated instruction.
#ifndef PLUMBLINE_GPU_PTX_EXECUTE_OPERATION_HPP
#define PLUMBLINE_GPU_PTX_EXECUTE_OPERATION_HPP

#include <cstdint>

namespace plumbline::ptx {

struct Warp;
struct Operation;

/// What the warp does next.
enum class Outcome : std::uint32_t {
  next,
  wait,  ///< lanes that are still in the mask wait for others, then execute it once more
  spin,  ///< the next operation, but others may have to run first
  again  ///< the same operation, after others have run
};

using Run = Outcome (*)(Warp&, const Operation&);

/// How the executor goes on after an operation. All but `plain` are its own affair.
enum class Flow : std::uint8_t {
  plain,
  branch,
  branch_table,
  call,
  leave,
  exit,
  barrier,
  cluster,
  stop
};

/// Registers are named by the offset, in bytes, of 32 lanes in the warp's file: 4 or 8 bytes a
/// lane; a predicate is a mask of 4 bytes.
struct Operation {
  Run run = nullptr;
  std::uint32_t d = 0, a = 0, b = 0, c = 0;
  std::int64_t immediate = 0;
  std::uint32_t guard = 0;   ///< a predicate; at 0 stands the one that is always true
  std::uint32_t negate = 0;  ///< ~0u: the guard is negated
  std::uint32_t list = 0;    ///< further registers, in Program::lists
  std::uint32_t target = 0;  ///< of a branch; else a second result, or ~0u
  std::uint32_t site = 0;    ///< of memory: its place in Block::sites
  std::uint16_t count = 0;   ///< of the list
  Flow flow = Flow::plain;
  std::uint8_t flags = 0;
  const void* extra = nullptr;  ///< what only some operations have
};
static_assert(sizeof(Operation) == 64);

}  // namespace plumbline::ptx

#endif
