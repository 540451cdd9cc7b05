// SPDX-License-Identifier: Apache-2.0
// Shared memory of a block and its shadow: who wrote and who read each granule, and since which
// barrier.
#ifndef PLUMBLINE_GPU_PTX_MEMORY_SHARED_HPP
#define PLUMBLINE_GPU_PTX_MEMORY_SHARED_HPP

#include <cstddef>
#include <cstdint>

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
inline constexpr std::uint32_t atomic_bit = 0x80;  ///< of `written`: the warp's write was atomic

struct SharedMemory {
  std::byte* bytes = nullptr;  ///< of address shared_begin
  std::uint32_t size = 0;
  std::uint32_t granule = 2;         ///< log2 of its bytes
  std::uint32_t epoch = 1;           ///< counts barriers, from one block to the next
  std::uint32_t begin = 1 << 8;      ///< the block's first stamp: what is below is not initialised
  std::uint32_t* written = nullptr;  ///< by the last writer
  std::uint32_t* read = nullptr;
  std::uint32_t* written_by = nullptr;  ///< the operation of the last write
};

}  // namespace plumbline::ptx

#endif
