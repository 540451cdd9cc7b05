// SPDX-License-Identifier: Apache-2.0
// What the kernels for Hopper share: the memory of a block, and how its warpgroups work together. A
// block has 128 rows, of queries or in the backward pass over keys of keys, and three warpgroups.
// The producers, the first, bring tiles of the others into a ring of stages; of the two of
// consumers each has 64 rows (wgmma_consumers.cuh).
//
// The barrier `full` of a stage says that its tiles are there: TMA's bytes, and an arrival of each
// producer, which has written what the bias knows of them; `empty`, that every consumer warp is
// done with it.
#ifndef PLUMBLINE_GPU_ATTENTION_WGMMA_MEMORY_CUH
#define PLUMBLINE_GPU_ATTENTION_WGMMA_MEMORY_CUH

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "attention/dispatch.cuh"
#include "attention/mma_bias.cuh"
#include "bias/policy.cuh"
#include "core/shared_memory.cuh"
#include "core/tma.cuh"
#include "core/wgmma.cuh"

namespace plumbline::gpu {

namespace wgmma_kernels {

inline constexpr int kProducers = 128, kConsumerGroups = 2;
inline constexpr int kThreads = kProducers + 128 * kConsumerGroups;
inline constexpr int kConsumerWarps = 4 * kConsumerGroups;
inline constexpr int kRows = kWgmmaRows * kConsumerGroups;
inline constexpr std::size_t kSharedOfHopper = 227 * 1024;
inline constexpr std::size_t kTileMemory = 208 * 1024;  // the rest is for what the bias knows

/// A tile on which a group of consumers works by itself (BlockTile).
template <int queries, int keys>
struct GroupTile {
  static constexpr int kQueries = queries, kKeys = keys;

  __device__ static int thread() { return static_cast<int>(threadIdx.x) % 128; }
#if PLUMBLINE_ON_GPU
  /// Barriers 4 and 5 of the block.
  __device__ static void meet() {
    asm volatile("bar.sync %0, 128;" ::"r"(3 + static_cast<int>(threadIdx.x) / 128) : "memory");
  }
#endif
};

/// What the bias knows of a stage's queries and `keys` keys, as MmaBiasTile tells it.
template <class Bias, int keys>
struct BiasOfStage {
  using Of = InTile<Bias>;

  const float* entries;
  const typename Of::Row* rows;
  const typename Of::Key* of_keys;

  __device__ __forceinline__ float entry(int query, int key) const {
    if constexpr (Bias::kHasEntry)
      return entries[query - key + keys - 1];
    else
      return 0.0f;
  }
  __device__ __forceinline__ typename Of::Row row(int n) const {
    if constexpr (!std::is_empty_v<typename Of::Row>)
      return rows[n];
    else
      return {};
  }
  __device__ __forceinline__ typename Of::Key key(int n) const {
    if constexpr (!std::is_empty_v<typename Of::Key>)
      return of_keys[n];
    else
      return {};
  }
};

/// What the bias knows of the block's queries, in each stage's tile where the family has a base
/// (InTile), of a stage's `keys` keys, and of the entries of the offsets between them.
template <class Bias, int keys, int stages>
struct StagedBias {
  static constexpr int kEntries = Bias::kHasEntry ? kRows + keys : 0;
  static constexpr int kBiasRows = std::is_empty_v<typename Bias::Row> ? 0 : kRows;
  static constexpr int kBiasKeys = std::is_empty_v<typename Bias::Key> ? 0 : keys;
  using Of = InTile<Bias>;
  static constexpr bool kHasBase = !std::is_empty_v<typename Of::Base>;
  static constexpr int kRowSets = kHasBase ? stages : 1;

  float* all_entries;          // [stages, kEntries]
  typename Of::Row* all_rows;  // [kRowSets, kBiasRows]
  typename Of::Key* all_keys;  // [stages, kBiasKeys]
  float* factors;              // [kRows]: what make_logits() takes of a row

  __device__ explicit StagedBias(SharedMemory& shared)
      : all_entries(shared.take<float>(stages * kEntries)),
        all_rows(shared.take<typename Of::Row>(kRowSets * kBiasRows)),
        all_keys(shared.take<typename Of::Key>(stages * kBiasKeys)),
        factors(shared.take<float>(kRows)) {}

  static constexpr std::size_t bytes() {
    return shared_bytes<float>(stages * kEntries) +
           shared_bytes<typename Of::Row>(kRowSets * kBiasRows) +
           shared_bytes<typename Of::Key>(stages * kBiasKeys) + shared_bytes<float>(kRows);
  }

  __device__ float* entries(int stage) const { return all_entries + stage * kEntries; }
  __device__ typename Of::Key* keys_of(int stage) const { return all_keys + stage * kBiasKeys; }
  __device__ typename Of::Row* rows_of(int stage) const {
    return all_rows + (kHasBase ? stage * kBiasRows : 0);
  }

  /// As make_logits() reads it.
  struct Stage {
    BiasOfStage<Bias, keys> bias;
    const float* factors;

    __device__ __forceinline__ float factor(int row) const { return factors[row]; }
  };
  __device__ __forceinline__ Stage stage(int n) const {
    return {{entries(n), rows_of(n), keys_of(n)}, factors};
  }
};

/// For Shared.
template <class Bias, int keys>
struct BiasOfKeys {
  template <int stages>
  using Staged = StagedBias<Bias, keys, stages>;
};

/// `arrays` arrays of rows, of which a consumer group has 64 each, and stages, `most_stages` where
/// there is room, of two tiles of `staged_rows` rows: keys and values, or queries and dO.
/// BiasOf::Staged: what else a stage has.
template <int D, int arrays, int staged_rows, class BiasOf, int most_stages = 4>
struct Shared {
  using RowTile = SwizzledTile<kWgmmaRows, D>;
  using StagedTile = SwizzledTile<staged_rows, D>;
  static constexpr int kStagedRows = staged_rows;
  static constexpr std::uint32_t kRowBytes = arrays * kConsumerGroups * RowTile::kBytes;
  static constexpr std::uint32_t kStageBytes = 2 * StagedTile::kBytes;
  static constexpr int kStages =
      std::min<int>(most_stages, static_cast<int>((kTileMemory - kRowBytes) / kStageBytes));
  static_assert(kStages >= 2);
  static constexpr std::size_t kTileBytes = kRowBytes + kStages * kStageBytes;
  static constexpr std::size_t kBarriers = 2 * kStages + 1;
  using OfBias = typename BiasOf::template Staged<kStages>;

  unsigned char* tiles;
  std::uint64_t* barriers;
  OfBias bias;

  __device__ explicit Shared(SharedMemory& memory)
      : tiles(aligned(memory.take<unsigned char>(kTileBytes + StagedTile::kAlignment))),
        barriers(memory.take<std::uint64_t>(kBarriers)),
        bias(memory) {}

  static constexpr std::size_t bytes() {
    return shared_bytes<unsigned char>(kTileBytes + StagedTile::kAlignment) +
           shared_bytes<std::uint64_t>(kBarriers) + OfBias::bytes();
  }
  static_assert(bytes() <= kSharedOfHopper);

  __device__ RowTile rows(int array, int group) const {
    return {tiles + (array * kConsumerGroups + group) * RowTile::kBytes};
  }
  __device__ StagedTile first(int stage) const { return {tiles + kRowBytes + stage * kStageBytes}; }
  __device__ StagedTile second(int stage) const {
    return {first(stage).bytes + StagedTile::kBytes};
  }
  __device__ PhaseBarrier full(int stage) const { return {barriers + stage}; }
  __device__ PhaseBarrier empty(int stage) const { return {barriers + kStages + stage}; }
  /// TMA's bytes of tiles of which rows are to be cleared.
  __device__ PhaseBarrier copied() const { return {barriers + 2 * kStages}; }

#if PLUMBLINE_ON_GPU
  /// By all threads of the block, before anything else.
  __device__ void start_barriers() const {
    if (threadIdx.x == 0) {
      for (int stage = 0; stage < kStages; ++stage) {
        full(stage).start(kProducers + 1);  // and that of TMA's bytes
        empty(stage).start(kConsumerWarps);
      }
      copied().start(1);
      PhaseBarrier::fence_start();
    }
    __syncthreads();
  }
#endif

 private:
  __device__ static unsigned char* aligned(unsigned char* from) {
#if PLUMBLINE_ON_GPU
    const auto address = static_cast<std::uint32_t>(__cvta_generic_to_shared(from));
    from += -address & (StagedTile::kAlignment - 1);
#endif
    return from;
  }
};

#if PLUMBLINE_ON_GPU
/// Registers of a thread, in eights: together no more than 384 times the 168 of the launch. Entries
/// of distances take the producers some.
struct Registers {
  int of_producer, of_consumer;
};
template <class Bias>
inline constexpr Registers kRegisters = Bias::kHasEntry ? Registers{56, 224} : Registers{40, 232};

template <class Bias>
__device__ __forceinline__ void become_producer() {
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(kRegisters<Bias>.of_producer));
}
template <class Bias>
__device__ __forceinline__ void become_consumer() {
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(kRegisters<Bias>.of_consumer));
}

/// As plumbline::gpu::dispatch, for the head dimensions whose rows are whole columns of a tile.
template <class Variant, class... More>
void dispatch(const Stream& stream, const Task& task, const More&... more) {
  const auto run = [&]<int D>() {
    if constexpr (D % 64 == 0)
      dispatch_bias<Variant, D>(stream, task, more...);
    else
      throw std::invalid_argument("head dimension must be a multiple of 64");
  };
  if (!with_head_dim(task.head_dim, run))
    throw std::invalid_argument("head dimension must be one of " + list_of(HeadDims{}));
}

#endif

}  // namespace wgmma_kernels

}  // namespace plumbline::gpu

#endif
