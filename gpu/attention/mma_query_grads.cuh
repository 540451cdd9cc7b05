// SPDX-License-Identifier: Apache-2.0
// The pass over a tile's scores in the tensor-core kernel over queries, and the gradients of what
// belongs to a query: prefix sums, gains and SSMax's scale.
#ifndef PLUMBLINE_GPU_ATTENTION_MMA_QUERY_GRADS_CUH
#define PLUMBLINE_GPU_ATTENTION_MMA_QUERY_GRADS_CUH

#include "attention/backward_arrays.cuh"
#include "attention/backward_tile.cuh"
#include "attention/mma_bias.cuh"
#include "attention/mma_rows.cuh"
#include "core/atomic.cuh"

namespace plumbline::gpu {

namespace mma_kernels {

/// Sums of a lane's two rows over its keys: the gradients of what belongs to a query.
struct QuerySums {
  double difference[2] = {}, gain[2] = {}, ssmax[2] = {};
};

/// What a lane knows of its rows beside MmaRows.
struct QueryRows {
  float lse[2], delta[2];

  __device__ QueryRows(const Problem& problem, const BackwardArrays& arrays, const MmaRows& rows) {
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      const std::size_t index = problem.lse_index(
          rows.b, rows.head, rows.first_row + min(rows.row_in_tile(r), rows.count - 1));
      lse[r] = arrays.lse[index];
      delta[r] = arrays.delta[index];
    }
  }
};

/// Turns the products of the tile at `begin` into P and dZ; 0 where the query does not see the key.
template <class BiasTile, int tiles>
__device__ __forceinline__ void query_score_grads(float (&score)[tiles][4], float (&dp)[tiles][4],
                                                  QuerySums& sums, const Problem& problem,
                                                  const AnyBias& bias, const BiasTile& tile_bias,
                                                  const MmaRows& rows, const QueryRows& of,
                                                  int begin) {
  bias.visit([&](auto family, const auto& params) {
    using Bias = decltype(family);
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      typename Bias::Row bias_row{};
      if constexpr (!std::is_empty_v<typename Bias::Row>)
        bias_row = tile_bias.template row<Bias>(rows.row_in_tile(r));
#pragma unroll
      for (int tile = 0; tile < tiles; ++tile) {
#pragma unroll
        for (int n = 0; n < 2; ++n) {
          float& p = score[tile][2 * r + n];
          float& dz = dp[tile][2 * r + n];
          const int key = 8 * tile + 2 * rows.place + n;
          if (!visible(problem.mask, rows.range[r], rows.b, rows.position(r), begin + key)) {
            p = dz = 0.0f;
            continue;
          }
          const typename Bias::Key bias_key = tile_bias.template key<Bias>(key);
          const float z = problem.scale * p +
                          Bias::value(params, rows.head, bias_row, bias_key,
                                      tile_bias.template entry<Bias>(rows.row_in_tile(r), key));
          const ScoreGrad grad = score_grad(z, rows.factor[r], of.lse[r], dz, of.delta[r]);
          p = grad.p;
          dz = grad.dz;
          if (problem.ssmax_scale) sums.ssmax[r] += static_cast<double>(grad.ds) * z;
          if constexpr (Bias::kPerPosition) {
            const auto by = Bias::derivatives(params, bias_row, bias_key);
            sums.difference[r] += static_cast<double>(grad.dz) * by.difference;
            sums.gain[r] += static_cast<double>(grad.dz) * by.gain;
          }
        }
      }
    }
  });
}

/// Where the block's sums over queries stand. Blocks of 32 queries have a place each; this one
/// leaves its sums in the first of its two and zeros in the second.
struct PartialPlaces {
  std::size_t first;
  int count;

  __device__ PartialPlaces(const Problem& problem, const MmaRows& rows) {
    const int places = (problem.queries + kTileQueries - 1) / kTileQueries;
    const int place = rows.first_row / kTileQueries;
    first = (static_cast<std::size_t>(rows.b) * problem.heads + rows.head) * places + place;
    count = min(kMmaQueries / kTileQueries, places - place);
  }
};

/// Writes the gradients that belong to queries, and the block's share of SSMax's.
__device__ __forceinline__ void write_query_sums(QuerySums& sums, double* row_sums,
                                                 const Problem& problem,
                                                 const BackwardArrays& arrays, const MmaRows& rows,
                                                 const PartialPlaces& places) {
  if (arrays.prefix_sum) {
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      sums.difference[r] = row_sum(sums.difference[r]);
      sums.gain[r] = row_sum(sums.gain[r]);
      if (!rows.exists(r) || rows.place != 0) continue;
      if (arrays.gain)
        arrays.gain[problem.lse_index(rows.b, rows.head, rows.row(r))] =
            static_cast<float>(sums.gain[r]);
      double* sum = arrays.prefix_sum + problem.sum_index(rows.b, rows.head, rows.position(r));
      if (arrays.atomic)
        atomic_add(sum, sums.difference[r]);
      else
        *sum += sums.difference[r];  // to the keys' side, which is there already
    }
  }
  if (!problem.ssmax_scale) return;
#pragma unroll
  for (int r = 0; r < 2; ++r) {
    sums.ssmax[r] = row_sum(sums.ssmax[r]);
    if (rows.place != 0) continue;
    row_sums[rows.row_in_tile(r)] = rows.range[r].end > rows.range[r].begin
                                        ? sums.ssmax[r] * problem.log_visible(rows.b, rows.row(r))
                                        : 0.0;
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    double sum = 0.0;
    for (int n = 0; n < rows.count; ++n) sum += row_sums[n];
    for (int n = 0; n < places.count; ++n)
      arrays.ssmax_partial[places.first + n] = n == 0 ? sum : 0.0;
  }
}

}  // namespace mma_kernels

}  // namespace plumbline::gpu

#endif
