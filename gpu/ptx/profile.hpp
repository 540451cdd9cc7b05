// SPDX-License-Identifier: Apache-2.0
// What a launch did, counted: docs/software_device.md tells what each figure means on a GPU. PTX is
// counted, not the machine code that ptxas makes of it.
#ifndef PLUMBLINE_GPU_PTX_PROFILE_HPP
#define PLUMBLINE_GPU_PTX_PROFILE_HPP

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ptx/device.hpp"

namespace plumbline::ptx {

/// Where a multiprocessor executes an instruction.
enum class Pipe : std::uint8_t {
  fp32,        ///< add, sub, mul, fma of f32
  fp16,        ///< arithmetic of f16, bf16 and their pairs
  fp64,        ///< arithmetic and comparisons of f64
  tensor,      ///< mma, wgmma
  integer,     ///< sums, logic, shifts, comparisons, selections
  multiply,    ///< mul, mad, dp4a of integers
  special,     ///< ex2, rcp, sin, popc, ...
  division,    ///< div, rem, and roots that are rounded exactly: many machine instructions
  conversion,  ///< to or from a float
  move,        ///< mov, cvta: most of them vanish in machine code
  exchange,    ///< shfl, vote, match, redux
  global,      ///< ld, st, cp.async; also where the address is generic
  shared,      ///< ld, st, ldmatrix, stmatrix
  local,
  parameter,  ///< of kernels and calls, and constants
  atomic,
  bulk,     ///< cp.async.bulk and its kin
  barrier,  ///< bar, fences, waits for copies
  control,  ///< branches, calls, ends
  other
};
inline constexpr std::size_t pipe_count = static_cast<std::size_t>(Pipe::other) + 1;
std::string_view name(Pipe pipe);

/// What was counted of one instruction, or of several.
struct Tally {
  std::uint64_t warp_instructions = 0;    ///< executed by a warp, once for all of its lanes
  std::uint64_t active_threads = 0;       ///< lanes that were there
  std::uint64_t thread_instructions = 0;  ///< lanes whose predicate was true
  std::uint64_t flops = 0;                ///< a multiply-add is two
  std::uint64_t divergent_branches = 0;   ///< after which lanes of the warp went several ways
  std::uint64_t barriers = 0;             ///< warps that came to a barrier of their block
  // Warp instructions that touch shared memory; how often the banks are asked for them, and how
  // often they would be without bank conflicts.
  std::uint64_t shared_accesses = 0, shared_transactions = 0, shared_ideal = 0;
  std::uint64_t shared_bytes_read = 0, shared_bytes_written = 0;  ///< by lanes
  // Warp instructions that touch global memory; sectors of 32 bytes that they touch, and the fewest
  // that have room for the same bytes.
  std::uint64_t global_accesses = 0, global_sectors = 0, global_ideal = 0;
  std::uint64_t global_bytes_read = 0, global_bytes_written = 0;  ///< by lanes
  std::uint64_t local_bytes_read = 0, local_bytes_written = 0;    ///< by lanes
  // Lanes' atomic operations; and of each warp instruction, the most lanes at one address.
  std::uint64_t atomics = 0, atomic_turns = 0;

  Tally& operator+=(const Tally& other);
  bool operator==(const Tally&) const = default;
};

/// The figures by their names, as files have them.
inline constexpr std::pair<std::string_view, std::uint64_t Tally::*> figures[] = {
    {"warp_instructions", &Tally::warp_instructions},
    {"active_threads", &Tally::active_threads},
    {"thread_instructions", &Tally::thread_instructions},
    {"flops", &Tally::flops},
    {"divergent_branches", &Tally::divergent_branches},
    {"barriers", &Tally::barriers},
    {"shared_accesses", &Tally::shared_accesses},
    {"shared_transactions", &Tally::shared_transactions},
    {"shared_ideal", &Tally::shared_ideal},
    {"shared_bytes_read", &Tally::shared_bytes_read},
    {"shared_bytes_written", &Tally::shared_bytes_written},
    {"global_accesses", &Tally::global_accesses},
    {"global_sectors", &Tally::global_sectors},
    {"global_ideal", &Tally::global_ideal},
    {"global_bytes_read", &Tally::global_bytes_read},
    {"global_bytes_written", &Tally::global_bytes_written},
    {"local_bytes_read", &Tally::local_bytes_read},
    {"local_bytes_written", &Tally::local_bytes_written},
    {"atomics", &Tally::atomics},
    {"atomic_turns", &Tally::atomic_turns},
};

/// An instruction of the PTX, and what was counted of it.
struct ProfiledInstruction {
  std::uint32_t ptx_line = 0;
  std::string text;    ///< as it stands in the PTX, on one line
  std::string source;  ///< FILE:LINE of the last .loc, or empty
  Pipe pipe = Pipe::other;
  Tally tally;
  bool operator==(const ProfiledInstruction&) const = default;
};

/// How many blocks of a kernel a multiprocessor has room for.
struct Occupancy {
  std::uint32_t warps_per_block = 0, warps_per_multiprocessor = 0;
  std::uint32_t registers = 0;     ///< of a thread
  bool estimated = false;          ///< the registers
  std::size_t shared_bytes = 0;    ///< of a block, with what the system takes, rounded up
  std::uint32_t blocks = 0;        ///< the least of the following
  std::uint32_t by_registers = 0;  ///< blocks that there are registers for
  std::uint32_t by_shared = 0, by_warps = 0, by_blocks = 0;
  bool operator==(const Occupancy&) const = default;

  /// "registers", "shared memory", "warps" or "blocks": what limits it, by name; several may.
  std::string limits() const;
};

/// By the limits of the properties' compute capability and CUDA's rules of allocation (CUDA C++
/// Programming Guide, "Compute Capabilities"): registers by pieces of 256 to each warp from a
/// quarter of the multiprocessor's; shared memory by pieces of 128 bytes, 256 before 8.0. A block
/// that cannot run at all has 0 blocks.
/// @param registers of a thread
/// @param shared_bytes of a block, static and dynamic
Occupancy occupancy_of(const Properties& properties, std::uint32_t threads, std::uint32_t registers,
                       std::size_t shared_bytes);

/// The registers of a thread that ptxas would give at most: KernelInfo's estimate, and no more than
/// .maxnreg or the bounds of the launch allow.
std::uint32_t registers_of(const KernelInfo& info, const Properties& properties);

/// Launches of one shape.
struct LaunchShape {
  Extent grid, block;
  std::size_t dynamic_shared_bytes = 0;
  Occupancy occupancy;
  std::uint64_t launches = 0;
  Tally tally;
  bool operator==(const LaunchShape&) const = default;
};

/// Of one kernel: of one launch, or of several.
struct Profile {
  std::string kernel;  ///< as in the PTX: mangled
  int compute_major = 0, compute_minor = 0;
  std::vector<LaunchShape> shapes;                ///< in the order of their first launches
  std::vector<ProfiledInstruction> instructions;  ///< of all shapes, in the order of the PTX
  bool operator==(const Profile&) const = default;

  /// Whether both are of the same kernel: of its name and its PTX.
  bool same_kernel(const Profile& other) const;
  /// Adds further launches of the same kernel.
  Profile& operator+=(const Profile& other);

  std::uint64_t launches() const;
  Tally total() const;
  std::array<Tally, pipe_count> by_pipe() const;
};

/// A line of the source, where the PTX has line numbers, else of the PTX.
struct ProfiledLine {
  std::string place;  ///< FILE:LINE, or "PTX line N: INSTRUCTION"
  Tally tally;
};
/// All lines that were executed. The first has the largest share of the kernel's instructions, of
/// its bank conflicts or of its sectors beyond the ideal.
std::vector<ProfiledLine> by_line(const Profile& profile);

/// For people.
/// @param lines how many lines of the source to show
std::string report(const Profile& profile, std::size_t lines = 10);
/// An object of JSON, with all of it: docs/software_device.md has the fields.
std::string json(const Profile& profile);

/// Text from which `profile_from` makes the profile again: how one process hands it to another.
std::string record(const Profile& profile);
/// @throws std::invalid_argument for what `record` has not written.
Profile profile_from(std::string_view record);

}  // namespace plumbline::ptx

#endif
