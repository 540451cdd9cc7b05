// SPDX-License-Identifier: Apache-2.0
// The fused forward pass on tensor cores: one pass over the keys as in 3_fused_forward.cuh, with
// S = Q K^T and P V by mma.sync, keys and values of the next tile on their way by cp.async. Logits
// are in units of log2, so that their exponential is one instruction. P is rounded to the element
// format where it meets V; the sum has it unrounded.
//
// A warp has one or two groups of 16 query rows. Of each a lane has the rows `group` and
// `group + 8`, and of each row the columns 2 place and 2 place + 1 of every eight; four lanes share
// a row. P goes from the accumulators of S straight into the operand of P V. A value of an
// invisible key meets P = 0: it must be finite, unless no row of the block sees its key.
#ifndef PLUMBLINE_GPU_ATTENTION_MMA_FORWARD_CUH
#define PLUMBLINE_GPU_ATTENTION_MMA_FORWARD_CUH

#include "attention/mma_forward_bias.cuh"
#include "attention/mma_rows.cuh"
#include "attention/mma_skipping.cuh"
#include "attention/mma_softmax.cuh"
#include "attention/mma_tile.cuh"
#include "attention/variants.cuh"

namespace plumbline::gpu {

namespace mma_kernels {

/// Sizes of a block's tiles, and its shared memory.
template <int D, class Bias, class Element>
struct ForwardShared {
  using Tile = MmaTile<D, Element>;
  static constexpr int kRowBytes = D * static_cast<int>(sizeof(typename Tile::Storage));
  /// 32 rows a warp take each fragment of K and V from shared memory once for two products, where
  /// shared memory has room for them.
  static constexpr int kGroups = kRowBytes <= 256 ? 2 : 1;
  static constexpr int kKeys = kGroups * kRowBytes <= 256 ? 64 : 32;
  static constexpr int kQueries = MmaRows<kGroups>::kQueries;
  /// Q's fragments stay in registers for all tiles of keys, where there are enough: 32 of them for
  /// 32 rows of 128 bytes. With bias tensors, or prefix sums and skipping, there are not.
  template <bool skipping>
  static constexpr bool kKeepsQueries =
      kRowBytes <= 128 && !Bias::kPerPair && !(skipping && Bias::kPerPosition);

  using BiasTile = MmaBiasTile<Bias, kQueries, kKeys, kKeys>;

  Tile q, k, v;  // of keys and values two stages
  BiasTile bias;

  __device__ explicit ForwardShared(SharedMemory& shared)
      : q(Tile::take(shared, kQueries)),
        k(Tile::take(shared, 2 * kKeys)),
        v(Tile::take(shared, 2 * kKeys)),
        bias(shared) {}

  // Of a row of q the factor that make_logits() takes, and what skipping does; of a warp what its
  // rows see, and what skipping does with each stage: kept here, since registers are short.
  __device__ SkippingRow& row(int row) const { return q.template note<SkippingRow>(row); }
  __device__ float& factor(int row) const { return this->row(row).factor; }
  __device__ WarpRange& range(int warp) const { return k.template note<WarpRange>(warp); }
  __device__ NextOfWarps& next(int stage) const { return v.template note<NextOfWarps>(stage); }
  __device__ int& begin(int stage, int warp) const {
    return v.template note<int>(2 + stage * kMmaWarps + warp);
  }

  static constexpr std::size_t bytes() {
    return Tile::bytes(kQueries) + 2 * Tile::bytes(2 * kKeys) + BiasTile::bytes();
  }
};

/// Skips tiles where there are `bounds`: TileBounds.
template <int D, class Bias, class Element, class... Bounds>
__global__ void __launch_bounds__(kMmaThreads, 2)
    forward_kernel(Problem problem, Outputs outputs, typename Bias::Params params,
                   Bounds... bounds) {
  using Shared = ForwardShared<D, Bias, Element>;
  using Tile = typename Shared::Tile;
  using Storage = typename Tile::Storage;
  using Rows = MmaRows<Shared::kGroups>;
  constexpr int kGroups = Shared::kGroups, kKeys = Shared::kKeys;
  constexpr bool kSkipping = sizeof...(Bounds) > 0;
  constexpr bool kKeepsQueries = Shared::template kKeepsQueries<kSkipping>;
  constexpr int kScoreTiles = kKeys / 8, kOutputTiles = D / 8;

  SharedMemory memory;
  Shared shared(memory);
  const Rows rows(problem);
  const int warp = static_cast<int>(threadIdx.x) / 32;
  if (rows.lane == 0) shared.range(warp) = rows.warp_range(problem);
  const KeyRange keys = rows.block_range;
  const std::size_t key_start = problem.key_start(rows.b, rows.head, 0, D);
  const auto copy_keys = [&](int begin, int stage) {
    const std::size_t start = key_start + static_cast<std::size_t>(begin) * D;
    const Storage* const k = static_cast<const Storage*>(problem.k) + start;
    const Storage* const v = static_cast<const Storage*>(problem.v) + start;
    shared.k.from(stage * kKeys).copy(k, kKeys, keys.end - begin);
    shared.v.from(stage * kKeys).copy(v, kKeys, keys.end - begin);
  };

  // From the last tile to the first: most biases fall with the distance, so that the largest logits
  // come first.
  const int tiles = (max(keys.end - keys.begin, 0) + kKeys - 1) / kKeys;
  const int last = keys.begin + (tiles - 1) * kKeys;
  if (tiles > 0) {
    shared.q.copy(static_cast<const Storage*>(problem.q) +
                      problem.query_start(rows.b, rows.head, rows.first_row, D),
                  Shared::kQueries, rows.count);
    copy_keys(last, 0);
  }
  cp_async_commit();
  shared.bias.load_rows(params, rows.first(), rows.count);
  if (const int row = static_cast<int>(threadIdx.x); row < Shared::kQueries) {
    const int nearest = rows.first_row + min(row, rows.count - 1);
    shared.factor(row) = problem.log2_logit_factor(rows.b, rows.head, nearest);
    if constexpr (kSkipping) {
      const std::size_t start = problem.query_start(rows.b, rows.head, nearest, D);
      shared.row(row).begin(problem, rows, row, static_cast<const Storage*>(problem.q) + start, D,
                            kKeys);
    }
  }

  const auto load_queries = [&](int step, int group, std::uint32_t(&a)[4]) {
    shared.q.load_a(a, rows.lane, rows.warp_row + kMmaWarpRows * group, step);
  };
  std::uint32_t queries[kKeepsQueries ? Tile::kSteps : 1][kGroups][4];
  float output[kGroups][kOutputTiles][4] = {};
  RunningSoftmax<Rows::kRows> softmax;
  if (problem.sinks) softmax.begin_with(problem.sinks[rows.head] * kLog2E, rows.place == 0);
  int stage = 0;
  // The tile after the one that begins here: without skipping, which keeps it in shared memory, a
  // sum.
  const auto after = [&](int begin) {
    if constexpr (kSkipping)
      return shared.next(stage).nearest();
    else
      return begin - kKeys;
  };
  for (int begin = last; begin >= keys.begin; begin = after(begin), stage ^= 1) {
    if constexpr (kSkipping) {
      const int next = next_needed<Bias, kKeys>(problem, params, rows, shared, softmax.maximum,
                                                begin, bounds...);
      if (rows.lane == 0) shared.next(stage).of[warp] = next, shared.begin(stage, warp) = begin;
    }
    __syncthreads();  // all are done with the tile before
    const bool is_first = begin + kKeys >= keys.end;
    bool follows = !is_first;
    if constexpr (kSkipping) follows = follows && shared.begin(stage ^ 1, warp) == begin + kKeys;
    if (const int next = after(begin); next >= keys.begin) copy_keys(next, stage ^ 1);
    cp_async_commit();
    shared.bias.load_keys(params, rows.first(), begin, keys.end);
    shared.bias.load_entries(params, rows.head, rows.first_position - begin, !follows);
    cp_async_wait<1>();  // all but the tile after this one
    __syncthreads();
    const Tile k_tile = shared.k.from(stage * kKeys), v_tile = shared.v.from(stage * kKeys);
    if constexpr (kKeepsQueries) {
      if (is_first) {
#pragma unroll
        for (int step = 0; step < Tile::kSteps; ++step)
#pragma unroll
          for (int group = 0; group < kGroups; ++group)
            load_queries(step, group, queries[step][group]);
      }
    }
    if (problem.mask.documents) {
      rows.template clear_unseen<kKeys>(v_tile, problem, begin);
      __syncthreads();
    }
    const auto [some_see, all_see] = shared.range(warp);
    if (begin + kKeys <= some_see.begin || begin >= some_see.end) continue;

    float score[kGroups][kScoreTiles][4] = {};
    multiply_add<Element, Tile::kSteps>(
        score,
        [&](int step, int group, std::uint32_t(&a)[4]) {
          if constexpr (kKeepsQueries)
            memcpy(a, queries[step][group], sizeof a);
          else
            load_queries(step, group, a);
        },
        [&](int step, int tile, std::uint32_t(&b)[4]) {
          k_tile.load_b_rows(b, rows.lane, 8 * tile, step);
        });
    make_logits<Bias>(score, rows, problem.scale, params, shared, begin);
    if (begin < all_see.begin || begin + kKeys > all_see.end) rows.hide(score, problem, begin);

    softmax.add(score, output);
    multiply_add<Element, kKeys / Tile::kDepth>(
        output,
        [&](int step, int group, std::uint32_t(&a)[4]) {
          accumulators_as_a<Element>(a, score[group], step);
        },
        [&](int step, int tile, std::uint32_t(&b)[4]) {
          v_tile.load_b_columns(b, rows.lane, step * Tile::kDepth, 8 * tile);
        });
  }
  cp_async_wait<0>();

  if constexpr (Bias::kPerPair)  // registers are short
    write_outputs<D, Element>(output, softmax, problem, outputs, rows);
  else
    write_outputs<D, Element>(output, softmax, problem, outputs, rows, shared.q);
}

template <int D, class Bias, class Element, class... Bounds>
void launch_forward(const Stream& stream, const Task& task, const Outputs& outputs,
                    const Bounds&... bounds) {
  using Shared = ForwardShared<D, Bias, Element>;
  const Problem& p = task.problem;
  const auto tiles = static_cast<unsigned>((p.queries + Shared::kQueries - 1) / Shared::kQueries);
  launch(stream,
         {dim3{tiles, static_cast<unsigned>(p.heads), static_cast<unsigned>(p.batch)},
          dim3{kMmaThreads}, Shared::bytes()},
         forward_kernel<D, Bias, Element, Bounds...>, p, outputs, Bias::params(task.bias),
         bounds...);
}

/// For `dispatch_bias`.
template <class Element>
struct Forward {
  template <int D, class Bias>
  static void run(const Stream& stream, const Task& task, const Outputs& outputs) {
    launch_forward<D, Bias, Element>(stream, task, outputs);
  }
};

/// Likewise.
template <class Element>
struct SkippingForward {
  template <int D, class Bias>
  static void run(const Stream& stream, const Task& task, const Outputs& outputs) {
    if constexpr (BiasOverTile<Bias>::kIsKnown) {
      const TileBoundArrays arrays(stream, task, ForwardShared<D, Bias, Element>::kKeys);
      launch_forward<D, Bias, Element>(stream, task, outputs, arrays.bounds());
    } else {
      throw std::invalid_argument("nothing is known of this bias over a tile");
    }
  }
};

}  // namespace mma_kernels

template <class Element>
void mma_forward_in(const Stream& stream, const Task& task, const Outputs& outputs) {
  dispatch<mma_kernels::Forward<Element>>(stream, task, outputs);
}

template <class Element>
void mma_skipping_forward_in(const Stream& stream, const Task& task, const Outputs& outputs) {
  dispatch<mma_kernels::SkippingForward<Element>>(stream, task, outputs);
}

}  // namespace plumbline::gpu

#endif
