// SPDX-License-Identifier: Apache-2.0
// The operation that stands before each instruction of a kernel that is profiled, and counts it.
#ifndef PLUMBLINE_GPU_PTX_PROFILE_PROBE_HPP
#define PLUMBLINE_GPU_PTX_PROFILE_PROBE_HPP

#include "ptx/execute/warp.hpp"
#include "ptx/profile/traits.hpp"

namespace plumbline::ptx {

/// What a probe knows of its instruction; the operation's `extra` points to it. The operation has
/// no guard: its b is the instruction's. a, c, flags and immediate are those of the access; of a
/// copy, d is the address in global memory, target its offset, and the list that of the copy.
struct Probe {
  enum class Kind : std::uint8_t { plain, branch, branch_table, load, store, atomic, copy };
  Kind kind = Kind::plain;
  bool negated = false;           ///< the guard
  std::uint8_t bytes = 0;         ///< that a lane accesses
  std::uint32_t lanes = ~0u;      ///< that have addresses
  std::uint32_t instruction = 0;  ///< of KernelProgram::profiled
  Traits traits;
};

/// Adds to Block::tallies.
Outcome probe(Warp& warp, const Operation& operation);

// What the asynchronous proxy moves for the instruction that the warp executes: contiguous bytes,
// by whole rows of the banks. Nothing where the kernel is not profiled.
void count_shared(Warp& warp, std::uint32_t bytes, bool reads, bool writes);
void count_global(Warp& warp, std::uint64_t address, std::uint32_t bytes, bool reads, bool writes);

}  // namespace plumbline::ptx

#endif
