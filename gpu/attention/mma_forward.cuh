// SPDX-License-Identifier: Apache-2.0
// The fused forward pass on tensor cores: one pass over the keys as in 3_fused_forward.cuh, with
// S = Q K^T and P V by mma.sync, keys and values of the next tile on their way by cp.async. P is
// rounded to the element format where it meets V; the sum has it unrounded.
//
// A lane has two rows of its warp's 16, `group` and `group + 8`, and of each the columns 2 place
// and 2 place + 1 of every eight; four lanes share a row. P goes from the accumulators of S
// straight into the operand of P V. A value of an invisible key meets P = 0: it must be finite,
// unless no row of the block sees its key.
#ifndef PLUMBLINE_GPU_ATTENTION_MMA_FORWARD_CUH
#define PLUMBLINE_GPU_ATTENTION_MMA_FORWARD_CUH

#include "attention/mma_bias.cuh"
#include "attention/mma_rows.cuh"
#include "attention/mma_tile.cuh"
#include "attention/variants.cuh"

namespace plumbline::gpu {

namespace mma_kernels {

/// Blocks that a multiprocessor shall hold: leaves 168 registers to a thread. Shared memory has no
/// room for three of the largest.
template <int D>
inline constexpr int kBlocks = D <= 96 ? 3 : 2;

template <int D, class Element>
struct ForwardShared {
  using Tile = MmaTile<D, Element>;
  static constexpr int kKeys = Tile::kKeys;

  Tile q, k, v;  // of keys and values two stages
  AnyBiasTile<kMmaQueries, kKeys> bias;

  __device__ explicit ForwardShared(SharedMemory& shared)
      : q(Tile::take(shared, kMmaQueries)),
        k(Tile::take(shared, 2 * kKeys)),
        v(Tile::take(shared, 2 * kKeys)),
        bias(shared) {}

  static constexpr std::size_t bytes() {
    return Tile::bytes(kMmaQueries) + 2 * Tile::bytes(2 * kKeys) +
           AnyBiasTile<kMmaQueries, kKeys>::bytes();
  }
};

template <int D, class Element>
__global__ void __launch_bounds__(kMmaThreads, kBlocks<D>)
    forward_kernel(Problem problem, Outputs outputs, AnyBias bias) {
  using Tile = MmaTile<D, Element>;
  using Storage = typename Tile::Storage;
  constexpr int kKeys = Tile::kKeys;
  constexpr int kScoreTiles = kKeys / 8, kOutputTiles = D / 8;

  SharedMemory memory;
  const ForwardShared<D, Element> shared(memory);
  const MmaRows rows(problem);
  const KeyRange keys = rows.block_range;
  const std::size_t key_start = problem.key_start(rows.b, rows.head, 0, D);
  const Storage* k = static_cast<const Storage*>(problem.k) + key_start;
  const Storage* v = static_cast<const Storage*>(problem.v) + key_start;
  const auto copy_keys = [&](int begin, int stage) {
    const std::size_t start = static_cast<std::size_t>(begin) * D;
    shared.k.from(stage * kKeys).copy(k + start, kKeys, keys.end - begin);
    shared.v.from(stage * kKeys).copy(v + start, kKeys, keys.end - begin);
  };

  shared.q.copy(static_cast<const Storage*>(problem.q) +
                    problem.query_start(rows.b, rows.head, rows.first_row, D),
                kMmaQueries, rows.count);
  if (keys.begin < keys.end) copy_keys(keys.begin, 0);
  cp_async_commit();
  shared.bias.load_rows(bias, rows.first(), rows.count);

  float output[kOutputTiles][4] = {};
  float maximum[2] = {-INFINITY, -INFINITY};
  float sum[2] = {};  // of this lane's keys; the four lanes share the maximum, so it adds up
  int stage = 0;
  for (int begin = keys.begin; begin < keys.end; begin += kKeys, stage ^= 1) {
    __syncthreads();  // all are done with the tile before
    if (begin + kKeys < keys.end) copy_keys(begin + kKeys, stage ^ 1);
    cp_async_commit();
    shared.bias.load_keys(bias, rows.first(), rows.first_position, begin, keys.end);
    cp_async_wait<1>();  // all but the tile after this one
    __syncthreads();
    if (problem.rotation.cosine) {
      if (begin == keys.begin) shared.q.rotate(problem.rotation, rows.count, rows.first_position);
      shared.k.from(stage * kKeys).rotate(problem.rotation, min(kKeys, keys.end - begin), begin);
      __syncthreads();
    }

    const Tile k_tile = shared.k.from(stage * kKeys), v_tile = shared.v.from(stage * kKeys);
    if (problem.mask.documents) {
      rows.clear_unseen<kKeys>(v_tile, problem, begin);
      __syncthreads();
    }
    float score[kScoreTiles][4] = {};
    multiply_add<Element, Tile::kSteps>(
        score,
        [&](int step, std::uint32_t(&a)[4]) { shared.q.load_a(a, rows.lane, rows.warp_row, step); },
        [&](int step, int tile, std::uint32_t(&b)[4]) {
          k_tile.load_b_rows(b, rows.lane, 8 * tile, step);
        });
    rows.logits(score, problem, bias, shared.bias, begin);

    float rescale[2];
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      float largest = maximum[r];
#pragma unroll
      for (int tile = 0; tile < kScoreTiles; ++tile)
        largest = fmaxf(largest, fmaxf(score[tile][2 * r], score[tile][2 * r + 1]));
      rescale[r] = maximum[r];
      maximum[r] = largest;
    }
    lanes_maximum(maximum);
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      const float shift = finite_shift(maximum[r]);
      rescale[r] = expf(rescale[r] - shift);  // 0 at the first key seen
      sum[r] *= rescale[r];
#pragma unroll
      for (int tile = 0; tile < kScoreTiles; ++tile) {
#pragma unroll
        for (int n = 2 * r; n < 2 * r + 2; ++n) {
          score[tile][n] = expf(score[tile][n] - shift);
          sum[r] += score[tile][n];
        }
      }
    }
#pragma unroll
    for (int tile = 0; tile < kOutputTiles; ++tile) {
#pragma unroll
      for (int n = 0; n < 4; ++n) output[tile][n] *= rescale[n / 2];
    }
    multiply_add<Element, kKeys / Tile::kDepth>(
        output, [&](int step, std::uint32_t(&a)[4]) { accumulators_as_a<Element>(a, score, step); },
        [&](int step, int tile, std::uint32_t(&b)[4]) {
          v_tile.load_b_columns(b, rows.lane, step * Tile::kDepth, 8 * tile);
        });
  }
  cp_async_wait<0>();

  lanes_sum(sum);
#pragma unroll
  for (int r = 0; r < 2; ++r) {
    if (!rows.exists(r)) continue;
    const bool empty = sum[r] == 0.0f;
    const std::size_t start = problem.query_start(rows.b, rows.head, rows.row(r), D);
    Storage* o = static_cast<Storage*>(outputs.o) + start + 2 * rows.place;
#pragma unroll
    for (int tile = 0; tile < kOutputTiles; ++tile)
      store_pair<Element>(o + 8 * tile, empty ? 0.0f : output[tile][2 * r] / sum[r],
                          empty ? 0.0f : output[tile][2 * r + 1] / sum[r]);
    if (rows.place == 0)
      outputs.lse[problem.lse_index(rows.b, rows.head, rows.row(r))] =
          empty ? -INFINITY : maximum[r] + logf(sum[r]);
  }
}

template <int D, class Element>
void run_forward(const Stream& stream, const Task& task, const Outputs& outputs) {
  const Problem& p = task.problem;
  const auto tiles = static_cast<unsigned>((p.queries + kMmaQueries - 1) / kMmaQueries);
  launch(stream,
         {dim3{tiles, static_cast<unsigned>(p.heads), static_cast<unsigned>(p.batch)},
          dim3{kMmaThreads}, ForwardShared<D, Element>::bytes()},
         forward_kernel<D, Element>, p, outputs, any_bias(stream, task));
}

}  // namespace mma_kernels

template <class Element>
void mma_forward_in(const Stream& stream, const Task& task, const Outputs& outputs) {
  const auto run = [&]<int D>() { mma_kernels::run_forward<D, Element>(stream, task, outputs); };
  if (!with_head_dim(task.head_dim, run))
    throw std::invalid_argument("head dimension must be one of " + list_of(HeadDims{}));
}

}  // namespace plumbline::gpu

#endif
