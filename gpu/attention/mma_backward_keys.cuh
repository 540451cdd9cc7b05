// SPDX-License-Identifier: Apache-2.0
// The backward pass over keys on tensor cores: what 4_backward_keys.cuh computes, for 64 keys a
// block and 32 queries at a time, the next ones on their way by cp.async. Keys stand in the rows of
// all products,
//   S' = K Q',  dP' = V dO',  dV += P' dO,  dK += dZ' Q   (' transposes),
// so that P' and dZ' go from the accumulators straight into the next product, rounded to the
// element format. A lane has the keys `group` and `group + 8` of its warp's 16.
#ifndef PLUMBLINE_GPU_ATTENTION_MMA_BACKWARD_KEYS_CUH
#define PLUMBLINE_GPU_ATTENTION_MMA_BACKWARD_KEYS_CUH

#include "attention/backward_arrays.cuh"
#include "attention/backward_kernels.cuh"
#include "attention/mma_bias.cuh"
#include "attention/mma_rows.cuh"
#include "attention/mma_tile.cuh"

namespace plumbline::gpu {

namespace mma_kernels {

inline constexpr int kBackwardKeys = 64;
inline constexpr int kBackwardQueries = 32;

/// What every key of a block needs of a query.
struct BackwardQuery {
  float lse, delta, factor;
  KeyRange range;
};

template <int D, class Element>
struct BackwardKeysShared {
  using Tile = MmaTile<D, Element>;
  using BiasTile = AnyBiasTile<kBackwardQueries, kBackwardKeys>;

  static constexpr std::size_t bytes(int stages) {
    return 2 * Tile::bytes(kBackwardKeys) + 2 * Tile::bytes(stages * kBackwardQueries) +
           shared_bytes<BackwardQuery>(kBackwardQueries) + BiasTile::bytes();
  }
  static constexpr int kStages = bytes(2) <= kSharedOfAnyGpu ? 2 : 1;

  Tile k, v, q, grad_o;  // of queries kStages
  BackwardQuery* queries;
  BiasTile bias;

  __device__ explicit BackwardKeysShared(SharedMemory& shared)
      : k(Tile::take(shared, kBackwardKeys)),
        v(Tile::take(shared, kBackwardKeys)),
        q(Tile::take(shared, kStages * kBackwardQueries)),
        grad_o(Tile::take(shared, kStages * kBackwardQueries)),
        queries(shared.take<BackwardQuery>(kBackwardQueries)),
        bias(shared) {}
};

/// A block's keys, and a thread's place among them.
struct BackwardKeysPlace {
  int b, kv_head, group, first_key, count, lane, place, warp_row;

  __device__ explicit BackwardKeysPlace(const Problem& problem)
      : b(static_cast<int>(blockIdx.z)),
        kv_head(static_cast<int>(blockIdx.y)),
        group(problem.heads / problem.kv_heads),
        first_key(static_cast<int>(blockIdx.x) * kBackwardKeys),
        count(min(kBackwardKeys, problem.keys - first_key)),
        lane(static_cast<int>(threadIdx.x) % 32),
        place(lane % 4),
        warp_row(static_cast<int>(threadIdx.x) / 32 * kMmaWarpRows) {}

  __device__ int key_in_tile(int r) const { return warp_row + lane / 4 + 8 * r; }
};

/// A tile of queries that see some of a block's keys. Behind the last, `head` is that behind the
/// key head's.
struct QueryTile {
  int head, first_row;

  /// The first of them is the next one after {first head, -kBackwardQueries}.
  __device__ QueryTile next(const Problem& problem, const BackwardKeysPlace& at) const {
    QueryTile tile = *this;
    while (tile.head < (at.kv_head + 1) * at.group) {
      tile.first_row += kBackwardQueries;
      if (tile.first_row >= problem.queries) {
        tile = {tile.head + 1, -kBackwardQueries};
        continue;
      }
      const int first = tile.first_row + problem.query_offset;
      const KeyRange range = key_range(problem.mask, at.b, first, first + tile.rows(problem) - 1);
      if (range.end > at.first_key && range.begin < at.first_key + at.count) break;
    }
    return tile;
  }

  __device__ int rows(const Problem& problem) const {
    return min(kBackwardQueries, problem.queries - first_row);
  }
};

/// Turns a tile's products into P' and dZ'; 0 where the query does not see the key. Adds the keys'
/// side of dS to by_key.
template <class Shared, int tiles>
__device__ __forceinline__ void key_score_grads(float (&score)[tiles][4], float (&dp)[tiles][4],
                                                double (&by_key)[2], const Shared& shared,
                                                const Problem& problem, const AnyBias& bias,
                                                const BackwardKeysPlace& at, int head,
                                                int first_position) {
  bias.visit([&](auto family, const auto& params) {
    using Bias = decltype(family);
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      const int key = at.key_in_tile(r);
      const typename Bias::Key bias_key = shared.bias.template key<Bias>(key);
#pragma unroll
      for (int tile = 0; tile < tiles; ++tile) {
#pragma unroll
        for (int n = 0; n < 2; ++n) {
          float& p = score[tile][2 * r + n];
          float& dz = dp[tile][2 * r + n];
          const int query = 8 * tile + 2 * at.place + n;
          const BackwardQuery& row = shared.queries[query];
          if (!visible(problem.mask, row.range, at.b, first_position + query, at.first_key + key)) {
            p = dz = 0.0f;
            continue;
          }
          const typename Bias::Row& bias_row = shared.bias.template row<Bias>(query);
          const float z =
              problem.scale * p + Bias::value(params, head, bias_row, bias_key,
                                              shared.bias.template entry<Bias>(query, key));
          const ScoreGrad grad = score_grad(z, row.factor, row.lse, dz, row.delta);
          p = grad.p;
          dz = grad.dz;
          if constexpr (Bias::kPerPosition)
            by_key[r] -= static_cast<double>(grad.dz) *
                         Bias::derivatives(params, bias_row, bias_key).difference;
        }
      }
    }
  });
}

template <int D, class Element>
__global__ void __launch_bounds__(kMmaThreads, 2)
    backward_keys_kernel(Problem problem, BackwardArrays arrays, AnyBias bias) {
  using Tile = MmaTile<D, Element>;
  using Storage = typename Tile::Storage;
  constexpr int kStages = BackwardKeysShared<D, Element>::kStages;
  constexpr int kScoreTiles = kBackwardQueries / 8, kRowTiles = D / 8;
  constexpr int kQuerySteps = kBackwardQueries / Tile::kDepth;

  SharedMemory memory;
  const BackwardKeysShared<D, Element> shared(memory);
  const BackwardKeysPlace at(problem);
  const int thread = static_cast<int>(threadIdx.x);

  // Nothing sees a key beyond the length of its sequence; what stands there is not read.
  const int seen = min(at.count, max(0, length_of(problem.mask, at.b) - at.first_key));
  const std::size_t key_start = problem.key_start(at.b, at.kv_head * at.group, at.first_key, D);
  shared.k.copy(static_cast<const Storage*>(problem.k) + key_start, kBackwardKeys, seen);
  shared.v.copy(static_cast<const Storage*>(problem.v) + key_start, kBackwardKeys, seen);
  bool keys_turned = false;

  const int heads_end = (at.kv_head + 1) * at.group;
  const auto copy_queries = [&](const QueryTile& tile, int stage) {
    const std::size_t start = problem.query_start(at.b, tile.head, tile.first_row, D);
    const int rows = tile.rows(problem);
    shared.q.from(stage * kBackwardQueries)
        .copy(static_cast<const Storage*>(problem.q) + start, kBackwardQueries, rows);
    shared.grad_o.from(stage * kBackwardQueries)
        .copy(static_cast<const Storage*>(arrays.grad_o) + start, kBackwardQueries, rows);
  };
  QueryTile query_tile = QueryTile{at.kv_head * at.group, -kBackwardQueries}.next(problem, at);
  if (kStages == 2 && query_tile.head < heads_end) copy_queries(query_tile, 0);
  cp_async_commit();

  float dk[kRowTiles][4] = {}, dv[kRowTiles][4] = {};
  int stage = 0;
  for (int head = at.kv_head * at.group; head < heads_end; ++head) {
    double by_key[2] = {};
    for (; query_tile.head == head; stage ^= kStages - 1) {
      const int first_row = query_tile.first_row, rows = query_tile.rows(problem);
      const int first_position = first_row + problem.query_offset;
      const QueryTile next = query_tile.next(problem, at);
      const QueryTile& copied = kStages == 2 ? next : query_tile;
      __syncthreads();  // all are done with the tile before
      if (copied.head < heads_end) copy_queries(copied, stage ^ (kStages - 1));
      cp_async_commit();
      query_tile = next;
      if (thread < kBackwardQueries) {
        const int row = first_row + min(thread, rows - 1);
        const std::size_t index = problem.lse_index(at.b, head, row);
        shared.queries[thread] = {
            arrays.lse[index], arrays.delta[index], problem.logit_factor(at.b, head, row),
            thread < rows ? key_range(problem.mask, at.b, row + problem.query_offset)
                          : KeyRange{0, 0}};
      }
      const At first{at.b, head, first_row, first_position};
      shared.bias.load_rows(bias, first, rows);
      shared.bias.load_keys(bias, first, first_position, at.first_key, at.first_key + at.count);
      cp_async_wait<kStages - 1>();  // all but a tile after this one
      __syncthreads();
      const Tile q_tile = shared.q.from(stage * kBackwardQueries);
      const Tile grad_o_tile = shared.grad_o.from(stage * kBackwardQueries);
      if (problem.rotation.cosine) {
        q_tile.turn(problem.rotation, rows, first_position);
        if (!keys_turned) shared.k.turn(problem.rotation, seen, at.first_key);
        keys_turned = true;
        __syncthreads();
      }

      float p[kScoreTiles][4] = {}, dz[kScoreTiles][4] = {};
      multiply_add<Element, Tile::kSteps>(
          p,
          [&](int step, std::uint32_t(&a)[4]) { shared.k.load_a(a, at.lane, at.warp_row, step); },
          [&](int step, int tile, std::uint32_t(&b)[4]) {
            q_tile.load_b_rows(b, at.lane, 8 * tile, step);
          });
      multiply_add<Element, Tile::kSteps>(
          dz,
          [&](int step, std::uint32_t(&a)[4]) { shared.v.load_a(a, at.lane, at.warp_row, step); },
          [&](int step, int tile, std::uint32_t(&b)[4]) {
            grad_o_tile.load_b_rows(b, at.lane, 8 * tile, step);
          });
      key_score_grads(p, dz, by_key, shared, problem, bias, at, head, first_position);
      multiply_add<Element, kQuerySteps>(
          dv, [&](int step, std::uint32_t(&a)[4]) { accumulators_as_a<Element>(a, p, step); },
          [&](int step, int tile, std::uint32_t(&b)[4]) {
            grad_o_tile.load_b_columns(b, at.lane, step * Tile::kDepth, 8 * tile);
          });
      multiply_add<Element, kQuerySteps>(
          dk, [&](int step, std::uint32_t(&a)[4]) { accumulators_as_a<Element>(a, dz, step); },
          [&](int step, int tile, std::uint32_t(&b)[4]) {
            q_tile.load_b_columns(b, at.lane, step * Tile::kDepth, 8 * tile);
          });
    }
    if (arrays.prefix_sum) {
#pragma unroll
      for (int r = 0; r < 2; ++r) {
        by_key[r] += shuffle_xor(by_key[r], 1);
        by_key[r] += shuffle_xor(by_key[r], 2);
        if (at.place == 0 && at.key_in_tile(r) < at.count)
          arrays.prefix_sum[problem.sum_index(at.b, head, at.first_key + at.key_in_tile(r))] =
              by_key[r];
      }
    }
  }
  cp_async_wait<0>();
#pragma unroll
  for (int r = 0; r < 2; ++r) {
    if (at.key_in_tile(r) >= at.count) continue;
    const std::size_t row = key_start + static_cast<std::size_t>(at.key_in_tile(r)) * D;
#pragma unroll
    for (int tile = 0; tile < kRowTiles; ++tile) {
#pragma unroll
      for (int n = 0; n < 2; ++n) {
        const int column = 8 * tile + 2 * at.place + n;
        arrays.dk[row + column] = problem.scale * dk[tile][2 * r + n];
        arrays.dv[row + column] = dv[tile][2 * r + n];
      }
    }
  }
}

template <int D, class Element>
void run_backward_keys(const Stream& stream, const Task& task, const BackwardArrays& arrays) {
  using Shared = BackwardKeysShared<D, Element>;
  const Problem& p = task.problem;
  const auto tiles = static_cast<unsigned>((p.keys + kBackwardKeys - 1) / kBackwardKeys);
  launch(stream,
         {dim3{tiles, static_cast<unsigned>(p.kv_heads), static_cast<unsigned>(p.batch)},
          dim3{kMmaThreads}, Shared::bytes(Shared::kStages)},
         backward_keys_kernel<D, Element>, p, arrays, any_bias(stream, task));
}

}  // namespace mma_kernels

template <class Element>
void mma_backward_keys_in(const Stream& stream, const Task& task, const BackwardArrays& arrays) {
  const auto run = [&]<int D>() {
    mma_kernels::run_backward_keys<D, Element>(stream, task, arrays);
  };
  if (!with_head_dim(task.head_dim, run))
    throw std::invalid_argument("head dimension must be one of " + list_of(HeadDims{}));
}

}  // namespace plumbline::gpu

#endif
