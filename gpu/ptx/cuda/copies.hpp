// SPDX-License-Identifier: Apache-2.0
// Copies and settings of memory, as work for a stream.
#ifndef PLUMBLINE_GPU_PTX_CUDA_COPIES_HPP
#define PLUMBLINE_GPU_PTX_CUDA_COPIES_HPP

#include <cstddef>
#include <cstdint>

#include "ptx/cuda/process.hpp"

namespace plumbline::ptx::cuda {

/// `depth` slices of `height` rows of `width` bytes. A slice begins so many bytes after the last.
struct Box {
  std::size_t width = 0, height = 1, depth = 1;
  std::size_t to_pitch = 0, from_pitch = 0;  ///< bytes from one row to the next
  std::size_t to_slice = 0, from_slice = 0;
};

/// Which side is the device's; the addresses tell where CopyKind::by_address leaves it open. Throws
/// Failure for rows that overlap, and for null.
void copy(Process& process, const Stream* stream, void* to, const void* from, const Box& box,
          CopyKind kind);

/// Bytes from one row to the next of cudaMallocPitch and cuMemAllocPitch.
inline std::size_t pitch_of(std::size_t width) { return (width + 511) / 512 * 512; }

/// `value` has `width` bytes (1, 2, 4); `columns` of them in each of `rows`, whose beginnings are
/// `pitch` bytes apart.
struct Pattern {
  std::uint32_t value = 0;
  std::size_t width = 1, columns = 0, rows = 1, pitch = 0;
};
/// Throws Failure for addresses that are not multiples of `width`.
void set(Process& process, const Stream* stream, Address to, const Pattern& pattern);

}  // namespace plumbline::ptx::cuda

#endif
