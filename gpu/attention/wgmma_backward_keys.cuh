// SPDX-License-Identifier: Apache-2.0
// The backward pass over keys for Hopper: the arithmetic of mma_backward_keys.cuh with products by
// wgmma and copies by TMA, for 128 keys a block and 64 or 32 queries at a time (wgmma_memory.cuh).
// The products are S' = K Q' and dP' = V dO', then dV += P' dO and dK += dZ' Q, with P' and dZ' in
// registers. For compute_90a alone.
#ifndef PLUMBLINE_GPU_ATTENTION_WGMMA_BACKWARD_KEYS_CUH
#define PLUMBLINE_GPU_ATTENTION_WGMMA_BACKWARD_KEYS_CUH

#include "attention/backward_kernels.cuh"
#include "attention/mma_backward_keys.cuh"
#include "attention/wgmma_consumers.cuh"
#include "attention/wgmma_producers.cuh"

namespace plumbline::gpu {

namespace wgmma_kernels {

using mma_kernels::BackwardKeysPlace;
using mma_kernels::MaskedQuery;
using mma_kernels::PlainPositions;
using mma_kernels::QueryPair;
using mma_kernels::QueryRange;

/// With more at a time the larger head dimension, whose sums take more than half of the registers,
/// spills.
template <int D>
inline constexpr int kQueriesOfStage = D <= 64 ? 64 : 32;

/// What the block's keys need of a stage's queries, and the bias of both.
template <class Bias, int kStagedQueries, int stages>
struct StagedQueries {
  using Row = typename InTile<Bias>::Row;
  using Key = typename InTile<Bias>::Key;
  static constexpr int kEntries = Bias::kHasEntry ? kStagedQueries + kRows : 0;
  static constexpr int kBiasRows = std::is_empty_v<typename Bias::Row> ? 0 : kStagedQueries;
  static constexpr int kBiasKeys = std::is_empty_v<typename Bias::Key> ? 0 : kRows;

  QueryPair* pairs;     // [stages, kStagedQueries / 2]
  MaskedQuery* masked;  // [stages, kStagedQueries]
  float* entries;       // [stages, kEntries]
  Row* rows;            // [stages, kBiasRows]
  Key* keys;            // [stages, kBiasKeys]

  __device__ explicit StagedQueries(SharedMemory& shared)
      : pairs(shared.take<QueryPair>(stages * kStagedQueries / 2)),
        masked(shared.take<MaskedQuery>(stages * kStagedQueries)),
        entries(shared.take<float>(stages * kEntries)),
        rows(shared.take<Row>(stages * kBiasRows)),
        keys(shared.take<Key>(stages * kBiasKeys)) {}

  static constexpr std::size_t bytes() {
    return shared_bytes<QueryPair>(stages * kStagedQueries / 2) +
           shared_bytes<MaskedQuery>(stages * kStagedQueries) +
           shared_bytes<float>(stages * kEntries) + shared_bytes<Row>(stages * kBiasRows) +
           shared_bytes<Key>(stages * kBiasKeys);
  }

  /// A stage as key_score_grads() reads it.
  struct Stage {
    const QueryPair* pairs;
    const MaskedQuery* masked;
    BiasOfStage<Bias, kRows> bias;
  };
  __device__ __forceinline__ Stage stage(int n) const {
    return {pairs_of(n), masked_of(n), {entries_of(n), rows_of(n), keys_of(n)}};
  }
  __device__ QueryPair* pairs_of(int stage) const { return pairs + stage * kStagedQueries / 2; }
  __device__ MaskedQuery* masked_of(int stage) const { return masked + stage * kStagedQueries; }
  __device__ float* entries_of(int stage) const { return entries + stage * kEntries; }
  __device__ Row* rows_of(int stage) const { return rows + stage * kBiasRows; }
  __device__ Key* keys_of(int stage) const { return keys + stage * kBiasKeys; }
};

template <class Bias, int queries>
struct QueriesOfKeys {
  template <int stages>
  using Staged = StagedQueries<Bias, queries, stages>;
};

/// Rows: K and V. Staged: Q and dO.
template <int D, class Bias>
using KeysShared = Shared<D, 2, kQueriesOfStage<D>, QueriesOfKeys<Bias, kQueriesOfStage<D>>>;

}  // namespace wgmma_kernels

#if PLUMBLINE_ON_GPU
namespace wgmma_kernels {

/// The tiles of queries that a block visits, head by head; goes from one to the next.
template <int kStagedQueries>
struct QueryTile {
  QueryRange queries;
  int head, first_row;
  bool first_of_head = true;

  __device__ QueryTile(const Problem& problem, const BackwardKeysPlace& at)
      : queries(problem, at), head(at.kv_head * at.group), first_row(queries.begin) {}

  __device__ int count_of_head() const {
    return (max(queries.end - queries.begin, 0) + kStagedQueries - 1) / kStagedQueries;
  }
  __device__ int rows() const { return min(kStagedQueries, queries.end - first_row); }
  __device__ bool last_of_head() const { return first_row + kStagedQueries >= queries.end; }
  __device__ void advance() {
    first_of_head = last_of_head();
    if (first_of_head) ++head;
    first_row = first_of_head ? queries.begin : first_row + kStagedQueries;
  }
};

/// Writes what a stage has beside the tiles.
template <int D, class Bias>
__device__ __forceinline__ void write_queries(const KeysShared<D, Bias>& shared, int stage,
                                              const Problem& problem, const BackwardArrays& arrays,
                                              const typename Bias::Params& params,
                                              const BackwardKeysPlace& at,
                                              const QueryTile<kQueriesOfStage<D>>& tile) {
  constexpr int kStagedQueries = kQueriesOfStage<D>;
  using Staged = typename KeysShared<D, Bias>::OfBias;
  constexpr int kStages = KeysShared<D, Bias>::kStages;
  const int thread = static_cast<int>(threadIdx.x);
  const int first_position = tile.first_row + problem.first_position(at.b);
  const At first{at.b, tile.head, tile.first_row, first_position};
  const auto base = InTile<Bias>::base(params, first, at.first_key);
  if (thread < kStagedQueries) {
    const int n = min(thread, tile.rows() - 1);
    const std::size_t index = problem.row_index(at.b, tile.head, tile.first_row + n);
    QueryPair& pair = shared.bias.pairs_of(stage)[thread / 2];
    pair.lse2[thread % 2] = arrays.lse[index] * kLog2E;
    pair.delta[thread % 2] = arrays.delta[index];
    shared.bias.masked_of(stage)[thread] = {
        thread < tile.rows() ? key_range(problem.mask, at.b, first_position + n) : KeyRange{0, 0},
        problem.logit_factor(at.b, tile.head, tile.first_row + n),
        problem.log2_logit_factor(at.b, tile.head, tile.first_row + n)};
    if constexpr (Staged::kBiasRows > 0)
      shared.bias.rows_of(stage)[thread] = InTile<Bias>::row(
          Bias::load_row(params, {at.b, tile.head, tile.first_row + n, first_position + n}), base);
  }
  if constexpr (Staged::kBiasKeys > 0)
    shared.bias.keys_of(stage)[thread] =
        InTile<Bias>::load_key(params, first, at.first_key + min(thread, at.count - 1), base);
  if constexpr (Staged::kEntries > 0)
    write_entries<Bias, Staged::kEntries, kStagedQueries>(
        params, tile.head, first_position - at.first_key - (kRows - 1), tile.first_of_head,
        shared.bias.entries_of(stage), shared.bias.entries_of((stage + kStages - 1) % kStages));
}

template <int D, class Bias>
__device__ __forceinline__ void produce_queries(const KeysShared<D, Bias>& shared,
                                                const CUtensorMap& k, const CUtensorMap& v,
                                                const CUtensorMap& q, const CUtensorMap& grad_o,
                                                const Problem& problem,
                                                const BackwardArrays& arrays,
                                                const typename Bias::Params& params) {
  using Memory = KeysShared<D, Bias>;
  constexpr int kStagedQueries = kQueriesOfStage<D>;
  const int thread = static_cast<int>(threadIdx.x);
  const BackwardKeysPlace at(problem, kRows, thread);
  QueryTile<kQueriesOfStage<D>> tile(problem, at);
  const int tiles = at.group * tile.count_of_head();
  int cleared = 0;
#pragma unroll 1
  for (int n = 0; n < tiles; ++n, tile.advance()) {
    const int stage = n % Memory::kStages;
    shared.empty(stage).wait((n / Memory::kStages & 1) ^ 1);
    // What stands beyond the last query, for others than this sequence, meets P or dZ = 0, and may
    // hold anything, of which 0 NaN and 0 infinity would not be 0.
    const bool clears = tile.rows() < kStagedQueries;
    const PhaseBarrier copied = clears ? shared.copied() : shared.full(stage);
    if (thread == 0) {
      copied.arrive_and_expect(n == 0 ? Memory::kStageBytes + Memory::kRowBytes
                                      : Memory::kStageBytes);
      if (clears) shared.full(stage).arrive();
      for (int group = 0; n == 0 && group < kConsumerGroups; ++group) {
        const int row = at.first_key + group * kWgmmaRows;
        const int matrix = at.b * problem.kv_heads + at.kv_head;
        copy_tile(shared.rows(0, group), k, row, matrix, copied);
        copy_tile(shared.rows(1, group), v, row, matrix, copied);
      }
      const int matrix = at.b * problem.heads + tile.head;
      copy_tile(shared.first(stage), q, tile.first_row, matrix, copied);
      copy_tile(shared.second(stage), grad_o, tile.first_row, matrix, copied);
    }
    write_queries<D, Bias>(shared, stage, problem, arrays, params, at, tile);
    if (clears) {
      copied.wait(cleared & 1);
      ++cleared;
      producers_meet();  // before the next phase begins
      if (thread >= tile.rows() && thread < kStagedQueries) {
        shared.first(stage).clear_row(thread, 0, 1);
        shared.second(stage).clear_row(thread, 0, 1);
      }
      fence_for_copies();
    }
    shared.full(stage).arrive();
  }
}

template <int D, class Bias, class Element>
__device__ __forceinline__ void grads_of_keys(const KeysShared<D, Bias>& shared,
                                              const Problem& problem, const BackwardArrays& arrays,
                                              const typename Bias::Params& params) {
  using Memory = KeysShared<D, Bias>;
  constexpr int kStagedQueries = kQueriesOfStage<D>;
  constexpr int kScoreTiles = kStagedQueries / 8, kRowTiles = D / 8;
  constexpr int kSteps = kStagedQueries / kWgmmaDepth;
  const BackwardKeysPlace at(problem, kRows, static_cast<int>(threadIdx.x) - kProducers);
  const PlainPositions plain_positions(problem, at, kStagedQueries);
  const auto k = shared.rows(0, consumer_group()), v = shared.rows(1, consumer_group());
  QueryTile<kQueriesOfStage<D>> tile(problem, at);
  const int of_head = tile.count_of_head();

  float p[kScoreTiles][4], dz[kScoreTiles][4], dk[kRowTiles][4] = {}, dv[kRowTiles][4] = {};
  std::uint32_t rounded_p[kSteps][4] = {}, rounded_dz[kSteps][4] = {};
  double by_key[2] = {};
  // Where there are registers for what goes from scores into products, beside the sums.
  constexpr bool overlapped = D <= 64 || std::is_same_v<Bias, Nope>;
  run_tiles<overlapped>(
      shared, at.group * of_head,
      [&] {
        keep_order(p);
        keep_order(dz);
        keep_order(dk);
        keep_order(dv);
        keep_order(rounded_p);
        keep_order(rounded_dz);
      },
      [&](int stage) {
        const auto q = shared.first(stage), grad_o = shared.second(stage);
#pragma unroll
        for (int d = 0; d < D; d += kWgmmaDepth)
          wgmma_rows<Element>(p, k.from_column(d), q.from_column(d), d > 0);
#pragma unroll
        for (int d = 0; d < D; d += kWgmmaDepth)
          wgmma_rows<Element>(dz, v.from_column(d), grad_o.from_column(d), d > 0);
      },
      [&](int stage) {
        const auto q = shared.first(stage), grad_o = shared.second(stage);
#pragma unroll
        for (int step = 0; step < kSteps; ++step)
          wgmma_columns<Element>(dv, rounded_p[step], grad_o.from_row(step * kWgmmaDepth));
#pragma unroll
        for (int step = 0; step < kSteps; ++step)
          wgmma_columns<Element>(dk, rounded_dz[step], q.from_row(step * kWgmmaDepth));
      },
      [&](int n) {
        const auto stage = shared.bias.stage(n % Memory::kStages);
        const int first_position = tile.first_row + problem.first_position(at.b);
        float of_p[kScoreTiles][4], of_dz[kScoreTiles][4];  // as in wgmma_backward_queries.cuh
        copy_accumulators(of_p, p);
        copy_accumulators(of_dz, dz);
        if (tile.rows() == kStagedQueries && plain_positions.has(first_position))
          mma_kernels::key_score_grads<true, Bias>(of_p, of_dz, by_key, stage, problem, params, at,
                                                   tile.head, first_position);
        else
          mma_kernels::key_score_grads<false, Bias>(of_p, of_dz, by_key, stage, problem, params, at,
                                                    tile.head, first_position);
        if (tile.last_of_head()) {
          mma_kernels::write_key_sums(by_key, problem, arrays, at, tile.head);
          by_key[0] = by_key[1] = 0.0;
        }
        tile.advance();
#pragma unroll
        for (int step = 0; step < kSteps; ++step) {
          accumulators_as_a<Element>(rounded_p[step], of_p, step);
          accumulators_as_a<Element>(rounded_dz[step], of_dz, step);
        }
      });
  for (int n = 0; of_head == 0 && n < at.group; ++n)
    mma_kernels::write_key_sums(by_key, problem, arrays, at, at.kv_head * at.group + n);
  mma_kernels::write_key_grads<D>(dk, dv, problem, arrays, at);
}

template <int D, class Bias, class Element>
__global__ void __launch_bounds__(kThreads, 1)
    wgmma_backward_keys_kernel(const __grid_constant__ CUtensorMap k,
                               const __grid_constant__ CUtensorMap v,
                               const __grid_constant__ CUtensorMap q,
                               const __grid_constant__ CUtensorMap grad_o,
                               const __grid_constant__ Problem problem,
                               const __grid_constant__ BackwardArrays arrays,
                               const __grid_constant__ typename Bias::Params params) {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  SharedMemory memory;
  const KeysShared<D, Bias> shared(memory);
  shared.start_barriers();
  if (threadIdx.x >= kProducers) {
    become_consumer<Bias>();
    grads_of_keys<D, Bias, Element>(shared, problem, arrays, params);
  } else {
    become_producer<Bias>();
    produce_queries<D, Bias>(shared, k, v, q, grad_o, problem, arrays, params);
  }
#else
  __trap();  // the host asks for it on compute capability 9.0 alone
#endif
}

/// For `dispatch`.
template <class Element>
struct BackwardKeys {
  template <int D, class Bias>
  static void run(const Stream& stream, const Task& task, const BackwardArrays& arrays) {
    const Problem& p = task.problem;
    const int heads = p.batch * p.heads, kv_heads = p.batch * p.kv_heads;
    const auto tiles = static_cast<unsigned>((p.keys + kRows - 1) / kRows);
    launch(stream,
           {dim3{tiles, static_cast<unsigned>(p.kv_heads), static_cast<unsigned>(p.batch)},
            dim3{kThreads}, KeysShared<D, Bias>::bytes()},
           wgmma_backward_keys_kernel<D, Bias, Element>,
           map_of_matrices<kWgmmaRows, D>(p.k, p.format, kv_heads, p.keys),
           map_of_matrices<kWgmmaRows, D>(p.v, p.format, kv_heads, p.keys),
           map_of_matrices<kQueriesOfStage<D>, D>(p.q, p.format, heads, p.queries),
           map_of_matrices<kQueriesOfStage<D>, D>(arrays.grad_o, p.format, heads, p.queries), p,
           arrays, Bias::params(task.bias));
  }
};

}  // namespace wgmma_kernels

template <class Element>
void wgmma_backward_keys_in(const Stream& stream, const Task& task, const BackwardArrays& arrays) {
  wgmma_kernels::dispatch<wgmma_kernels::BackwardKeys<Element>>(stream, task, arrays);
}

#endif

}  // namespace plumbline::gpu

#endif
