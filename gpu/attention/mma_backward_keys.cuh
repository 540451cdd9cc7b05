// SPDX-License-Identifier: Apache-2.0
// The backward pass over keys on tensor cores: what 4_backward_keys.cuh computes, for 64 keys a
// block and 32 queries at a time. Keys stand in the rows of all products,
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

  Tile k, v, q, grad_o;
  BackwardQuery* queries;
  BiasTile bias;

  __device__ explicit BackwardKeysShared(SharedMemory& shared)
      : k(Tile::take(shared, kBackwardKeys)),
        v(Tile::take(shared, kBackwardKeys)),
        q(Tile::take(shared, kBackwardQueries)),
        grad_o(Tile::take(shared, kBackwardQueries)),
        queries(shared.take<BackwardQuery>(kBackwardQueries)),
        bias(shared) {}

  static constexpr std::size_t bytes() {
    return 2 * Tile::bytes(kBackwardKeys) + 2 * Tile::bytes(kBackwardQueries) +
           shared_bytes<BackwardQuery>(kBackwardQueries) + BiasTile::bytes();
  }
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

/// Turns a tile's products into P' and dZ'; 0 where the query does not see the key. Adds the keys'
/// side of dS to by_key.
template <class Shared, int tiles>
__device__ __forceinline__ void score_grads(float (&score)[tiles][4], float (&dp)[tiles][4],
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

  float dk[kRowTiles][4] = {}, dv[kRowTiles][4] = {};
  for (int head = at.kv_head * at.group; head < (at.kv_head + 1) * at.group; ++head) {
    double by_key[2] = {};
    for (int first_row = 0; first_row < problem.queries; first_row += kBackwardQueries) {
      const int rows = min(kBackwardQueries, problem.queries - first_row);
      const int first_position = first_row + problem.query_offset;
      const KeyRange range =
          key_range(problem.mask, at.b, first_position, first_position + rows - 1);
      if (range.end <= at.first_key || range.begin >= at.first_key + at.count) continue;

      __syncthreads();  // all are done with the tile before
      const std::size_t start = problem.query_start(at.b, head, first_row, D);
      shared.q.copy(static_cast<const Storage*>(problem.q) + start, kBackwardQueries, rows);
      shared.grad_o.copy(static_cast<const Storage*>(arrays.grad_o) + start, kBackwardQueries,
                         rows);
      cp_async_commit();
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
      cp_async_wait<0>();
      __syncthreads();
      if (problem.rotation.cosine) {
        shared.q.turn(problem.rotation, rows, first_position);
        if (!keys_turned) shared.k.turn(problem.rotation, seen, at.first_key);
        keys_turned = true;
        __syncthreads();
      }

      float p[kScoreTiles][4] = {}, dz[kScoreTiles][4] = {};
      multiply_add<Element, Tile::kSteps>(
          p,
          [&](int step, std::uint32_t(&a)[4]) { shared.k.load_a(a, at.lane, at.warp_row, step); },
          [&](int step, int tile, std::uint32_t(&b)[4]) {
            shared.q.load_b_rows(b, at.lane, 8 * tile, step);
          });
      multiply_add<Element, Tile::kSteps>(
          dz,
          [&](int step, std::uint32_t(&a)[4]) { shared.v.load_a(a, at.lane, at.warp_row, step); },
          [&](int step, int tile, std::uint32_t(&b)[4]) {
            shared.grad_o.load_b_rows(b, at.lane, 8 * tile, step);
          });
      score_grads(p, dz, by_key, shared, problem, bias, at, head, first_position);
      multiply_add<Element, kQuerySteps>(
          dv, [&](int step, std::uint32_t(&a)[4]) { accumulators_as_a<Element>(a, p, step); },
          [&](int step, int tile, std::uint32_t(&b)[4]) {
            shared.grad_o.load_b_columns(b, at.lane, step * Tile::kDepth, 8 * tile);
          });
      multiply_add<Element, kQuerySteps>(
          dk, [&](int step, std::uint32_t(&a)[4]) { accumulators_as_a<Element>(a, dz, step); },
          [&](int step, int tile, std::uint32_t(&b)[4]) {
            shared.q.load_b_columns(b, at.lane, step * Tile::kDepth, 8 * tile);
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
  const Problem& p = task.problem;
  const auto tiles = static_cast<unsigned>((p.keys + kBackwardKeys - 1) / kBackwardKeys);
  launch(stream,
         {dim3{tiles, static_cast<unsigned>(p.kv_heads), static_cast<unsigned>(p.batch)},
          dim3{kMmaThreads}, BackwardKeysShared<D, Element>::bytes()},
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
