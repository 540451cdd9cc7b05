// SPDX-License-Identifier: Apache-2.0
// Variant 4, backward over keys: a block owns 32 keys, walks over the queries of all heads that
// read them, and gives dK, dV and the keys' side of dS. It and the kernel over queries add up in a
// fixed order, so that every run gives the same bits.
#ifndef PLUMBLINE_GPU_ATTENTION_4_BACKWARD_KEYS_CUH
#define PLUMBLINE_GPU_ATTENTION_4_BACKWARD_KEYS_CUH

#include "attention/backward_arrays.cuh"
#include "attention/backward_tile.cuh"

namespace plumbline::gpu {

namespace backward {

/// What every key of a block needs of a query.
template <class Bias>
struct QueryRow {
  float lse, delta, factor;
  KeyRange range;
  typename Bias::Row bias;
};

/// Shared memory of a block.
template <int D, class Bias>
struct KeysShared {
  RowsTile<D> k, v, q, grad_o;
  float *p, *dz;         // [kTileKeys][kScoreStride]
  QueryRow<Bias>* rows;  // [kTileQueries]
  float* entries;        // [64], by i - j + 31

  static constexpr int kEntries = BiasTile<Bias>::kEntries;

  __device__ explicit KeysShared(SharedMemory& shared)
      : k(shared),
        v(shared),
        q(shared),
        grad_o(shared),
        p(shared.take<float>(kTileKeys * kScoreStride)),
        dz(shared.take<float>(kTileKeys * kScoreStride)),
        rows(shared.take<QueryRow<Bias>>(kTileQueries)),
        entries(shared.take<float>(kEntries)) {}

  static constexpr std::size_t bytes() {
    return 4 * RowsTile<D>::bytes() + 2 * shared_bytes<float>(kTileKeys * kScoreStride) +
           shared_bytes<QueryRow<Bias>>(kTileQueries) + shared_bytes<float>(kEntries);
  }
};

template <int D, class Bias>
__global__ void __launch_bounds__(kTileThreads, kBackwardBlocks<D>)
    keys_kernel(Problem problem, BackwardArrays arrays, typename Bias::Params params) {
  SharedMemory memory;
  const KeysShared<D, Bias> shared(memory);
  const int thread = static_cast<int>(threadIdx.x);
  const int key_in_tile = thread / kLanesPerRow, lane_in_row = thread % kLanesPerRow;
  const int first_key = static_cast<int>(blockIdx.x) * kTileKeys;
  const int kv_head = static_cast<int>(blockIdx.y), b = static_cast<int>(blockIdx.z);
  const int keys = min(kTileKeys, problem.keys - first_key);
  const bool exists = key_in_tile < keys;
  const int key = first_key + min(key_in_tile, keys - 1);
  const int group = problem.heads / problem.kv_heads;

  // Nothing sees a key beyond the length of its sequence; what stands there is not read.
  const int seen = min(keys, max(0, length_of(problem.mask, b) - first_key));
  const std::size_t start = problem.k_rows.start(b, kv_head, first_key);
  shared.k.fill(seen, [&](int n, int d) {
    return problem.key(start + n * problem.k_rows.token, d, first_key + n);
  });
  const std::size_t value_start = problem.v_rows.start(b, kv_head, first_key);
  shared.v.fill(seen, [&](int n, int d) {
    return problem.value(problem.v, value_start + n * problem.v_rows.token, d);
  });

  LaneSums<D> dk, dv;
  for (int head = kv_head * group; head < (kv_head + 1) * group; ++head) {
    const typename Bias::Key bias_key = Bias::load_key(params, At{b, head, 0, 0}, key);
    double by_difference = 0.0;
    for (int first_row = 0; first_row < problem.queries; first_row += kTileQueries) {
      const int rows = min(kTileQueries, problem.queries - first_row);
      const int first_position = first_row + problem.first_position(b);
      const KeyRange range = key_range(problem.mask, b, first_position, first_position + rows - 1);
      if (range.end <= first_key || range.begin >= first_key + keys) continue;

      __syncthreads();  // all are done with the tile before
      load_rows(problem, arrays, b, head, first_row, rows, shared.q, shared.grad_o);
      if (thread < kTileQueries) {
        const int n = min(thread, rows - 1), row = first_row + n, position = first_position + n;
        const std::size_t index = problem.row_index(b, head, row);
        shared.rows[thread] = {
            saved_lse(problem, arrays, b, head, row), arrays.delta[index],
            problem.logit_factor(b, head, row),
            thread < rows ? key_range(problem.mask, b, position) : KeyRange{0, 0},
            Bias::load_row(params, At{b, head, row, position})};
      }
      if (thread < shared.kEntries)
        shared.entries[thread] = Bias::entry(params, place_of_head<Bias>(params, b, head),
                                             first_position - first_key + thread - (kTileKeys - 1));
      __syncthreads();

      float score[kKeysPerLane], dp[kKeysPerLane];
      products(shared.k.row(key_in_tile), shared.q, lane_in_row, score);
      products(shared.v.row(key_in_tile), shared.grad_o, lane_in_row, dp);
      float* p = shared.p + key_in_tile * kScoreStride;
      float* dz = shared.dz + key_in_tile * kScoreStride;
#pragma unroll
      for (int n = 0; n < kKeysPerLane; ++n) {
        const int query = kLanesPerRow * n + lane_in_row;
        const QueryRow<Bias>& row = shared.rows[query];
        p[query] = kInvisible;
        const At at{b, head, first_row + query, first_position + query};
        if (!exists || !problem.sees(row.range, at, key)) continue;
        const float entry =
            shared.kEntries > 0 ? shared.entries[query - key_in_tile + kTileKeys - 1] : 0.0f;
        const float capped = problem.capped(problem.scale * score[n]);
        const float z = capped + Bias::value(params, head, row.bias, bias_key, entry);
        const ScoreGrad grad =
            score_grad(z, row.factor, row.lse, problem.dropped(at, key, dp[n]), row.delta);
        p[query] = problem.dropped(at, key, grad.p);
        dz[query] = problem.cap_slope(capped) * grad.dz;
        if constexpr (Bias::kPerPosition)
          by_difference -= static_cast<double>(grad.dz) *
                           Bias::derivatives(params, row.bias, bias_key).difference;
      }
      __syncwarp();  // the key's four lanes have written P and dz
      for (int query = 0; query < kTileQueries; ++query) {
        if (p[query] == kInvisible) continue;
        dv.add(p[query], shared.grad_o.row(query), lane_in_row);
        dk.add(dz[query], shared.q.row(query), lane_in_row);
      }
    }
    if constexpr (Bias::kPerPosition) {
      by_difference = row_sum(by_difference);
      if (exists && lane_in_row == 0)
        arrays.prefix_sum[problem.sum_index(b, head, key)] = by_difference;
    }
  }
  if (!exists) return;
  const std::size_t row = problem.key_start(b, kv_head * group, key, D);
  dk.store(arrays.dk + row, lane_in_row, problem.scale);
  dv.store(arrays.dv + row, lane_in_row, 1.0f);
}

struct Keys {
  template <int D, class Bias>
  static void run(const Stream& stream, const Task& task, const BackwardArrays& arrays) {
    const Problem& problem = task.problem;
    const auto tiles = static_cast<unsigned>((problem.keys + kTileKeys - 1) / kTileKeys);
    const dim3 grid{tiles, static_cast<unsigned>(problem.kv_heads),
                    static_cast<unsigned>(problem.batch)};
    launch(stream, {grid, dim3{kTileThreads}, KeysShared<D, Bias>::bytes()}, keys_kernel<D, Bias>,
           problem, arrays, Bias::params(task.bias));
  }
};

}  // namespace backward

}  // namespace plumbline::gpu

#endif
