// SPDX-License-Identifier: Apache-2.0
// The backward pass over queries on tensor cores: what 4_backward_queries.cuh computes, for 64
// queries a block and 32 keys at a time. Queries stand in the rows of all products,
//   S = Q K',  dP = dO V',  dQ += dZ K  (' transposes),
// so that dZ goes from the accumulators straight into the last one, rounded to the element format.
// What others than a row's own lanes want of P and dZ (gradients of heads' parameters, atomic
// additions to keys) goes through shared memory in fp32. A lane has two rows as in mma_forward.cuh.
#ifndef PLUMBLINE_GPU_ATTENTION_MMA_BACKWARD_QUERIES_CUH
#define PLUMBLINE_GPU_ATTENTION_MMA_BACKWARD_QUERIES_CUH

#include "attention/backward_kernels.cuh"
#include "attention/mma_add_to_keys.cuh"
#include "attention/mma_query_grads.cuh"
#include "attention/mma_rows.cuh"
#include "attention/mma_tile.cuh"
#include "bias/distance_grad.cuh"
#include "bias/fire_grad.cuh"

namespace plumbline::gpu {

namespace mma_kernels {

template <int D, class Bias, class Element>
struct BackwardQueriesShared {
  using Tile = MmaTile<D, Element>;
  static constexpr int kKeys = kTileKeys;
  using BiasTile = MmaBiasTile<Bias, kMmaQueries, kKeys, -kKeys>;

  static constexpr std::size_t bytes(int stages) {
    return 2 * Tile::bytes(kMmaQueries) + 2 * Tile::bytes(stages * kKeys) + BiasTile::bytes() +
           shared_bytes<double>(kMmaQueries);
  }
  static constexpr int kStages = bytes(2) <= kSharedOfAnyGpu ? 2 : 1;

  Tile q, grad_o, k, v;  // of keys and values kStages
  BiasTile bias;
  double* row_sums;  // [kMmaQueries]
  ScoreTile p, dz;   // where somebody wants them

  __device__ BackwardQueriesShared(SharedMemory& shared, const BackwardArrays& arrays)
      : q(Tile::take(shared, kMmaQueries)),
        grad_o(Tile::take(shared, kMmaQueries)),
        k(Tile::take(shared, kStages * kKeys)),
        v(Tile::take(shared, kStages * kKeys)),
        bias(shared),
        row_sums(shared.take<double>(kMmaQueries)),
        p(ScoreTile::take(shared, arrays.atomic)),
        dz(ScoreTile::take(shared, wants_dz(arrays))) {}

  __host__ __device__ static bool wants_dz(const BackwardArrays& arrays) {
    return arrays.atomic || arrays.head_rows > 0;
  }

  static std::size_t bytes(const BackwardArrays& arrays, const typename Bias::Params& params) {
    return bytes(kStages) + ScoreTile::bytes(arrays.atomic) + ScoreTile::bytes(wants_dz(arrays)) +
           (arrays.head_rows > 0 ? HeadGrad<Bias>::bytes(params) : 0);
  }
};

template <int D, class Bias, class Element>
__global__ void __launch_bounds__(kMmaThreads, 2)
    backward_queries_kernel(Problem problem, BackwardArrays arrays, typename Bias::Params params) {
  using Shared = BackwardQueriesShared<D, Bias, Element>;
  using Tile = MmaTile<D, Element>;
  using Storage = typename Tile::Storage;
  constexpr int kKeys = Shared::kKeys, kStages = Shared::kStages;
  constexpr int kScoreTiles = kKeys / 8, kRowTiles = D / 8;

  SharedMemory memory;
  Shared shared(memory, arrays);
  const MmaRows rows(problem);
  const QueryRows of(problem, arrays, rows);
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
  shared.q.copy(static_cast<const Storage*>(problem.q) + query_start, kMmaQueries, exist);
  shared.grad_o.copy(static_cast<const Storage*>(arrays.grad_o) + query_start, kMmaQueries, exist);
  if (kStages == 2 && keys.begin < keys.end) copy_keys(keys.begin, 0);
  cp_async_commit();
  shared.bias.load_rows(params, rows.first(), rows.count);

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
      head_grad().clear(params);
    }
  }

  const KeyRange all_see = rows.warp_range(problem).all;
  const bool plain_rows = rows.warp_row + kMmaWarpRows <= rows.count && !problem.ssmax_scale;
  float dq[kRowTiles][4] = {};
  QuerySums sums;
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
      rows.clear_unseen<kKeys>(k_tile, problem, begin);
      __syncthreads();
    }
    if (problem.rotation.cosine) {
      if (begin == keys.begin) shared.q.rotate(problem.rotation, rows.count, rows.first_position);
      k_tile.rotate(problem.rotation, min(kKeys, keys.end - begin), begin);
      __syncthreads();
    }

    float p[kScoreTiles][4] = {}, dz[kScoreTiles][4] = {};
    multiply_add<Element, Tile::kSteps>(
        p,
        [&](int step, std::uint32_t(&a)[4]) { shared.q.load_a(a, rows.lane, rows.warp_row, step); },
        [&](int step, int tile, std::uint32_t(&b)[4]) {
          k_tile.load_b_rows(b, rows.lane, 8 * tile, step);
        });
    multiply_add<Element, Tile::kSteps>(
        dz,
        [&](int step, std::uint32_t(&a)[4]) {
          shared.grad_o.load_a(a, rows.lane, rows.warp_row, step);
        },
        [&](int step, int tile, std::uint32_t(&b)[4]) {
          v_tile.load_b_rows(b, rows.lane, 8 * tile, step);
        });
    if (plain_rows && begin >= all_see.begin && begin + kKeys <= all_see.end)
      query_score_grads<true, Bias>(p, dz, sums, problem, arrays, params, shared.bias, rows, of,
                                    begin);
    else
      query_score_grads<false, Bias>(p, dz, sums, problem, arrays, params, shared.bias, rows, of,
                                     begin);
    if (arrays.atomic) shared.p.store(p, rows);
    if (Shared::wants_dz(arrays)) shared.dz.store(dz, rows);
    multiply_add<Element, kKeys / Tile::kDepth>(
        dq, [&](int step, std::uint32_t(&a)[4]) { accumulators_as_a<Element>(a, dz, step); },
        [&](int step, int tile, std::uint32_t(&b)[4]) {
          k_tile.load_b_columns(b, rows.lane, step * Tile::kDepth, 8 * tile);
        });
    if (!Shared::wants_dz(arrays)) continue;
    __syncthreads();  // all rows' P and dZ are there
    if (arrays.atomic) add_to_keys<D, Bias, Element>(shared, problem, arrays, params, rows, begin);
    if constexpr (HeadGrad<Bias>::kUsed) {
      if (arrays.head_rows == 0) continue;
#pragma unroll 1
      for (int first = 0; first < rows.count; first += kTileQueries) {
        if (first > 0) __syncthreads();  // all are done with the queries before
        head_grad().add(params, rows.head, shared.dz.values + first * ScoreTile::kStride,
                        ScoreTile::kStride, shared.bias.entries(first),
                        rows.first_position - begin + first, shared.bias.rows + first);
      }
    }
  }
  cp_async_wait<0>();

#pragma unroll
  for (int r = 0; r < 2; ++r) {
    if (!rows.exists(r)) continue;
    float* to = arrays.dq + problem.query_start(rows.b, rows.head, rows.row(r), D) + 2 * rows.place;
#pragma unroll
    for (int tile = 0; tile < kRowTiles; ++tile) {
      to[8 * tile] = problem.scale * dq[tile][2 * r];
      to[8 * tile + 1] = problem.scale * dq[tile][2 * r + 1];
    }
  }
  write_query_sums(sums, shared.row_sums, problem, arrays, rows, places);
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
    const auto tiles = static_cast<unsigned>((p.queries + kMmaQueries - 1) / kMmaQueries);
    launch(stream,
           {dim3{tiles, static_cast<unsigned>(p.heads), static_cast<unsigned>(p.batch)},
            dim3{kMmaThreads}, BackwardQueriesShared<D, Bias, Element>::bytes(arrays, params)},
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
