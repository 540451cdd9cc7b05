// SPDX-License-Identifier: Apache-2.0
// Distributed shared memory: that of all blocks of a cluster.
#ifndef PLUMBLINE_GPU_PTX_EXECUTE_DISTRIBUTED_HPP
#define PLUMBLINE_GPU_PTX_EXECUTE_DISTRIBUTED_HPP

#include "ptx/execute/warp.hpp"

namespace plumbline::ptx {

/// Addresses of .shared::cluster: that of .shared, and above it the block's rank plus 1; without a
/// rank the executing block's own.
inline constexpr std::uint32_t rank_shift = 24;

/// Where an address of shared memory lies: of the warp's block, or of another of its cluster.
struct SharedPlace {
  Block* block = nullptr;
  std::uint32_t at = 0;  ///< from the first byte
};
/// `address`: of .shared, .shared::cluster or generic, as `space` (memory_flags.hpp) says. Throws
/// Fault: outside of shared memory, of a block that has left, or that need not have begun.
SharedPlace shared_place(Warp& warp, const Operation& operation, std::uint32_t lane,
                         std::uint64_t address, std::uint32_t space, std::uint32_t bytes);

// mapa: d of b's block at the address a; getctarank: d of a. c: the space, memory_generic or
// memory_cluster. The registers have 64 bits where memory_wide says so.
Outcome map_shared(Warp& warp, const Operation& operation);
Outcome rank_of(Warp& warp, const Operation& operation);

}  // namespace plumbline::ptx

#endif
