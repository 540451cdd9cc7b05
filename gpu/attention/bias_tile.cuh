// SPDX-License-Identifier: Apache-2.0
// Sizes of a tile, and what the bias knows of one.
#ifndef PLUMBLINE_GPU_ATTENTION_BIAS_TILE_CUH
#define PLUMBLINE_GPU_ATTENTION_BIAS_TILE_CUH

#include <source_location>
#include <type_traits>

#include "attention/dispatch.cuh"
#include "core/shared_memory.cuh"
#include "core/warp.cuh"

namespace plumbline::gpu {

inline constexpr int kTileQueries = 32;
inline constexpr int kTileKeys = 32;
inline constexpr int kLanesPerRow = 4;
inline constexpr int kTileThreads = kTileQueries * kLanesPerRow;
inline constexpr int kKeysPerLane = kTileKeys / kLanesPerRow;

/// A tile on which a block works with all of its threads.
struct BlockTile {
  static constexpr int kQueries = kTileQueries, kKeys = kTileKeys;

  __device__ static int thread() { return static_cast<int>(threadIdx.x); }
#if PLUMBLINE_ON_GPU
  __device__ static void meet() { __syncthreads(); }
#else
  static void meet(std::source_location where = std::source_location::current()) {
    __syncthreads(where);
  }
#endif
};

/// P of a key that the row does not see. Never multiplied with V, which may hold an infinity there.
inline constexpr float kInvisible = -1.0f;

/// Over the four lanes of a row.
__device__ inline float row_maximum(float x) {
  return butterfly<1, 2>(x, [](float a, float b) { return fmaxf(a, b); });
}

__device__ inline float row_sum(float x) {
  return butterfly<1, 2>(x, [](float a, float b) { return a + b; });
}

/// What the bias knows of the tile: the entries of the 63 offsets between its queries and keys, and
/// its keys.
template <class Bias>
struct BiasTile {
  static constexpr int kEntries = Bias::kHasEntry ? kTileQueries + kTileKeys : 0;
  static constexpr int kKeys = std::is_empty_v<typename Bias::Key> ? 0 : kTileKeys;

  float* entries;
  typename Bias::Key* keys;

  __device__ explicit BiasTile(SharedMemory& shared)
      : entries(shared.take<float>(kEntries)), keys(shared.take<typename Bias::Key>(kKeys)) {}

  static constexpr std::size_t bytes() {
    return shared_bytes<float>(kEntries) + shared_bytes<typename Bias::Key>(kKeys);
  }

  /// For the queries from `first_position` on and the keys from `begin` on; those from `end` on are
  /// not looked at.
  __device__ void load(const typename Bias::Params& params, At at, int first_position, int begin,
                       int end) const {
    const int thread = static_cast<int>(threadIdx.x);
    if (thread < kEntries)
      entries[thread] = Bias::entry(params, place_of_head<Bias>(params, at.batch, at.head),
                                    first_position - begin + thread - (kTileKeys - 1));
    if (thread < kKeys && begin + thread < end)
      keys[thread] = Bias::load_key(params, at, begin + thread);
  }

  __device__ float value(const typename Bias::Params& params, int head,
                         const typename Bias::Row& row, int row_in_tile, int key_in_tile) const {
    return Bias::value(params, head, row, kKeys > 0 ? keys[key_in_tile] : typename Bias::Key{},
                       kEntries > 0 ? entries[row_in_tile - key_in_tile + kTileKeys - 1] : 0.0f);
  }
};

}  // namespace plumbline::gpu

#endif
