// SPDX-License-Identifier: Apache-2.0
// cp.async: copies from global to shared memory behind a thread's back. A thread issues copies,
// closes groups of them, waits for its own groups, and a barrier then shows the data to the others.
// Between issue and wait the destination is undefined.
#ifndef PLUMBLINE_GPU_CORE_CP_ASYNC_CUH
#define PLUMBLINE_GPU_CORE_CP_ASYNC_CUH

#include <cstdint>
#include <cstring>
#include <source_location>

#include "core/cuda.cuh"

namespace plumbline::gpu {

#if PLUMBLINE_ON_GPU

/// Copies the first `bytes` of 16 bytes and fills the others with zeros. Both addresses lie on
/// 16-byte boundaries; with bytes = 0 `global` is not read.
__device__ __forceinline__ void cp_async_16(void* shared, const void* global, int bytes = 16) {
  const auto address = static_cast<std::uint32_t>(__cvta_generic_to_shared(shared));
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;"
               :
               : "r"(address), "l"(__cvta_generic_to_global(global)), "r"(bytes)
               : "memory");
}

/// Closes the group of the copies issued since the last one.
__device__ __forceinline__ void cp_async_commit() {
  asm volatile("cp.async.commit_group;" : : : "memory");
}

/// Waits until at most the `pending` youngest groups of this thread are under way.
template <int pending>
__device__ __forceinline__ void cp_async_wait() {
  asm volatile("cp.async.wait_group %0;" : : "n"(pending) : "memory");
}

#else

// The destination is NaN from the issue on and the copy is made at the wait: whoever reads too
// early, or writes over data still in use, gets wrong numbers, and ThreadSanitizer sees both
// accesses as the kernel's own.

inline void cp_async_16(void* shared, const void* global, int bytes = 16,
                        std::source_location where = std::source_location::current()) {
  if (reinterpret_cast<std::uintptr_t>(shared) % 16 != 0 ||
      reinterpret_cast<std::uintptr_t>(global) % 16 != 0 || bytes < 0 || bytes > 16)
    throw emulation::Error(emulation::text(where) +
                           ": cp.async: an address off the 16-byte boundary, or no 0 .. 16 bytes");
  constexpr std::uint64_t undefined[2] = {0x7fff7fff7fff7fffu, 0x7fff7fff7fff7fffu};
  std::memcpy(shared, undefined, 16);
  emulation::async_copy_issue({shared, global, bytes});
}

inline void cp_async_commit() { emulation::async_copy_commit(); }

template <int pending>
void cp_async_wait() {
  emulation::AsyncCopy copy;
  while (emulation::async_copy_next(pending, copy)) {
    char data[16] = {};
    std::memcpy(data, copy.from, static_cast<std::size_t>(copy.bytes));
    std::memcpy(copy.to, data, 16);
  }
}

#endif

}  // namespace plumbline::gpu

#endif
