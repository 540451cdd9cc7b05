// SPDX-License-Identifier: Apache-2.0
// A warp and its block, as instructions see them.
#ifndef PLUMBLINE_GPU_PTX_EXECUTE_WARP_HPP
#define PLUMBLINE_GPU_PTX_EXECUTE_WARP_HPP

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "ptx/device.hpp"
#include "ptx/execute/operation.hpp"
#include "ptx/memory/allocation.hpp"
#include "ptx/memory/shared.hpp"

namespace plumbline::ptx {

struct Program;
struct Tally;
class Runner;
class Cluster;
class Warpgroups;
struct MBarriers;

inline constexpr std::uint32_t warps_at_most = 32;  ///< of a block

/// Which Transfers a warp knows to be complete, or an mbarrier tells those that wait for it; and of
/// each warp of the block, before which epoch its accesses are in order before what comes.
struct Known {
  std::uint64_t bits[transfers_at_once / 64] = {};
  std::uint32_t after[warps_at_most] = {};
  bool has(std::uint32_t transfer) const { return bits[transfer / 64] >> transfer % 64 & 1; }
  void add(std::uint32_t transfer) { bits[transfer / 64] |= std::uint64_t{1} << transfer % 64; }
  void remove(std::uint32_t transfer) {
    bits[transfer / 64] &= ~(std::uint64_t{1} << transfer % 64);
  }
  void add(const Known& other) {
    for (std::size_t i = 0; i < transfers_at_once / 64; ++i) bits[i] |= other.bits[i];
    add_order(other);
  }
  void add_order(const Known& other) {
    for (std::size_t i = 0; i < warps_at_most; ++i)
      after[i] = after[i] > other.after[i] ? after[i] : other.after[i];
  }
};

/// Shared memory that a bulk store of a lane still reads.
struct BulkRead {
  std::uint32_t at = 0, bytes = 0;  ///< from the first byte
  std::uint32_t lane = 0, group = 0;
  const Operation* operation = nullptr;
  const Program* program = nullptr;
};

/// Bytes that cp.async has still to bring.
struct Copy {
  std::uint32_t to = 0;                 ///< shared, from its first byte
  std::uint32_t bytes = 0, filled = 0;  ///< of which `filled` come from memory, the rest are 0
  const std::byte* from = nullptr;
  std::uint32_t by = 0;  ///< the operation
  std::uint32_t lane = 0, group = 0;
};

/// What is fixed for all operations of a launch on one thread of the CPU.
struct Block {
  SharedMemory shared;
  const Allocations* memory = nullptr;
  const Allocation** sites = nullptr;  ///< the allocation that each operation met last
  const std::byte* parameters = nullptr;
  std::uint32_t parameter_bytes = 0;
  Extent size, index, grid;
  Variation variation;
  bool check = true;
  Runner* runner = nullptr;
  std::shared_ptr<Warpgroups> warpgroups;  ///< where there are wgmma
  Tally* tallies = nullptr;                ///< of KernelProgram::profiled
  Cluster* cluster = nullptr;
  std::uint32_t rank = 0;  ///< in its cluster
  bool left = false;       ///< all of its warps have left the kernel
  std::shared_ptr<MBarriers> mbarriers;
};

/// The instruction that a warp executes, where its kernel is profiled, and what it has touched.
struct Counted {
  Tally* tally = nullptr;
  bool shared = false, global = false;
};

struct Warp {
  std::byte* registers = nullptr;  ///< of the function that runs
  std::uint32_t mask = 0;          ///< lanes that execute the operation
  std::uint32_t live = 0;          ///< lanes that have not left the kernel
  std::uint32_t index = 0;         ///< in the block
  std::byte* local = nullptr;      ///< local memory of lane 0; the next lane's is local_stride on
  std::uint32_t local_stride = 0;
  std::uint32_t polls = 0;  ///< reads in a row that saw nothing new
  struct Seen {
    std::uint32_t operation = ~0u;
    std::uint64_t value = 0;
  };
  Seen seen[4];
  std::uint32_t next_seen = 0;
  std::uint64_t clock = 0;
  Counted counted;
  std::uint32_t local_frame = 0;  ///< where the running function's local memory begins
  Block* block = nullptr;
  const std::uint32_t* lists = nullptr;   ///< of the program that runs
  const Operation* operations = nullptr;  ///< its first
  const Program* program = nullptr;
  std::vector<Copy> copies;          ///< under way
  std::uint32_t committed[32] = {};  ///< groups of each lane
  // Races between its lanes: own_writes.hpp.
  std::uint32_t stores = 0;       ///< to shared memory
  std::uint32_t synced = 0;       ///< of these, before the last point that orders the lanes
  std::uint32_t store_epoch = 0;  ///< of the last one
  std::uint64_t stored_low = 0, stored_high = 0;  ///< the addresses of those since then
  // The asynchronous proxy: asynchronous.hpp.
  Known known;
  std::uint32_t fences = 0;       ///< proxy fences, times one_fence
  std::uint32_t fence_epoch = 0;  ///< of the last one
  std::vector<BulkRead> bulk_reads;
  std::uint32_t bulk_committed[32] = {};
  std::uint32_t cluster_arrived = 0;  ///< lanes, at the barrier of the cluster
  std::uint32_t cluster_passed = 0;   ///< of the phase before, and have not waited
};

}  // namespace plumbline::ptx

#endif
