// SPDX-License-Identifier: Apache-2.0
// Variant 4, backward over queries: a block owns 32 query rows, walks over the keys they see and
// recomputes P from the LSE (Dao et al., FlashAttention, algorithm 4). It gives dQ and the
// gradients that belong to a query or to a head; with atomic additions also dK, dV and the keys'
// side of dS, which otherwise come from the kernel over keys. Without a softcap then: dK needs dz
// times its derivative, where the biases need dz.
#ifndef PLUMBLINE_GPU_ATTENTION_4_BACKWARD_QUERIES_CUH
#define PLUMBLINE_GPU_ATTENTION_4_BACKWARD_QUERIES_CUH

#include "attention/backward_arrays.cuh"
#include "attention/backward_tile.cuh"
#include "bias/distance_grad.cuh"
#include "bias/fire_grad.cuh"
#include "core/atomic.cuh"

namespace plumbline::gpu {

namespace backward {

/// Shared memory of a block.
template <int D, class Bias>
struct QueriesShared {
  RowsTile<D> q, grad_o, k, v;
  float *p, *dz;             // [kTileQueries][kScoreStride]
  typename Bias::Row* rows;  // [kTileQueries]
  double* row_sums;          // [kTileQueries]
  BiasTile<Bias> bias;

  __device__ explicit QueriesShared(SharedMemory& shared)
      : q(shared),
        grad_o(shared),
        k(shared),
        v(shared),
        p(shared.take<float>(kTileQueries * kScoreStride)),
        dz(shared.take<float>(kTileQueries * kScoreStride)),
        rows(shared.take<typename Bias::Row>(kTileQueries)),
        row_sums(shared.take<double>(kTileQueries)),
        bias(shared) {}

  static std::size_t bytes(const typename Bias::Params& params) {
    return 4 * RowsTile<D>::bytes() + 2 * shared_bytes<float>(kTileQueries * kScoreStride) +
           shared_bytes<typename Bias::Row>(kTileQueries) + shared_bytes<double>(kTileQueries) +
           BiasTile<Bias>::bytes() + HeadGrad<Bias>::bytes(params);
  }
};

/// dK, dV and the keys' dS of the tile at `begin`, by atomic additions. Here the four lanes own a
/// key.
template <int D, class Bias>
__device__ void add_to_keys(const QueriesShared<D, Bias>& shared, const Problem& problem,
                            const BackwardArrays& arrays, const typename Bias::Params& params,
                            int b, int head, int begin, int end) {
  const int thread = static_cast<int>(threadIdx.x);
  const int key = thread / kLanesPerRow, lane_in_row = thread % kLanesPerRow;
  if constexpr (Bias::kPerPosition) {
    double sum = 0.0;
    for (int row = lane_in_row; row < kTileQueries; row += kLanesPerRow)
      if (shared.p[row * kScoreStride + key] != kInvisible)
        sum -= static_cast<double>(shared.dz[row * kScoreStride + key]) *
               Bias::derivatives(params, shared.rows[row], shared.bias.keys[key]).difference;
    sum = row_sum(sum);
    if (lane_in_row == 0 && begin + key < end)
      atomic_add(arrays.prefix_sum + problem.sum_index(b, head, begin + key), sum);
  }
  if (begin + key >= end) return;
  LaneSums<D> dk, dv;
  bool seen = false;
  for (int row = 0; row < kTileQueries; ++row) {
    const float p = shared.p[row * kScoreStride + key];
    if (p == kInvisible) continue;
    seen = true;
    dv.add(p, shared.grad_o.row(row), lane_in_row);
    dk.add(shared.dz[row * kScoreStride + key], shared.q.row(row), lane_in_row);
  }
  if (!seen) return;
  const std::size_t start = problem.key_start(b, head, begin + key, D) + 4 * lane_in_row;
#pragma unroll
  for (int n = 0; n < D / 16; ++n) {
    float* to_v = arrays.dv + start + 16 * n;
    atomic_add(to_v, dv.value[n].x);
    atomic_add(to_v + 1, dv.value[n].y);
    atomic_add(to_v + 2, dv.value[n].z);
    atomic_add(to_v + 3, dv.value[n].w);
    float* to_k = arrays.dk + start + 16 * n;
    atomic_add(to_k, problem.scale * dk.value[n].x);
    atomic_add(to_k + 1, problem.scale * dk.value[n].y);
    atomic_add(to_k + 2, problem.scale * dk.value[n].z);
    atomic_add(to_k + 3, problem.scale * dk.value[n].w);
  }
}

template <int D, class Bias>
__global__ void __launch_bounds__(kTileThreads, HeadGrad<Bias>::kUsed ? 2 : kBackwardBlocks<D>)
    queries_kernel(Problem problem, BackwardArrays arrays, typename Bias::Params params) {
  SharedMemory memory;
  const QueriesShared<D, Bias> shared(memory);
  const int thread = static_cast<int>(threadIdx.x);
  const int row_in_tile = thread / kLanesPerRow, lane_in_row = thread % kLanesPerRow;
  const int first_row = static_cast<int>(blockIdx.x) * kTileQueries;
  const int head = static_cast<int>(blockIdx.y), b = static_cast<int>(blockIdx.z);
  const int rows = min(kTileQueries, problem.queries - first_row);
  const bool exists = row_in_tile < rows;
  const int row = first_row + min(row_in_tile, rows - 1);
  const int first_position = first_row + problem.first_position(b);
  const int position = row - first_row + first_position;
  const std::size_t block =
      (static_cast<std::size_t>(b) * problem.heads + head) * gridDim.x + blockIdx.x;

  HeadGrad<Bias> head_grad(memory, params, arrays.head_partial + block * arrays.head_rows);
  if constexpr (HeadGrad<Bias>::kUsed) head_grad.begin(params, head);
  for (int n = thread; n < arrays.head_rows; n += kTileThreads)
    arrays.head_partial[block * arrays.head_rows + n] = 0.0;

  load_rows(problem, arrays, b, head, first_row, rows, shared.q, shared.grad_o);
  const At at{b, head, row, position};
  const typename Bias::Row bias_row = Bias::load_row(params, at);
  if (lane_in_row == 0) shared.rows[row_in_tile] = bias_row;

  const KeyRange range = exists ? key_range(problem.mask, b, position) : KeyRange{0, 0};
  const KeyRange keys = key_range(problem.mask, b, first_position, first_position + rows - 1);
  const std::size_t index = problem.row_index(b, head, row);
  const float lse = saved_lse(problem, arrays, b, head, row), delta = arrays.delta[index];
  const float factor = problem.logit_factor(b, head, row);

  LaneSums<D> dq;
  double by_difference = 0.0, by_gain = 0.0, by_ssmax = 0.0;
  for (int begin = keys.begin; begin < keys.end; begin += kTileKeys) {
    __syncthreads();  // all are done with the tile before
    const std::size_t key_start = problem.k_rows.start(b, problem.kv_head_of(head), begin);
    const int count = min(kTileKeys, keys.end - begin);
    shared.k.fill(count, [&](int n, int d) {
      return problem.key(key_start + n * problem.k_rows.token, d, begin + n);
    });
    const std::size_t value_start = problem.v_rows.start(b, problem.kv_head_of(head), begin);
    shared.v.fill(count, [&](int n, int d) {
      return problem.value(problem.v, value_start + n * problem.v_rows.token, d);
    });
    shared.bias.load(params, at, first_position, begin, keys.end);
    __syncthreads();

    float score[kKeysPerLane], dp[kKeysPerLane], of_bias[kKeysPerLane];
    products(shared.q.row(row_in_tile), shared.k, lane_in_row, score);
    products(shared.grad_o.row(row_in_tile), shared.v, lane_in_row, dp);
    float* p = shared.p + row_in_tile * kScoreStride;
    float* dz = shared.dz + row_in_tile * kScoreStride;
#pragma unroll
    for (int n = 0; n < kKeysPerLane; ++n) {
      const int key = kLanesPerRow * n + lane_in_row;
      p[key] = kInvisible;
      dz[key] = of_bias[n] = 0.0f;
      if (!problem.sees(range, at, begin + key)) continue;
      const float capped = problem.capped(problem.scale * score[n]);
      const float z = capped + shared.bias.value(params, head, bias_row, row_in_tile, key);
      const ScoreGrad grad =
          score_grad(z, factor, lse, problem.dropped(at, begin + key, dp[n]), delta);
      p[key] = problem.dropped(at, begin + key, grad.p);
      dz[key] = problem.cap_slope(capped) * grad.dz;
      of_bias[n] = grad.dz;
      if constexpr (Bias::kPerPair) arrays.pairs[index * problem.keys + begin + key] = grad.dz;
      if (problem.ssmax_scale) by_ssmax += static_cast<double>(grad.ds) * z;
      if constexpr (Bias::kPerPosition) {
        const auto of = Bias::derivatives(params, bias_row, shared.bias.keys[key]);
        by_difference += static_cast<double>(grad.dz) * of.difference;
        by_gain += static_cast<double>(grad.dz) * of.gain;
      }
    }
    __syncwarp();  // the row's four lanes have written P and dz
    for (int key = 0; key < kTileKeys; ++key)
      if (p[key] != kInvisible) dq.add(dz[key], shared.k.row(key), lane_in_row);
    if (HeadGrad<Bias>::kUsed && problem.softcap > 0.0f) {
      __syncwarp();  // the row's four lanes have read dz as the products have it
      for (int n = 0; n < kKeysPerLane; ++n) dz[kLanesPerRow * n + lane_in_row] = of_bias[n];
    }
    if (HeadGrad<Bias>::kUsed || arrays.atomic) {
      __syncthreads();  // all rows' P and dz are there
      if constexpr (HeadGrad<Bias>::kUsed)
        head_grad.add(params, head, shared.dz, kScoreStride, shared.bias.entries,
                      first_position - begin, shared.rows);
      if (arrays.atomic) add_to_keys(shared, problem, arrays, params, b, head, begin, keys.end);
    }
  }

  if (exists)
    dq.store(arrays.dq + problem.query_start(b, head, row, D), lane_in_row, problem.scale);
  if constexpr (HeadGrad<Bias>::kUsed) head_grad.finish(params, head);
  if constexpr (Bias::kPerPosition) {
    by_difference = row_sum(by_difference);
    by_gain = row_sum(by_gain);
    if (exists && lane_in_row == 0) {
      if (arrays.gain) arrays.gain[index] = static_cast<float>(by_gain);
      double* sum = arrays.prefix_sum + problem.sum_index(b, head, max(position, 0));
      if (position < 0)
        ;  // it sees no key
      else if (arrays.atomic)
        atomic_add(sum, by_difference);
      else
        *sum += by_difference;  // to the keys' side, which is there already
    }
  }
  if (problem.ssmax_scale) {
    by_ssmax = row_sum(by_ssmax);
    if (lane_in_row == 0)
      shared.row_sums[row_in_tile] =
          range.end > range.begin ? by_ssmax * problem.log_visible(b, row) : 0.0;
    __syncthreads();
    if (thread == 0) {
      double sum = 0.0;
      for (int n = 0; n < rows; ++n) sum += shared.row_sums[n];
      arrays.ssmax_partial[block] = sum;
    }
  }
}

struct Queries {
  template <int D, class Bias>
  static void run(const Stream& stream, const Task& task, const BackwardArrays& arrays) {
    const Problem& problem = task.problem;
    const auto params = Bias::params(task.bias);
    const auto tiles = static_cast<unsigned>((problem.queries + kTileQueries - 1) / kTileQueries);
    const dim3 grid{tiles, static_cast<unsigned>(problem.heads),
                    static_cast<unsigned>(problem.batch)};
    launch(stream, {grid, dim3{kTileThreads}, QueriesShared<D, Bias>::bytes(params)},
           queries_kernel<D, Bias>, problem, arrays, params);
  }
};

}  // namespace backward

}  // namespace plumbline::gpu

#endif
