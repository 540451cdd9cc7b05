// SPDX-License-Identifier: Apache-2.0
// Shared memory of a block and its shadow: who wrote and who read each granule, and since which
// barrier.
#ifndef PLUMBLINE_GPU_PTX_MEMORY_SHARED_HPP
#define PLUMBLINE_GPU_PTX_MEMORY_SHARED_HPP

#include <cstddef>
#include <cstdint>
#include <initializer_list>

namespace plumbline::ptx {

/// Windows of generic addresses; no host allocation is there.
inline constexpr std::uint64_t shared_window = std::uint64_t{1} << 60;
inline constexpr std::uint64_t local_window = std::uint64_t{3} << 59;
inline constexpr std::uint64_t window_bytes = std::uint64_t{1} << 32;
/// The first address of .shared.
inline constexpr std::uint32_t shared_begin = 1024;

/// A stamp is EPOCH << 8 | WHO: a warp's number, or one of these.
inline constexpr std::uint32_t several = 0xff;          ///< of `read`: more than one warp
inline constexpr std::uint32_t in_flight = 0xffffff00;  ///< of `written`: of cp.async; | warp
inline constexpr std::uint32_t atomic_several = 0xfe;
/// | warp, of `read`: by a wgmma whose A it is; all four warps may tell others that it is read.
inline constexpr std::uint32_t as_a = 0x40;
inline constexpr std::uint32_t of_cluster = 0x20;  ///< | rank: a warp of that block of the cluster
/// Of `written` and `read`: by the asynchronous copies of a Transfer, whose number is added.
inline constexpr std::uint32_t transferred = 0xffffff20;
inline constexpr std::uint32_t transfers_at_once = 128;
inline constexpr std::uint32_t of_mbarrier = 0xfffffffe;  ///< of `written`: an mbarrier lies here

/// Of `written_by`: the operation, and above it how many proxy fences its warp had executed, or
/// `fenced` after them.
inline constexpr std::uint32_t operation_bits = 0xffffff;
inline constexpr std::uint32_t one_fence = 1 << 24;
inline constexpr std::uint32_t fenced = 0xff000000;
inline constexpr std::uint32_t atomic_bit = 0x80;  ///< of `written`: the warp's write was atomic

struct SharedMemory {
  std::byte* bytes = nullptr;  ///< of address shared_begin
  std::uint32_t size = 0;
  /// log2 of its bytes. It begins with 4 and shrinks at the first shorter access: many kernels have
  /// such instructions in branches that they do not take, and every check costs as much as there
  /// are granules.
  std::uint32_t granule = 2;
  std::uint32_t epoch = 1;    ///< counts barriers and arrivals, from one block to the next
  std::uint32_t barrier = 1;  ///< the epoch that the last barrier began
  /// What was accessed in earlier epochs is in order before what the running warp does. Without
  /// `by_warps` it is the epoch; with it, what warps know of one another decides from here on.
  std::uint32_t floor = 1;
  bool by_warps = false;
  /// The block's first stamp: what is below is not initialised. 0: nobody asks
  /// (Uninitialised::ones).
  std::uint32_t begin = 1 << 8;
  std::uint32_t* written = nullptr;  ///< by the last writer
  std::uint32_t* read = nullptr;
  std::uint32_t* written_by = nullptr;  ///< the operation of the last write
  /// Of granules that an ordinary store of a warp wrote last: Warp::stores << 32 | its lanes.
  std::uint64_t* lanes = nullptr;
  bool special = false;  ///< some stamps are of a Transfer or an mbarrier
};

/// Smaller granules, each with the stamps of the one that it was part of.
inline void refine(SharedMemory& s, std::uint32_t granule) {
  const std::uint32_t parts = 1u << (s.granule - granule);
  const std::uint32_t before = (s.size >> s.granule) + 1;
  for (std::uint32_t* stamps : {s.written, s.read, s.written_by})
    for (std::uint32_t i = before; stamps && i-- > 0;)
      for (std::uint32_t j = parts; j-- > 0;) stamps[i * parts + j] = stamps[i];
  for (std::uint32_t i = before; s.lanes && i-- > 0;)
    for (std::uint32_t j = parts; j-- > 0;) s.lanes[i * parts + j] = s.lanes[i];
  s.granule = granule;
}

}  // namespace plumbline::ptx

#endif
