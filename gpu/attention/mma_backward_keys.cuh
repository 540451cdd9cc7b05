// SPDX-License-Identifier: Apache-2.0
// The backward pass over keys on tensor cores: what 4_backward_keys.cuh computes, for 64 keys a
// block and 32 or 16 queries at a time, the next ones on their way by cp.async. Keys stand in the
// rows of all products,
//   S' = K Q',  dP' = V dO',  dV += P' dO,  dK += dZ' Q   (' transposes),
// so that P' and dZ' go from the accumulators straight into the next product, rounded to the
// element format. A lane has the keys `group` and `group + 8` of its warp's 16.
#ifndef PLUMBLINE_GPU_ATTENTION_MMA_BACKWARD_KEYS_CUH
#define PLUMBLINE_GPU_ATTENTION_MMA_BACKWARD_KEYS_CUH

#include "attention/backward_arrays.cuh"
#include "attention/backward_kernels.cuh"
#include "attention/mma_score_grad.cuh"
#include "attention/mma_tile.cuh"

namespace plumbline::gpu {

namespace mma_kernels {

inline constexpr int kBackwardKeys = 64;
/// With more at a time the largest head dimension, whose sums take half of the registers, spills.
template <int D>
inline constexpr int kBackwardQueries = D <= 96 ? 32 : 16;

/// What every key of a block needs of two neighbouring queries: the LSE in units of log2, and D.
struct alignas(16) QueryPair {
  float lse2[2], delta[2];
};

/// What it needs beside, where a mask or SSMax plays a part.
struct MaskedQuery {
  KeyRange range;
  float factor, log2_factor;  // Problem::logit_factor
};

template <int D, class Bias, class Element>
struct BackwardKeysShared {
  using Tile = MmaTile<D, Element>;
  static constexpr int kQueries = kBackwardQueries<D>;
  using BiasTile = MmaBiasTile<Bias, kQueries, kBackwardKeys, kQueries, true>;

  static constexpr std::size_t bytes(int stages) {
    return 2 * Tile::bytes(kBackwardKeys) + 2 * Tile::bytes(stages * kQueries) +
           shared_bytes<QueryPair>(kQueries / 2) + shared_bytes<MaskedQuery>(kQueries) +
           BiasTile::bytes();
  }
  static constexpr int kStages = bytes(2) <= kSharedOfAnyGpu ? 2 : 1;

  Tile k, v, q, grad_o;  // of queries kStages
  QueryPair* pairs;
  MaskedQuery* masked;
  BiasTile bias;

  __device__ explicit BackwardKeysShared(SharedMemory& shared)
      : k(Tile::take(shared, kBackwardKeys)),
        v(Tile::take(shared, kBackwardKeys)),
        q(Tile::take(shared, kStages * kQueries)),
        grad_o(Tile::take(shared, kStages * kQueries)),
        pairs(shared.take<QueryPair>(kQueries / 2)),
        masked(shared.take<MaskedQuery>(kQueries)),
        bias(shared) {}
};

/// A block's keys, and a thread's place among them; `thread` is the n-th that has some.
struct BackwardKeysPlace {
  int b, kv_head, group, keys, first_key, count, lane, place, warp_row;

  __device__ BackwardKeysPlace(const Problem& problem, int keys_of_block, int thread)
      : b(static_cast<int>(blockIdx.z)),
        kv_head(static_cast<int>(blockIdx.y)),
        group(problem.heads / problem.kv_heads),
        keys(keys_of_block),
        first_key(static_cast<int>(blockIdx.x) * keys),
        count(min(keys, problem.keys - first_key)),
        lane(thread % 32),
        place(lane % 4),
        warp_row(thread / 32 * kMmaWarpRows) {}

  __device__ int key_in_tile(int r) const { return warp_row + lane / 4 + 8 * r; }
};

/// Of a tile of `rows` queries within QueryRange the first positions, from `begin` to `last`, where
/// all of them see all keys of the block, and there is no SSMax.
struct PlainPositions {
  int begin, last;

  __device__ PlainPositions(const Problem& problem, const BackwardKeysPlace& at, int rows)
      : begin(0), last(1 << 30) {
    const Mask& mask = problem.mask;
    const int length = length_of(mask, at.b), last_key = at.first_key + at.keys - 1;
    if (mask.causal) begin = last_key;
    if (mask.right >= 0) begin = max(begin, last_key - mask.right);
    if (mask.left >= 0) last = min(last, at.first_key + mask.left - (rows - 1));
    if (last_key >= length || mask.documents || problem.ssmax_scale) last = -1;
  }

  __device__ bool has(int first_position) const {
    return begin <= first_position && first_position <= last;
  }
};

/// Rows begin .. end-1 of the queries.
struct QueryRange {
  int begin, end;

  /// Those that may see some of a block's keys: key_range the other way round.
  __device__ QueryRange(const Problem& problem, const BackwardKeysPlace& at) {
    const Mask& mask = problem.mask;
    const int length = length_of(mask, at.b), first_position = problem.first_position(at.b);
    const int last_key = min(at.first_key + at.count, length) - 1;
    begin = max(0, -first_position);
    end = at.first_key <= last_key ? problem.queries : 0;
    if (mask.lengths) end = min(end, length - first_position);
    if (mask.causal) begin = max(begin, at.first_key - first_position);
    if (mask.right >= 0) begin = max(begin, at.first_key - mask.right - first_position);
    if (mask.left >= 0) end = min(end, last_key + mask.left + 1 - first_position);
  }
};

/// Turns a tile's products into P' and dZ'; 0 where the query does not see the key. Adds the keys'
/// side of dS to by_key. `plain`: every query sees every key, and there is no SSMax.
template <bool plain, class Bias, class Shared, int tiles>
__device__ __forceinline__ void key_score_grads(float (&score)[tiles][4], float (&dp)[tiles][4],
                                                double (&by_key)[2], const Shared& shared,
                                                const Problem& problem,
                                                const typename Bias::Params& params,
                                                const BackwardKeysPlace& at, int head,
                                                int first_position) {
  const typename InTile<Bias>::Key bias_key[2] = {shared.bias.key(at.key_in_tile(0)),
                                                  shared.bias.key(at.key_in_tile(1))};
  float of_tile[2] = {};
  const PartOfTile part{0, 8 * tiles, at.warp_row, kMmaWarpRows, first_position - at.first_key};
  with_method_of_part<Bias>(params, head, shared.bias, part, [&](auto method) {
    constexpr bool together = decltype(method)::kTogether;
#pragma unroll
    for (int tile = 0; tile < tiles; ++tile) {
      const QueryPair pair = shared.pairs[4 * tile + at.place];
      float biases[4];  // `together`
      if constexpr (together) {
#pragma unroll
        for (int m = 0; m < 4; ++m) {
          const int query = 8 * tile + 2 * at.place + m % 2;
          biases[m] = method.value(shared.bias.row(query), bias_key[m / 2],
                                   shared.bias.entry(query, at.key_in_tile(m / 2)));
        }
        method.finish(biases);
      }
#pragma unroll
      for (int n = 0; n < 2; ++n) {
        const int query = 8 * tile + 2 * at.place + n;
        const typename InTile<Bias>::Row bias_row = shared.bias.row(query);
        const MaskedQuery row = plain ? MaskedQuery{{}, 1.0f, kLog2E} : shared.masked[query];
#pragma unroll
        for (int r = 0; r < 2; ++r) {
          float& p = score[tile][2 * r + n];
          float& dz = dp[tile][2 * r + n];
          const int key = at.key_in_tile(r);
          if (!plain &&
              !visible(problem.mask, row.range, at.b, first_position + query, at.first_key + key)) {
            p = dz = 0.0f;
            continue;
          }
          float b;
          if constexpr (together)
            b = biases[2 * r + n];
          else
            b = method.value(bias_row, bias_key[r], shared.bias.entry(query, key));
          p = probability<Bias>(row.log2_factor * problem.scale, p, row.log2_factor, b,
                                pair.lse2[n]);
          dz = p * (dz - pair.delta[n]);
          if (!plain) dz *= row.factor;
          if constexpr (Bias::kPerPosition)
            of_tile[r] -= dz * method.derivatives(bias_row, bias_key[r]).difference;
        }
      }
    }
  });
  if constexpr (Bias::kPerPosition) {
    by_key[0] += of_tile[0];
    by_key[1] += of_tile[1];
  }
}

/// Writes the keys' side of dS of a head.
__device__ __forceinline__ void write_key_sums(double (&by_key)[2], const Problem& problem,
                                               const BackwardArrays& arrays,
                                               const BackwardKeysPlace& at, int head) {
  if (!arrays.prefix_sum) return;
#pragma unroll
  for (int r = 0; r < 2; ++r) {
    by_key[r] += shuffle_xor(by_key[r], 1);
    by_key[r] += shuffle_xor(by_key[r], 2);
    if (at.place == 0 && at.key_in_tile(r) < at.count)
      arrays.prefix_sum[problem.sum_index(at.b, head, at.first_key + at.key_in_tile(r))] =
          by_key[r];
  }
}

template <int D>
__device__ __forceinline__ void write_key_grads(const float (&dk)[D / 8][4],
                                                const float (&dv)[D / 8][4], const Problem& problem,
                                                const BackwardArrays& arrays,
                                                const BackwardKeysPlace& at) {
  const std::size_t first = problem.key_start(at.b, at.kv_head * at.group, at.first_key, D);
#pragma unroll
  for (int r = 0; r < 2; ++r) {
    if (at.key_in_tile(r) >= at.count) continue;
    const std::size_t row = first + static_cast<std::size_t>(at.key_in_tile(r)) * D;
#pragma unroll
    for (int tile = 0; tile < D / 8; ++tile) {
      const int column = 8 * tile + 2 * at.place;
      const float *of_dk = dk[tile] + 2 * r, *of_dv = dv[tile] + 2 * r;
      store_pair(arrays.dk + row + column, problem.scale * of_dk[0], problem.scale * of_dk[1]);
      store_pair(arrays.dv + row + column, of_dv[0], of_dv[1]);
    }
  }
}

template <int D, class Bias, class Element>
__global__ void __launch_bounds__(kMmaThreads, 2)
    backward_keys_kernel(Problem problem, BackwardArrays arrays, typename Bias::Params params) {
  using Shared = BackwardKeysShared<D, Bias, Element>;
  using Tile = MmaTile<D, Element>;
  using Storage = typename Tile::Storage;
  constexpr int kStages = Shared::kStages;
  constexpr int kQueries = kBackwardQueries<D>;
  constexpr int kScoreTiles = kQueries / 8, kRowTiles = D / 8;
  constexpr int kQuerySteps = kQueries / Tile::kDepth;

  SharedMemory memory;
  Shared shared(memory);
  const int thread = static_cast<int>(threadIdx.x);
  const BackwardKeysPlace at(problem, kBackwardKeys, thread);

  // Nothing sees a key beyond the length of its sequence; what stands there is not read.
  const int seen = min(at.count, max(0, length_of(problem.mask, at.b) - at.first_key));
  const std::size_t key_start = problem.key_start(at.b, at.kv_head * at.group, at.first_key, D);
  shared.k.copy(static_cast<const Storage*>(problem.k) + key_start, kBackwardKeys, seen);
  shared.v.copy(static_cast<const Storage*>(problem.v) + key_start, kBackwardKeys, seen);

  const int heads_end = (at.kv_head + 1) * at.group;
  const QueryRange queries(problem, at);
  const auto copy_queries = [&](int head, int first_row, int stage) {
    const std::size_t start = problem.query_start(at.b, head, first_row, D);
    const int rows = queries.end - first_row;
    shared.q.from(stage * kQueries)
        .copy(static_cast<const Storage*>(problem.q) + start, kQueries, rows);
    shared.grad_o.from(stage * kQueries)
        .copy(static_cast<const Storage*>(arrays.grad_o) + start, kQueries, rows);
  };
  if (kStages == 2 && queries.begin < queries.end)
    copy_queries(at.kv_head * at.group, queries.begin, 0);
  cp_async_commit();

  float dk[kRowTiles][4] = {}, dv[kRowTiles][4] = {};
  const PlainPositions plain_positions(problem, at, kQueries);
  int stage = 0;
  for (int head = at.kv_head * at.group; head < heads_end; ++head) {
    double by_key[2] = {};
    for (int first_row = queries.begin; first_row < queries.end;
         first_row += kQueries, stage ^= kStages - 1) {
      const int rows = min(kQueries, queries.end - first_row);
      const int first_position = first_row + problem.first_position(at.b);
      __syncthreads();  // all are done with the tile before
      if (kStages == 1)
        copy_queries(head, first_row, 0);
      else if (first_row + kQueries < queries.end)
        copy_queries(head, first_row + kQueries, stage ^ 1);
      else if (head + 1 < heads_end)
        copy_queries(head + 1, queries.begin, stage ^ 1);
      cp_async_commit();
      const bool plain = rows == kQueries && plain_positions.has(first_position);
      if (thread < kQueries) {
        const int row = first_row + min(thread, rows - 1);
        const std::size_t index = problem.row_index(at.b, head, row);
        QueryPair& pair = shared.pairs[thread / 2];
        pair.lse2[thread % 2] = arrays.lse[index] * kLog2E;
        pair.delta[thread % 2] = arrays.delta[index];
        if (!plain)
          shared.masked[thread] = {
              thread < rows ? key_range(problem.mask, at.b, row - first_row + first_position)
                            : KeyRange{0, 0},
              problem.logit_factor(at.b, head, row), problem.log2_logit_factor(at.b, head, row)};
      }
      const At first{at.b, head, first_row, first_position};
      shared.bias.load_rows(params, first, rows, at.first_key);
      if (first_row == queries.begin)
        shared.bias.load_keys(params, first, at.first_key, at.first_key + at.count);
      shared.bias.load_entries(params, head, first_position - at.first_key,
                               first_row == queries.begin);
      cp_async_wait<kStages - 1>();  // all but a tile after this one
      __syncthreads();
      const Tile q_tile = shared.q.from(stage * kQueries);
      const Tile grad_o_tile = shared.grad_o.from(stage * kQueries);

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
      if (plain)
        key_score_grads<true, Bias>(p, dz, by_key, shared, problem, params, at, head,
                                    first_position);
      else
        key_score_grads<false, Bias>(p, dz, by_key, shared, problem, params, at, head,
                                     first_position);
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
    write_key_sums(by_key, problem, arrays, at, head);
  }
  cp_async_wait<0>();
  write_key_grads<D>(dk, dv, problem, arrays, at);
}

/// For `dispatch`.
template <class Element>
struct BackwardKeys {
  template <int D, class Bias>
  static void run(const Stream& stream, const Task& task, const BackwardArrays& arrays) {
    using Shared = BackwardKeysShared<D, Bias, Element>;
    const Problem& p = task.problem;
    const auto tiles = static_cast<unsigned>((p.keys + kBackwardKeys - 1) / kBackwardKeys);
    launch(stream,
           {dim3{tiles, static_cast<unsigned>(p.kv_heads), static_cast<unsigned>(p.batch)},
            dim3{kMmaThreads}, Shared::bytes(Shared::kStages)},
           backward_keys_kernel<D, Bias, Element>, p, arrays, Bias::params(task.bias));
  }
};

}  // namespace mma_kernels

template <class Element>
void mma_backward_keys_in(const Stream& stream, const Task& task, const BackwardArrays& arrays) {
  dispatch<mma_kernels::BackwardKeys<Element>>(stream, task, arrays);
}

}  // namespace plumbline::gpu

#endif
