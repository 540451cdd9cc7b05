// SPDX-License-Identifier: Apache-2.0
// Warp-wide exchanges. All 32 threads must take part. Each has an emulated counterpart: an exchange
// among 32 fibers.
#ifndef PLUMBLINE_GPU_CORE_WARP_CUH
#define PLUMBLINE_GPU_CORE_WARP_CUH

#include <cstdint>
#include <cstring>
#include <source_location>

#include "core/cuda.cuh"

namespace plumbline::gpu {

inline constexpr unsigned kWarpSize = 32;
inline constexpr int kLanes = static_cast<int>(kWarpSize);
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

/// The value of a lane.
template <class T>
__device__ T shuffle(T value, int lane) {
  return __shfl_sync(kAllLanes, value, lane);
}

/// The value of lane (own lane - delta), or the own value where there is no such lane.
template <class T>
__device__ T shuffle_up(T value, unsigned delta) {
  return __shfl_up_sync(kAllLanes, value, delta);
}

/// Of how many lanes it holds.
__device__ inline int lanes_count(bool holds) { return __popc(__ballot_sync(kAllLanes, holds)); }

/// value = combine(value, that of lane (own lane xor mask)) for each of the masks in turn.
template <unsigned... masks, class T, class Combine>
__device__ T butterfly(T value, Combine combine) {
  ((value = combine(value, shuffle_xor(value, masks))), ...);
  return value;
}

/// The sum of the lanes up to the own one: with those 1, 2, 4, ... below, one after the other.
template <class T>
__device__ T lanes_scan(T value) {
  for (unsigned delta = 1; delta < kWarpSize; delta *= 2) {
    const T lower = shuffle_up(value, delta);
    if (lane_index() >= delta) value += lower;
  }
  return value;
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
T shuffle(T value, int lane, std::source_location where = std::source_location::current()) {
  return shuffle_from(value, static_cast<unsigned>(lane), where);
}

template <class T>
T shuffle_up(T value, unsigned delta,
             std::source_location where = std::source_location::current()) {
  const unsigned lane = lane_index();
  return shuffle_from(value, lane >= delta ? lane - delta : lane, where);
}

// The same in one meeting of the lanes instead of five: a switch of fibers costs more than
// everything that is computed.

/// Called once with all lanes' values. As in CUDA the exchange orders no memory, so that what it
/// reads and writes of other lanes is no race to ThreadSanitizer.
template <class T, class Steps>
__attribute__((no_sanitize("thread"))) void combine_lanes_of(void* const* lanes) {
  T values[kWarpSize];
  for (unsigned lane = 0; lane < kWarpSize; ++lane)
    std::memcpy(&values[lane], lanes[lane], sizeof(T));
  Steps::apply(values);
  for (unsigned lane = 0; lane < kWarpSize; ++lane)
    std::memcpy(lanes[lane], &values[lane], sizeof(T));
}

template <class T, class Combine, unsigned... masks>
struct ButterflySteps {
  static void apply(T* values) { (step(values, masks), ...); }
  static void step(T* values, unsigned mask) {
    T other[kWarpSize];
    for (unsigned lane = 0; lane < kWarpSize; ++lane) other[lane] = values[lane ^ mask];
    for (unsigned lane = 0; lane < kWarpSize; ++lane)
      values[lane] = Combine()(values[lane], other[lane]);
  }
};

template <class T>
struct ScanSteps {
  static void apply(T* values) {
    for (unsigned delta = 1; delta < kWarpSize; delta *= 2)
      for (unsigned lane = kWarpSize - 1; lane >= delta; --lane)
        values[lane] += values[lane - delta];
  }
};

template <unsigned... masks, class T, class Combine>
T butterfly(T value, Combine, std::source_location where = std::source_location::current()) {
  emulation::warp_collective(&value, combine_lanes_of<T, ButterflySteps<T, Combine, masks...> >,
                             where);
  return value;
}

inline int lanes_count(bool holds, std::source_location where = std::source_location::current()) {
  return butterfly<1, 2, 4, 8, 16>(
      holds ? 1 : 0, [](int a, int b) { return a + b; }, where);
}

template <class T>
T lanes_scan(T value, std::source_location where = std::source_location::current()) {
  emulation::warp_collective(&value, combine_lanes_of<T, ScanSteps<T> >, where);
  return value;
}

#endif

}  // namespace plumbline::gpu

#endif
