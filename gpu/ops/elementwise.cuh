// SPDX-License-Identifier: Apache-2.0
// What kernels have in common that treat every element of an array by itself.
#ifndef PLUMBLINE_GPU_OPS_ELEMENTWISE_CUH
#define PLUMBLINE_GPU_OPS_ELEMENTWISE_CUH

#include <cstddef>
#include <stdexcept>
#include <string>

#include "core/launch.cuh"

namespace plumbline::gpu {

inline constexpr unsigned kElementwiseThreads = 256;
inline constexpr unsigned kElementwisePerThread = 4;
inline constexpr unsigned kElementwisePerBlock = kElementwiseThreads * kElementwisePerThread;

/// The block's elements, those of one thread kElementwiseThreads apart, so that neighbours in a
/// warp are neighbours in memory: `body(n)` for every n of them below `count`.
template <class Body>
__device__ __forceinline__ void for_own_elements(std::size_t count, Body body) {
  const std::size_t first = static_cast<std::size_t>(blockIdx.x) * kElementwisePerBlock;
  for (unsigned k = 0; k < kElementwisePerThread; ++k) {
    const std::size_t n = first + k * kElementwiseThreads + threadIdx.x;
    if (n < count) body(n);
  }
}

/// The launch of such a kernel over `count` >= 1 elements.
/// Throws std::invalid_argument for more than a grid can hold, 2^41 less 1024.
inline LaunchShape elementwise_shape(std::size_t count,
                                     std::source_location where = std::source_location::current()) {
  const std::size_t blocks = (count + kElementwisePerBlock - 1) / kElementwisePerBlock;
  if (blocks > 0x7fffffffu)
    throw std::invalid_argument("count is " + std::to_string(count) + ", expected below 2^41");
  return {dim3{static_cast<unsigned>(blocks)}, dim3{kElementwiseThreads}, 0, where};
}

/// Throws std::invalid_argument if an array of `count` elements has no address.
inline void require_array(const void* array, std::size_t count, const char* name) {
  if (count > 0 && !array)
    throw std::invalid_argument(std::string(name) + " is null, expected " + std::to_string(count) +
                                " elements");
}

}  // namespace plumbline::gpu

#endif
