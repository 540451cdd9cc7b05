// SPDX-License-Identifier: Apache-2.0
// The producers of the kernels for Hopper: those of keys and values, for kernels over queries. For
// compute_90a alone.
#ifndef PLUMBLINE_GPU_ATTENTION_WGMMA_PRODUCERS_CUH
#define PLUMBLINE_GPU_ATTENTION_WGMMA_PRODUCERS_CUH

#include <type_traits>

#include "attention/mma_rows.cuh"
#include "attention/wgmma_memory.cuh"

#if PLUMBLINE_ON_GPU
namespace plumbline::gpu {

namespace wgmma_kernels {

/// A producer knows of the block's rows, and has none.
using ProducerRows = MmaRows<1, kConsumerWarps>;
static_assert(ProducerRows::kQueries == kRows && kProducers == kMmaThreads);

/// The tiles of keys that a block visits, from the last to the first: most biases fall with the
/// distance, so that the largest logits come first. Tile n has the keys begin(n) ... , a multiple
/// of kMultiple.
template <int kKeys, int kMultiple = 1>
struct KeyTiles {
  KeyRange keys;
  int count;

  __device__ explicit KeyTiles(const KeyRange& of_block)
      : keys{of_block.begin / kMultiple * kMultiple, of_block.end},
        count((max(keys.end - keys.begin, 0) + kKeys - 1) / kKeys) {}

  __device__ int begin(int n) const { return keys.begin + (count - 1 - n) * kKeys; }
};

/// Between the producers.
__device__ __forceinline__ void producers_meet() { asm volatile("bar.sync 3, 128;" ::: "memory"); }

/// The entries of a tile's `count` offsets, from `offset` on. From one tile to the next offsets
/// grow by `step`: but for a first tile, most entries stand in the stage before.
template <class Bias, int count, int step>
__device__ __forceinline__ void write_entries(const typename Bias::Params& params, int head,
                                              int offset, bool is_first, float* entries,
                                              const float* before) {
  producers_meet();  // the entries before are there
#pragma unroll 1
  for (int n = static_cast<int>(threadIdx.x); n < count; n += kProducers)
    entries[n] =
        !is_first && n + step < count ? before[n + step] : Bias::entry(params, head, offset + n);
}

/// What the bias knows of the tile of keys from `begin` on. `row`: this thread's query.
template <class Bias, class Memory>
__device__ __forceinline__ void write_bias(const Memory& shared,
                                           const typename Bias::Params& params, const At& first,
                                           const typename Bias::Row& row, int begin, int end,
                                           int stage, bool is_first) {
  using OfBias = typename Memory::OfBias;
  constexpr int kKeys = Memory::kStagedRows, kStages = Memory::kStages;
  const int thread = static_cast<int>(threadIdx.x);
  if constexpr (OfBias::kBiasKeys > 0) {
    const auto base = InTile<Bias>::base(params, first, begin);
    if (thread < kKeys)
      shared.bias.keys_of(stage)[thread] =
          InTile<Bias>::load_key(params, first, min(begin + thread, end - 1), base);
    if constexpr (OfBias::kHasBase)
      shared.bias.rows_of(stage)[thread] = InTile<Bias>::row(row, base);
  }
  if constexpr (OfBias::kEntries > 0)
    write_entries<Bias, OfBias::kEntries, kKeys>(
        params, first.head, first.position - begin - (kKeys - 1), is_first,
        shared.bias.entries(stage), shared.bias.entries((stage + kStages - 1) % kStages));
}

/// Brings all tiles of keys and values. By one thread: copy_rows(barrier, rows), the rows that
/// stay; copy_keys(barrier, stage, begin, matrix), the two tiles of the keys from `begin` on. The
/// tile `cleared` of a stage, keys or values, is one of which no number may be NaN where nobody
/// sees the key: it meets P or dZ = 0, and 0 NaN would not be 0. Null: none is.
template <class Bias, int kMultiple = 1, class Memory, class CopyRows, class CopyKeys>
__device__ __forceinline__ void produce(
    const Memory& shared, const Problem& problem, const typename Bias::Params& params,
    CopyRows copy_rows, CopyKeys copy_keys,
    std::type_identity_t<typename Memory::StagedTile (Memory::*)(int) const> cleared) {
  constexpr int kKeys = Memory::kStagedRows;
  const ProducerRows rows(problem);
  const KeyTiles<kKeys, kMultiple> tiles(rows.block_range);
  const int thread = static_cast<int>(threadIdx.x);
  const int matrix = rows.b * problem.kv_heads + problem.kv_head_of(rows.head);
  const At first = rows.first();
  const int row = min(thread, rows.count - 1);
  typename Bias::Row own{};
  if constexpr (Memory::OfBias::kBiasRows > 0) {
    own = Bias::load_row(params, {first.batch, first.head, first.row + row, first.position + row});
    if constexpr (!Memory::OfBias::kHasBase)
      shared.bias.rows_of(0)[thread] = InTile<Bias>::row(own, {});
  }
  shared.bias.factors[thread] = problem.log2_logit_factor(rows.b, rows.head, rows.first_row + row);

#pragma unroll 1
  for (int n = 0; n < tiles.count; ++n) {
    const int stage = n % Memory::kStages, begin = tiles.begin(n);
    shared.empty(stage).wait((n / Memory::kStages & 1) ^ 1);
    const bool clears = cleared && (begin + kKeys > tiles.keys.end || problem.mask.documents);
    const PhaseBarrier copied = clears ? shared.copied() : shared.full(stage);
    if (thread == 0) {
      copied.arrive_and_expect(n == 0 ? Memory::kStageBytes + Memory::kRowBytes
                                      : Memory::kStageBytes);
      if (clears) shared.full(stage).arrive();
      if (n == 0) copy_rows(copied, rows);
      copy_keys(copied, stage, begin, matrix);
    }
    write_bias<Bias>(shared, params, first, own, begin, tiles.keys.end, stage, n == 0);
    if (clears) {
      copied.wait(n & 1);  // without documents n is 0: a tile of the last keys
      producers_meet();    // before the next phase begins
      if (problem.mask.documents)
        rows.template clear_unseen<kKeys>((shared.*cleared)(stage), problem, begin);
      else if (thread < kKeys && begin + thread >= tiles.keys.end)
        (shared.*cleared)(stage).clear_row(thread, 0, 1);
      fence_for_copies();
    }
    shared.full(stage).arrive();
  }
}

}  // namespace wgmma_kernels

}  // namespace plumbline::gpu
#endif

#endif
