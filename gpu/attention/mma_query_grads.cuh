// SPDX-License-Identifier: Apache-2.0
// The pass over a tile's scores in the tensor-core kernel over queries, and the gradients of what
// belongs to a query: prefix sums, gains and SSMax's scale.
#ifndef PLUMBLINE_GPU_ATTENTION_MMA_QUERY_GRADS_CUH
#define PLUMBLINE_GPU_ATTENTION_MMA_QUERY_GRADS_CUH

#include "attention/backward_arrays.cuh"
#include "attention/backward_tile.cuh"
#include "attention/mma_rows.cuh"
#include "attention/mma_score_grad.cuh"
#include "core/atomic.cuh"

namespace plumbline::gpu {

namespace mma_kernels {

/// Sums of a lane's rows over its keys: the gradients of what belongs to a query.
template <int rows>
struct QuerySums {
  double difference[rows] = {}, gain[rows] = {};

  /// What a tile adds to row r.
  template <class Rows>
  __device__ __forceinline__ void add(const Rows&, int r, float by_difference, float by_gain) {
    difference[r] += by_difference;
    gain[r] += by_gain;
  }
};

/// What a kernel knows of a row beside MmaRows: the LSE in units of log2, and D.
struct alignas(8) QueryRow {
  float lse2, delta;

  template <class Rows>
  __device__ static QueryRow load(const Problem& problem, const BackwardArrays& arrays,
                                  const Rows& rows, int row_in_tile) {
    const int row = rows.first_row + min(row_in_tile, rows.count - 1);
    const std::size_t index = problem.row_index(rows.b, rows.head, row);
    return {arrays.lse[index] * kLog2E, arrays.delta[index]};
  }
};

/// Of a lane's rows, in registers.
template <int groups>
struct QueryRows {
  QueryRow of[2 * groups];

  template <class Rows>
  __device__ QueryRows(const Problem& problem, const BackwardArrays& arrays, const Rows& rows) {
#pragma unroll
    for (int r = 0; r < 2 * groups; ++r)
      of[r] = QueryRow::load(problem, arrays, rows, rows.row_in_tile(r));
  }
  template <class Rows>
  __device__ __forceinline__ QueryRow row(const Rows&, int r) const {
    return of[r];
  }
};

/// Of the block's rows, in the padding of a tile of queries, where registers are short. Written by
/// threads with the rows' numbers.
template <class Tile>
struct NotedQueryRows {
  Tile q;

  template <class Rows>
  __device__ NotedQueryRows(Tile tile, const Problem& problem, const BackwardArrays& arrays,
                            const Rows& rows)
      : q(tile) {
    const int n = static_cast<int>(threadIdx.x);
    if (n < Rows::kQueries) q.template note<QueryRow>(n) = QueryRow::load(problem, arrays, rows, n);
  }
  template <class Rows>
  __device__ __forceinline__ QueryRow row(const Rows& rows, int r) const {
    return q.template note<QueryRow>(rows.row_in_tile(r));
  }
};

/// Turns the products of the tile at `begin` into P and dZ; 0 where the query does not see the key.
/// Adds sum_j dZ_ij z_ij to row_sums, which times ln n_i is what SSMax's scale gets from a row;
/// nullptr from who has no SSMax. `plain`: every query of the warp sees every key, and there is no
/// SSMax.
template <bool plain, class Bias, class BiasTile, class Rows, class OfRows, class Sums,
          class RowSums, int groups, int tiles>
__device__ __forceinline__ void query_score_grads(
    float (&score)[groups][tiles][4], float (&dp)[groups][tiles][4], Sums& sums, RowSums row_sums,
    const Problem& problem, const BackwardArrays& arrays, const typename Bias::Params& params,
    const BiasTile& tile_bias, const Rows& rows, const OfRows& of, int begin) {
  constexpr int kRows = 2 * groups;
  constexpr bool kSsmax = !plain && !std::is_null_pointer_v<RowSums>;
  SeenScores<groups, tiles> seen;
  if (!plain) seen = rows.template seen<tiles>(problem, begin);
  double ssmax[kRows] = {};
  const PartOfTile part{rows.warp_row, Rows::kWarpRows, 0, 8 * tiles, rows.first_position - begin};
  with_method_of_part<Bias>(params, rows.head, tile_bias, part, [&](auto method) {
    constexpr bool together = decltype(method)::kTogether;
    constexpr int kAtOnce = 8;
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      const typename InTile<Bias>::Row bias_row = tile_bias.row(rows.row_in_tile(r));
      const auto of_row = of.row(rows, r);
      [[maybe_unused]] float by_difference = 0.0f, by_gain = 0.0f;  // of the tile
      const int row = rows.nearest_row(r);
      [[maybe_unused]] const float factor =
          kSsmax ? problem.logit_factor(rows.b, rows.head, row) : 1.0f;
      const float log2_factor = kSsmax ? problem.log2_logit_factor(rows.b, rows.head, row) : kLog2E;
      [[maybe_unused]] float biases[kAtOnce];  // `together`
#pragma unroll
      for (int n = 0; n < 2 * tiles; ++n) {
        const int key = 8 * (n / 2) + 2 * rows.place + n % 2;
        if constexpr (together) {
          if (n % kAtOnce == 0) {
#pragma unroll
            for (int m = 0; m < kAtOnce; ++m) {
              const int of_m = 8 * ((n + m) / 2) + 2 * rows.place + m % 2;
              biases[m] = method.value(bias_row, tile_bias.key(of_m),
                                       tile_bias.entry(rows.row_in_tile(r), of_m));
            }
            method.finish(biases);
          }
        }
        float& p = score[r / 2][n / 2][r % 2 * 2 + n % 2];
        float& dz = dp[r / 2][n / 2][r % 2 * 2 + n % 2];
        if (!plain && !seen.has(r, n)) {
          p = dz = 0.0f;
          continue;
        }
        const float product = p;
        const typename InTile<Bias>::Key bias_key = tile_bias.key(key);
        float b;
        if constexpr (together)
          b = biases[n % kAtOnce];
        else
          b = method.value(bias_row, bias_key, tile_bias.entry(rows.row_in_tile(r), key));
        p = probability<Bias>(log2_factor * problem.scale, product, log2_factor, b, of_row.lse2);
        dz = p * (dz - of_row.delta);
        if constexpr (kSsmax) {
          if (problem.ssmax_scale)
            ssmax[r] += static_cast<double>(dz) * (problem.scale * product + b);
          dz *= factor;
        }
        if constexpr (Bias::kPerPair) {
          const std::size_t at = problem.row_index(rows.b, rows.head, rows.row(r));
          if (rows.exists(r)) arrays.pairs[at * problem.keys + begin + key] = dz;
        }
        if constexpr (Bias::kPerPosition) {
          const auto by = method.derivatives(bias_row, bias_key);
          by_difference += dz * by.difference;
          by_gain += dz * by.gain;
        }
      }
      if constexpr (Bias::kPerPosition) sums.add(rows, r, by_difference, by_gain);
    }
  });
  if constexpr (kSsmax) {
    if (!problem.ssmax_scale) return;
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      const double sum = row_sum(ssmax[r]);
      if (rows.place == 0) row_sums[rows.row_in_tile(r)] += sum;
    }
  }
}

/// Where sums over queries stand. Every 32 queries have a place; the sums of `queries` of the
/// block's rows, from row `from` on, go to the first of their places, and zeros to the others. Rows
/// that do not exist have none.
struct PartialPlaces {
  std::size_t first;
  int count;

  template <class Rows>
  __device__ PartialPlaces(const Problem& problem, const Rows& rows, int from = 0,
                           int queries = Rows::kQueries) {
    const int places = (problem.queries + kTileQueries - 1) / kTileQueries;
    const int place = (rows.first_row + from) / kTileQueries;
    first = (static_cast<std::size_t>(rows.b) * problem.heads + rows.head) * places + place;
    count = max(0, min(queries / kTileQueries, places - place));
  }
};

/// Writes the columns of dQ from `first_column` on.
template <int D, class Rows, int groups, int tiles>
__device__ __forceinline__ void write_query_grads(const float (&dq)[groups][tiles][4],
                                                  const Problem& problem,
                                                  const BackwardArrays& arrays, const Rows& rows,
                                                  int first_column = 0) {
  float* const to = arrays.dq + problem.query_start(rows.b, rows.head, rows.row(0), D) +
                    first_column + 2 * rows.place;
#pragma unroll
  for (int r = 0; r < Rows::kRows; ++r) {
    if (!rows.exists(r)) continue;
#pragma unroll
    for (int tile = 0; tile < tiles; ++tile) {
      const float* of_row = dq[r / 2][tile] + r % 2 * 2;
      store_pair(to + r * Rows::kRowStep * D + 8 * tile, problem.scale * of_row[0],
                 problem.scale * of_row[1]);
    }
  }
}

/// Writes the gradients of a row's prefix sum and gain.
template <class Rows>
__device__ __forceinline__ void write_position_grad(int row_in_tile, double difference, double gain,
                                                    const Problem& problem,
                                                    const BackwardArrays& arrays,
                                                    const Rows& rows) {
  if (arrays.gain)
    arrays.gain[problem.row_index(rows.b, rows.head, rows.first_row + row_in_tile)] =
        static_cast<float>(gain);
  const int position = rows.first_position + row_in_tile;
  if (position < 0) return;  // it sees no key
  double* sum = arrays.prefix_sum + problem.sum_index(rows.b, rows.head, position);
  if (arrays.atomic)
    atomic_add(sum, difference);
  else
    *sum += difference;  // to the keys' side, which is there already
}

/// The same of a lane's rows.
template <class Rows>
__device__ __forceinline__ void write_position_grads(QuerySums<Rows::kRows>& sums,
                                                     const Problem& problem,
                                                     const BackwardArrays& arrays,
                                                     const Rows& rows) {
  if (!arrays.prefix_sum) return;
#pragma unroll
  for (int r = 0; r < Rows::kRows; ++r) {
    sums.difference[r] = row_sum(sums.difference[r]);
    sums.gain[r] = row_sum(sums.gain[r]);
    if (rows.exists(r) && rows.place == 0)
      write_position_grad(rows.row_in_tile(r), sums.difference[r], sums.gain[r], problem, arrays,
                          rows);
  }
}

/// Writes what `queries` of the block's rows, from row `from` on, are of the gradient of SSMax's
/// scale. By the threads of Tile, of which there are no fewer.
template <class Tile, class Rows>
__device__ __forceinline__ void write_ssmax_grad(double* row_sums, const Problem& problem,
                                                 const BackwardArrays& arrays, const Rows& rows,
                                                 int from, int queries) {
  if (!problem.ssmax_scale) return;
  const int thread = Tile::thread(), count = min(queries, rows.count - from);
  Tile::meet();  // all rows' sums are there
  if (thread < count) {
    double& sum = row_sums[from + thread];
    // Of a row that sees no key it is 0, and ln 0 times 0 would be NaN.
    if (sum != 0.0) sum *= problem.log_visible(rows.b, rows.first_row + from + thread);
  }
  Tile::meet();
  if (thread != 0) return;
  double sum = 0.0;
  for (int n = 0; n < count; ++n) sum += row_sums[from + n];
  const PartialPlaces places(problem, rows, from, queries);
  for (int n = 0; n < places.count; ++n)
    arrays.ssmax_partial[places.first + n] = n == 0 ? sum : 0.0;
}

}  // namespace mma_kernels

}  // namespace plumbline::gpu

#endif
