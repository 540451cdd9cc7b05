// SPDX-License-Identifier: Apache-2.0
// mbarrier objects (PTX ISA, "Parallel Synchronization and Communication Instructions: mbarrier").
// Their 8 bytes of shared memory are opaque in PTX; their state is kept beside the memory.
#ifndef PLUMBLINE_GPU_PTX_EXECUTE_MBARRIER_HPP
#define PLUMBLINE_GPU_PTX_EXECUTE_MBARRIER_HPP

#include <map>
#include <string>

#include "ptx/execute/warp.hpp"

namespace plumbline::ptx {

struct MBarrier {
  std::uint32_t expected = 0;         ///< arrivals of a phase
  std::uint32_t pending = 0;          ///< of them, in the current one
  std::int32_t transactions = 0;      ///< bytes that are expected and have not come
  std::uint32_t phase = 0;            ///< the number of the current, incomplete one
  std::uint32_t transfer = ~0u;       ///< of the current phase, where copies belong to it
  Known arriving, done;               ///< what those who arrive know; until the phases before
  std::uint32_t epoch = 0, warp = 0;  ///< of mbarrier.init
  std::uint32_t operation = 0;
  bool fenced = false;               ///< by fence.mbarrier_init or another of the cluster
  std::uint32_t visible_from = ~0u;  ///< the phase of the cluster's barrier; ~0u: not said yet
};

/// Of a block, by their byte of shared memory.
struct MBarriers {
  std::map<std::uint32_t, MBarrier> all;
};

// Operation::flags, beside memory_wide.
inline constexpr std::uint8_t mbarrier_expects = 2;      ///< arrive: b are bytes, of one arrival
inline constexpr std::uint8_t mbarrier_drops = 4;        ///< arrive
inline constexpr std::uint8_t mbarrier_no_complete = 8;  ///< arrive
inline constexpr std::uint8_t mbarrier_parity = 2;       ///< test: b is a parity, not a state
inline constexpr std::uint8_t mbarrier_noinc = 2;        ///< of cp.async
inline constexpr std::uint8_t mbarrier_relaxed = 16;     ///< no release, no acquire

// a, immediate and c: the address and its space, as for ld. d may be ~0u.
/// b: the count.
Outcome mbarrier_init(Warp& warp, const Operation& operation);
Outcome mbarrier_inval(Warp& warp, const Operation& operation);
/// b: the count, or the bytes; d: the state, of 64 bits.
Outcome mbarrier_arrive(Warp& warp, const Operation& operation);
/// b: the bytes.
Outcome mbarrier_expect(Warp& warp, const Operation& operation);
Outcome mbarrier_complete(Warp& warp, const Operation& operation);
/// d: a predicate. Others run before a lane that was told no goes on.
Outcome mbarrier_test(Warp& warp, const Operation& operation);
/// d = the arrivals that the state a had still to come.
Outcome mbarrier_pending(Warp& warp, const Operation& operation);
/// cp.async.mbarrier.arrive: the lane's copies belong to the mbarrier's phase.
Outcome mbarrier_copies(Warp& warp, const Operation& operation);

/// The mbarrier at a byte of the block's shared memory. Throws Fault where there is none, or none
/// that the warp may see.
MBarrier& mbarrier_at(Warp& warp, const Operation& operation, std::uint32_t lane, Block& block,
                      std::uint32_t at);
/// The number of the Transfer of its current phase.
std::uint32_t transfer_of(Block& block, std::uint32_t at, MBarrier& barrier);
/// These bytes have come.
void mbarrier_came(Warp& warp, const Operation& operation, std::uint32_t lane, Block& block,
                   std::uint32_t at, std::uint32_t bytes);
/// For a deadlock: what the lane waits for.
std::string mbarrier_state(Warp& warp, const Operation& operation, std::uint32_t lane);

}  // namespace plumbline::ptx

#endif
