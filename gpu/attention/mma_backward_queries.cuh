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
#include "attention/mma_head_grad.cuh"
#include "attention/mma_query_grads.cuh"
#include "attention/mma_rows.cuh"
#include "attention/mma_tile.cuh"

namespace plumbline::gpu {

namespace mma_kernels {

template <int D, class Element>
struct BackwardQueriesShared {
  using Tile = MmaTile<D, Element>;
  static constexpr int kKeys = kTileKeys;
  using BiasTile = AnyBiasTile<kMmaQueries, kKeys>;

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

  static std::size_t bytes(const BackwardArrays& arrays, const AnyBias& any_bias) {
    return bytes(kStages) + ScoreTile::bytes(arrays.atomic) + ScoreTile::bytes(wants_dz(arrays)) +
           (arrays.head_rows > 0 ? AnyHeadGrad::bytes(any_bias) : 0);
  }
};

template <int D, class Element>
__global__ void __launch_bounds__(kMmaThreads, 2)
    backward_queries_kernel(Problem problem, BackwardArrays arrays, AnyBias bias) {
  using Shared = BackwardQueriesShared<D, Element>;
  using Tile = MmaTile<D, Element>;
  using Storage = typename Tile::Storage;
  constexpr int kKeys = Shared::kKeys, kStages = Shared::kStages;
  constexpr int kScoreTiles = kKeys / 8, kRowTiles = D / 8;

  SharedMemory memory;
  const Shared shared(memory, arrays);
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
  shared.bias.load_rows(bias, rows.first(), rows.count);

  const PartialPlaces places(problem, rows);
  const AnyHeadGrad head_grad{bias, memory, arrays.head_partial + places.first * arrays.head_rows};
  if (arrays.head_rows > 0) {
    for (int n = static_cast<int>(threadIdx.x); n < places.count * arrays.head_rows;
         n += kMmaThreads)
      head_grad.partial[n] = 0.0;
    head_grad.clear();
  }

  float dq[kRowTiles][4] = {};
  QuerySums sums;
  int stage = 0;
  for (int begin = keys.begin; begin < keys.end; begin += kKeys, stage ^= kStages - 1) {
    __syncthreads();  // all are done with the tile before
    const int copied = begin + (kStages - 1) * kKeys;
    if (copied < keys.end) copy_keys(copied, stage ^ (kStages - 1));
    cp_async_commit();
    shared.bias.load_keys(bias, rows.first(), rows.first_position, begin, keys.end);
    cp_async_wait<kStages - 1>();  // all but a tile after this one
    __syncthreads();
    const Tile k_tile = shared.k.from(stage * kKeys), v_tile = shared.v.from(stage * kKeys);
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
    query_score_grads(p, dz, sums, problem, bias, shared.bias, rows, of, begin);
    if (arrays.atomic) shared.p.store(p, rows);
    if (Shared::wants_dz(arrays)) shared.dz.store(dz, rows);
    multiply_add<Element, kKeys / Tile::kDepth>(
        dq, [&](int step, std::uint32_t(&a)[4]) { accumulators_as_a<Element>(a, dz, step); },
        [&](int step, int tile, std::uint32_t(&b)[4]) {
          k_tile.load_b_columns(b, rows.lane, step * Tile::kDepth, 8 * tile);
        });
    if (!Shared::wants_dz(arrays)) continue;
    __syncthreads();  // all rows' P and dZ are there
    if (arrays.atomic) add_to_keys<D, Element>(shared, problem, arrays, bias, rows, begin);
    if (arrays.head_rows > 0)
      head_grad.add(shared.bias, rows.head, shared.dz.values, ScoreTile::kStride,
                    rows.first_position - begin, rows.count);
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
  if (arrays.head_rows > 0) head_grad.finish(rows.head);
}

template <int D, class Element>
void run_backward_queries(const Stream& stream, const Task& task, const BackwardArrays& arrays) {
  const Problem& p = task.problem;
  const AnyBias bias = any_bias(stream, task);
  const auto tiles = static_cast<unsigned>((p.queries + kMmaQueries - 1) / kMmaQueries);
  launch(stream,
         {dim3{tiles, static_cast<unsigned>(p.heads), static_cast<unsigned>(p.batch)},
          dim3{kMmaThreads}, BackwardQueriesShared<D, Element>::bytes(arrays, bias)},
         backward_queries_kernel<D, Element>, p, arrays, bias);
}

}  // namespace mma_kernels

template <class Element>
void mma_backward_queries_in(const Stream& stream, const Task& task, const BackwardArrays& arrays) {
  const auto run = [&]<int D>() {
    mma_kernels::run_backward_queries<D, Element>(stream, task, arrays);
  };
  if (!with_head_dim(task.head_dim, run))
    throw std::invalid_argument("head dimension must be one of " + list_of(HeadDims{}));
}

}  // namespace plumbline::gpu

#endif
