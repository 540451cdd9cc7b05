// SPDX-License-Identifier: Apache-2.0
#ifndef PLUMBLINE_GPU_CORE_SHARED_MEMORY_CUH
#define PLUMBLINE_GPU_CORE_SHARED_MEMORY_CUH

#include <cstddef>
#include <source_location>

#include "core/cuda.cuh"

namespace plumbline::gpu {

/// Shared memory that a block may have on every GPU from compute capability 8.0 on. What needs
/// more, the device is asked for (shared_memory_of_block).
inline constexpr std::size_t kSharedOfAnyGpu = 99 * 1024;

/// Bytes that a shared array of `count` values takes; their sum is what the launch must give.
template <class T>
__host__ __device__ constexpr std::size_t shared_bytes(std::size_t count) {
  return (count * sizeof(T) + 15) / 16 * 16;
}

/// The block's shared memory, handed out array by array, each on a 16-byte boundary. Every thread
/// takes the same arrays in the same order and so gets the same addresses.
class SharedMemory {
 public:
#if PLUMBLINE_ON_GPU
  template <class T>
  __device__ T* take(std::size_t count) {
    extern __shared__ float4 plumbline_shared_memory[];
    T* array = reinterpret_cast<T*>(reinterpret_cast<char*>(plumbline_shared_memory) + offset_);
    offset_ += shared_bytes<T>(count);
    return array;
  }
#else
  template <class T>
  T* take(std::size_t count, std::source_location where = std::source_location::current()) {
    return static_cast<T*>(emulation::shared_array(used_, offset_, count * sizeof(T), where));
  }
#endif

 private:
#if !PLUMBLINE_ON_GPU
  std::size_t used_ = 0;
#endif
  std::size_t offset_ = 0;
};

}  // namespace plumbline::gpu

#endif
