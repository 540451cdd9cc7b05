// SPDX-License-Identifier: Apache-2.0
// Warp-wide exchanges. All 32 threads must take part. Each has an emulated twin: an exchange among
// 32 fibers.
#ifndef PLUMBLINE_GPU_CORE_WARP_CUH
#define PLUMBLINE_GPU_CORE_WARP_CUH

#include <cstdint>
#include <cstring>
#include <source_location>

#include "core/cuda.cuh"

namespace plumbline::gpu {

inline constexpr unsigned kWarpSize = 32;
inline constexpr unsigned kAllLanes = 0xffffffffu;

/// Warps are cut from the block's linear thread index, x fastest.
__device__ inline unsigned lane_index() {
  return (threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z)) % kWarpSize;
}

#if PLUMBLINE_ON_GPU

/// The value of lane (own lane xor mask).
template <class T>
__device__ T shuffle_xor(T value, unsigned mask) {
  return __shfl_xor_sync(kAllLanes, value, static_cast<int>(mask));
}

/// The value of lane (own lane - delta), or the own value where there is no such lane.
template <class T>
__device__ T shuffle_up(T value, unsigned delta) {
  return __shfl_up_sync(kAllLanes, value, delta);
}

#else

template <class T>
T shuffle_from(T value, unsigned lane, std::source_location where) {
  static_assert(sizeof(T) <= sizeof(std::uint64_t));
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof value);
  bits = emulation::warp_exchange(bits, lane, where);
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

template <class T>
T shuffle_xor(T value, unsigned mask,
              std::source_location where = std::source_location::current()) {
  return shuffle_from(value, lane_index() ^ mask, where);
}

template <class T>
T shuffle_up(T value, unsigned delta,
             std::source_location where = std::source_location::current()) {
  const unsigned lane = lane_index();
  return shuffle_from(value, lane >= delta ? lane - delta : lane, where);
}

#endif

}  // namespace plumbline::gpu

#endif
