// SPDX-License-Identifier: Apache-2.0
// The backward pass over queries on tensor cores: what 4_backward_queries.cuh computes, for 64 or
// 128 queries a block and 32 keys at a time. Queries stand in the rows of all products,
//   S = Q K',  dP = dO V',  dQ += dZ K  (' transposes),
// so that dZ goes from the accumulators straight into the last one, rounded to the element format.
// What others than a row's own lanes want of P and dZ goes through shared memory: as it is rounded
// for the products of atomic additions to keys, in fp32 for gradients of parameters. A warp has one
// or two groups of 16 query rows, as in mma_forward.cuh.
#ifndef PLUMBLINE_GPU_ATTENTION_MMA_BACKWARD_QUERIES_CUH
#define PLUMBLINE_GPU_ATTENTION_MMA_BACKWARD_QUERIES_CUH

#include "attention/backward_kernels.cuh"
#include "attention/mma_add_to_keys.cuh"
#include "attention/mma_backward_split.cuh"
#include "attention/mma_query_grads.cuh"
#include "attention/mma_rows.cuh"
#include "attention/mma_tile.cuh"
#include "bias/distance_grad.cuh"
#include "bias/fire_grad.cuh"

namespace plumbline::gpu {

namespace mma_kernels {

/// What a call wants in shared memory of P and dZ.
struct WantedScores {
  bool weights;  // for atomic additions to keys
  bool grads;    // for gradients of heads' parameters

  __host__ __device__ explicit WantedScores(const BackwardArrays& arrays)
      : weights(arrays.atomic), grads(arrays.head_rows > 0) {}
};

template <int D, class Bias, class Element>
struct BackwardQueriesShared {
  using Tile = MmaTile<D, Element>;
  using Weights = WeightTile<Element>;
  template <int groups>
  using BiasTileOf = MmaBiasTile<Bias, MmaRows<groups>::kQueries, kTileKeys, -kTileKeys>;
  static constexpr int kKeys = kTileKeys;

  /// With `groups` groups of rows a warp, but for P, dZ and gradients of heads' parameters.
  static constexpr std::size_t bytes(int groups, int stages) {
    const int queries = groups * kMmaWarps * kMmaWarpRows;
    return 2 * Tile::bytes(queries) + 2 * Tile::bytes(stages * kKeys) +
           (groups == 2 ? BiasTileOf<2>::bytes() : BiasTileOf<1>::bytes()) +
           shared_bytes<double>(queries);
  }
  /// With all of them.
  static constexpr std::size_t most_bytes(int groups, int stages) {
    const int queries = groups * kMmaWarps * kMmaWarpRows;
    return bytes(groups, stages) + 2 * Weights::bytes(queries) +
           (HeadGrad<Bias>::kUsed ? ScoreGrads::bytes(queries) + HeadGrad<Bias>::bytes({}) : 0);
  }
  /// 32 rows a warp where the shared memory of any GPU has room for them; not of FIRE, whose hidden
  /// layer takes it, nor of prefix sums in tf32, for want of registers.
  static constexpr bool kLacksRegisters = Bias::kPerPosition && sizeof(typename Tile::Storage) > 2;
  static constexpr bool kWide = D * sizeof(typename Tile::Storage) <= 128 && !kLacksRegisters &&
                                !std::is_same_v<Bias, Fire> && most_bytes(2, 1) <= kSharedOfAnyGpu;
  static constexpr int kGroups = kWide ? 2 : 1;
  static constexpr int kStages =
      (kWide ? most_bytes(2, 2) : bytes(1, 2)) <= kSharedOfAnyGpu ? 2 : 1;
  static constexpr int kQueries = MmaRows<kGroups>::kQueries;
  using BiasTile = BiasTileOf<kGroups>;

  Tile q, grad_o, k, v;  // of keys and values kStages
  BiasTile bias;
  double* row_sums;  // [kQueries]
  Weights p, dz;     // where WantedScores has them
  ScoreGrads grads;

  __device__ BackwardQueriesShared(SharedMemory& shared, const WantedScores& wanted)
      : q(Tile::take(shared, kQueries)),
        grad_o(Tile::take(shared, kQueries)),
        k(Tile::take(shared, kStages * kKeys)),
        v(Tile::take(shared, kStages * kKeys)),
        bias(shared),
        row_sums(shared.take<double>(kQueries)),
        p{Weights::Tile::take(shared, wanted.weights ? kQueries : 0)},
        dz{Weights::Tile::take(shared, wanted.weights ? kQueries : 0)},
        grads{shared.take<float>(wanted.grads ? kQueries * ScoreGrads::kStride : 0)} {}

  static std::size_t bytes(const BackwardArrays& arrays, const typename Bias::Params& params) {
    const WantedScores wanted(arrays);
    return bytes(kGroups, kStages) + (wanted.weights ? 2 * Weights::bytes(kQueries) : 0) +
           (wanted.grads ? ScoreGrads::bytes(kQueries) : 0) +
           (arrays.head_rows > 0 ? HeadGrad<Bias>::bytes(params) : 0);
  }
};

template <int D, class Bias, class Element>
__global__ void __launch_bounds__(kMmaThreads, 2)
    backward_queries_kernel(Problem problem, BackwardArrays arrays, typename Bias::Params params) {
  using Shared = BackwardQueriesShared<D, Bias, Element>;
  using Tile = MmaTile<D, Element>;
  using Storage = typename Tile::Storage;
  using Rows = MmaRows<Shared::kGroups>;
  constexpr int kGroups = Shared::kGroups, kKeys = Shared::kKeys, kStages = Shared::kStages;
  constexpr int kScoreTiles = kKeys / 8, kRowTiles = D / 8;

  SharedMemory memory;
  const WantedScores wanted(arrays);
  Shared shared(memory, wanted);
  const Rows rows(problem);
  const auto of = [&] {
    if constexpr (Bias::kPerPosition)
      return NotedQueryRows<Tile>(shared.q, problem, arrays, rows);
    else
      return QueryRows<kGroups>(problem, arrays, rows);
  }();
  const KeyRange keys = rows.block_range;
  const std::size_t key_start = problem.key_start(rows.b, rows.head, 0, D);
  const auto copy_keys = [&](int begin, int stage) {
    const std::size_t start = key_start + static_cast<std::size_t>(begin) * D;
    shared.k.from(stage * kKeys)
        .copy(static_cast<const Storage*>(problem.k) + start, kKeys, keys.end - begin);
    shared.v.from(stage * kKeys)
        .copy(static_cast<const Storage*>(problem.v) + start, kKeys, keys.end - begin);
  };

  const std::size_t query_start = problem.query_start(rows.b, rows.head, rows.first_row, D);
  const int exist = rows.count_within_length(problem);
  shared.q.copy(static_cast<const Storage*>(problem.q) + query_start, Shared::kQueries, exist);
  shared.grad_o.copy(static_cast<const Storage*>(arrays.grad_o) + query_start, Shared::kQueries,
                     exist);
  if (kStages == 2 && keys.begin < keys.end) copy_keys(keys.begin, 0);
  cp_async_commit();
  shared.bias.load_rows(params, rows.first(), rows.count);
  if (static_cast<int>(threadIdx.x) < Shared::kQueries) shared.row_sums[threadIdx.x] = 0.0;

  const PartialPlaces places(problem, rows);
  const auto head_grad = [&] {  // of a family that has one, where head_rows > 0
    SharedMemory own = memory;
    return HeadGrad<Bias>(own, params, arrays.head_partial + places.first * arrays.head_rows);
  };
  if constexpr (HeadGrad<Bias>::kUsed) {
    if (arrays.head_rows > 0) {
      double* partial = arrays.head_partial + places.first * arrays.head_rows;
      for (int n = static_cast<int>(threadIdx.x); n < places.count * arrays.head_rows;
           n += kMmaThreads)
        partial[n] = 0.0;
      head_grad().begin(params, rows.head);
    }
  }

  const KeyRange all_see = rows.warp_range(problem).all;
  const bool plain_rows = rows.warp_row + Rows::kWarpRows <= rows.count && !problem.ssmax_scale;
  float dq[kGroups][kRowTiles][4] = {};
  QuerySums<Rows::kRows> sums;
  int stage = 0;
  for (int begin = keys.begin; begin < keys.end; begin += kKeys, stage ^= kStages - 1) {
    __syncthreads();  // all are done with the tile before
    const int copied = begin + (kStages - 1) * kKeys;
    if (copied < keys.end) copy_keys(copied, stage ^ (kStages - 1));
    cp_async_commit();
    shared.bias.load_keys(params, rows.first(), begin, keys.end);
    shared.bias.load_entries(params, rows.head, rows.first_position - begin, begin == keys.begin);
    cp_async_wait<kStages - 1>();  // all but a tile after this one
    __syncthreads();
    const Tile k_tile = shared.k.from(stage * kKeys), v_tile = shared.v.from(stage * kKeys);
    if (begin == keys.begin && rows.first_position < 0) {
      rows.clear_before_sequence(shared.q);
      rows.clear_before_sequence(shared.grad_o);
      __syncthreads();
    }
    if (problem.mask.documents) {
      rows.template clear_unseen<kKeys>(k_tile, problem, begin);
      __syncthreads();
    }

    float p[kGroups][kScoreTiles][4] = {}, dz[kGroups][kScoreTiles][4] = {};
    const auto row_of = [&](int group) { return rows.warp_row + kMmaWarpRows * group; };
    multiply_add<Element, Tile::kSteps>(
        p,
        [&](int step, int group, std::uint32_t(&a)[4]) {
          shared.q.load_a(a, rows.lane, row_of(group), step);
        },
        [&](int step, int tile, std::uint32_t(&b)[4]) {
          k_tile.load_b_rows(b, rows.lane, 8 * tile, step);
        });
    multiply_add<Element, Tile::kSteps>(
        dz,
        [&](int step, int group, std::uint32_t(&a)[4]) {
          shared.grad_o.load_a(a, rows.lane, row_of(group), step);
        },
        [&](int step, int tile, std::uint32_t(&b)[4]) {
          v_tile.load_b_rows(b, rows.lane, 8 * tile, step);
        });
    if (plain_rows && begin >= all_see.begin && begin + kKeys <= all_see.end)
      query_score_grads<true, Bias>(p, dz, sums, shared.row_sums, problem, arrays, params,
                                    shared.bias, rows, of, begin);
    else
      query_score_grads<false, Bias>(p, dz, sums, shared.row_sums, problem, arrays, params,
                                     shared.bias, rows, of, begin);
    if (wanted.weights) {
      shared.p.store(p, rows);
      shared.dz.store(dz, rows);
    }
    if (wanted.grads) shared.grads.store(dz, rows);
    if constexpr (Bias::kPerPosition)
      if (wanted.weights && arrays.prefix_sum)
        add_to_sums<Bias>(dz, shared.bias, problem, arrays, params, rows, begin);
    multiply_add<Element, kKeys / Tile::kDepth>(
        dq,
        [&](int step, int group, std::uint32_t(&a)[4]) {
          accumulators_as_a<Element>(a, dz[group], step);
        },
        [&](int step, int tile, std::uint32_t(&b)[4]) {
          k_tile.load_b_columns(b, rows.lane, step * Tile::kDepth, 8 * tile);
        });
    if (!wanted.weights && !wanted.grads) continue;
    __syncthreads();  // all rows' P and dZ are there
    if (wanted.weights) add_to_keys<D, Element>(shared, problem, arrays, rows, begin);
    if constexpr (HeadGrad<Bias>::kUsed) {
      if (arrays.head_rows == 0) continue;
#pragma unroll 1
      for (int first = 0; first < rows.count; first += kTileQueries) {
        if (first > 0) __syncthreads();  // all are done with the queries before
        head_grad().add(params, rows.head, shared.grads.values + first * ScoreGrads::kStride,
                        ScoreGrads::kStride, shared.bias.entries(first),
                        rows.first_position - begin + first, shared.bias.rows + first);
      }
    }
  }
  cp_async_wait<0>();

  write_query_grads<D>(dq, problem, arrays, rows);
  write_position_grads(sums, problem, arrays, rows);
  write_ssmax_grad<BlockTile>(shared.row_sums, problem, arrays, rows, 0, Rows::kQueries);
  if constexpr (HeadGrad<Bias>::kUsed)
    if (arrays.head_rows > 0) head_grad().finish(params, rows.head);
}

/// For `dispatch`.
template <class Element>
struct BackwardQueries {
  template <int D, class Bias>
  static void run(const Stream& stream, const Task& task, const BackwardArrays& arrays) {
    const Problem& p = task.problem;
    const auto params = Bias::params(task.bias);
    if constexpr (kSplits<D, Element>)
      if (SplitBackwardQueries<Element>::template takes<D, Bias>(task, arrays))
        return SplitBackwardQueries<Element>::template run<D, Bias>(stream, task, arrays);
    using Shared = BackwardQueriesShared<D, Bias, Element>;
    const auto tiles = static_cast<unsigned>((p.queries + Shared::kQueries - 1) / Shared::kQueries);
    launch(stream,
           {dim3{tiles, static_cast<unsigned>(p.heads), static_cast<unsigned>(p.batch)},
            dim3{kMmaThreads}, Shared::bytes(arrays, params)},
           backward_queries_kernel<D, Bias, Element>, p, arrays, params);
  }
};

}  // namespace mma_kernels

template <class Element>
void mma_backward_queries_in(const Stream& stream, const Task& task, const BackwardArrays& arrays) {
  dispatch<mma_kernels::BackwardQueries<Element>>(stream, task, arrays);
}

}  // namespace plumbline::gpu

#endif
