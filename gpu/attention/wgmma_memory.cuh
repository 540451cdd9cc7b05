// SPDX-License-Identifier: Apache-2.0
// The shared memory of a block of the forward pass for Hopper.
#ifndef PLUMBLINE_GPU_ATTENTION_WGMMA_MEMORY_CUH
#define PLUMBLINE_GPU_ATTENTION_WGMMA_MEMORY_CUH

#include <cstdint>
#include <type_traits>

#include "bias/policy.cuh"
#include "core/shared_memory.cuh"
#include "core/tma.cuh"
#include "core/wgmma.cuh"

namespace plumbline::gpu {

namespace wgmma_kernels {

inline constexpr int kProducers = 128, kConsumerGroups = 2;
inline constexpr int kThreads = kProducers + 128 * kConsumerGroups;
inline constexpr int kConsumerWarps = 4 * kConsumerGroups;
inline constexpr int kQueries = kWgmmaRows * kConsumerGroups, kKeys = 128;

/// What the bias knows of the block's queries, and of a stage's keys and of the entries of the
/// offsets between them. A producer has a row and a key, and of the entries the n-th and the one
/// kKeys after it: from one tile to the next, from the last keys to the first, offsets grow by
/// kKeys, so that the latter becomes the former.
template <class Bias, int kStages>
struct StagedBias {
  static constexpr int kEntries = Bias::kHasEntry ? kQueries + kKeys : 0;
  static constexpr int kBiasRows = std::is_empty_v<typename Bias::Row> ? 0 : kQueries;
  static constexpr int kBiasKeys = std::is_empty_v<typename Bias::Key> ? 0 : kKeys;
  static_assert(kQueries == kProducers && kKeys == kProducers);

  float* entries;  // [kStages, kEntries]
  typename Bias::Row* rows;
  typename Bias::Key* keys;  // [kStages, kBiasKeys]
  float* factors;            // [kQueries]: what make_logits() takes of a row

  __device__ explicit StagedBias(SharedMemory& shared)
      : entries(shared.take<float>(kStages * kEntries)),
        rows(shared.take<typename Bias::Row>(kBiasRows)),
        keys(shared.take<typename Bias::Key>(kStages * kBiasKeys)),
        factors(shared.take<float>(kQueries)) {}

  static constexpr std::size_t bytes() {
    return shared_bytes<float>(kStages * kEntries) + shared_bytes<typename Bias::Row>(kBiasRows) +
           shared_bytes<typename Bias::Key>(kStages * kBiasKeys) + shared_bytes<float>(kQueries);
  }

  struct OfStage {
    const float* entries;
    const typename Bias::Row* rows;
    const typename Bias::Key* keys;

    __device__ __forceinline__ float entry(int row, int key) const {
      if constexpr (kEntries > 0)
        return entries[row - key + kKeys - 1];
      else
        return 0.0f;
    }
    __device__ __forceinline__ typename Bias::Row row(int n) const {
      if constexpr (kBiasRows > 0)
        return rows[n];
      else
        return {};
    }
    __device__ __forceinline__ typename Bias::Key key(int n) const {
      if constexpr (kBiasKeys > 0)
        return keys[n];
      else
        return {};
    }
  };

  /// A stage as make_logits() reads it.
  struct Stage {
    OfStage bias;
    const float* factors;

    __device__ __forceinline__ float factor(int row) const { return factors[row]; }
  };
  __device__ __forceinline__ Stage stage(int n) const {
    return {{entries + n * kEntries, rows, keys + n * kBiasKeys}, factors};
  }
};

/// A block's shared memory.
template <int D, class Bias>
struct Shared {
  static constexpr int kStages = D <= 64 ? 4 : 2;
  using QueryTile = SwizzledTile<kWgmmaRows, D>;
  using KeyTile = SwizzledTile<kKeys, D>;
  using OfBias = StagedBias<Bias, kStages>;
  static constexpr std::size_t kTileBytes =
      kConsumerGroups * QueryTile::kBytes + 2 * kStages * KeyTile::kBytes;
  static constexpr std::size_t kBarriers = 2 * kStages + 1;

  unsigned char* tiles;
  std::uint64_t* barriers;
  OfBias bias;

  __device__ explicit Shared(SharedMemory& memory)
      : tiles(aligned(memory.take<unsigned char>(kTileBytes + KeyTile::kAlignment))),
        barriers(memory.take<std::uint64_t>(kBarriers)),
        bias(memory) {}

  static constexpr std::size_t bytes() {
    return shared_bytes<unsigned char>(kTileBytes + KeyTile::kAlignment) +
           shared_bytes<std::uint64_t>(kBarriers) + OfBias::bytes();
  }

  __device__ QueryTile q(int group) const { return {tiles + group * QueryTile::kBytes}; }
  __device__ KeyTile k(int stage) const {
    return {tiles + kConsumerGroups * QueryTile::kBytes + 2 * stage * KeyTile::kBytes};
  }
  __device__ KeyTile v(int stage) const { return {k(stage).bytes + KeyTile::kBytes}; }
  __device__ PhaseBarrier full(int stage) const { return {barriers + stage}; }
  __device__ PhaseBarrier empty(int stage) const { return {barriers + kStages + stage}; }
  /// TMA's bytes of a tile of which rows of v are to be cleared.
  __device__ PhaseBarrier copied() const { return {barriers + 2 * kStages}; }

 private:
  __device__ static unsigned char* aligned(unsigned char* from) {
#if PLUMBLINE_ON_GPU
    const auto address = static_cast<std::uint32_t>(__cvta_generic_to_shared(from));
    from += -address & (KeyTile::kAlignment - 1);
#endif
    return from;
  }
};

}  // namespace wgmma_kernels

}  // namespace plumbline::gpu

#endif
