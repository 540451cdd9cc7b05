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

/// Sums of a lane's two rows over its keys: the gradients of what belongs to a query.
struct QuerySums {
  double difference[2] = {}, gain[2] = {}, ssmax[2] = {};
};

/// What a lane knows of its rows beside MmaRows: the LSE in units of log2, D, and
/// Problem::logit_factor.
struct QueryRows {
  float lse2[2], delta[2], factor[2], log2_factor[2];

  __device__ QueryRows(const Problem& problem, const BackwardArrays& arrays, const MmaRows& rows) {
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      // The last row stands for those beyond it.
      const int row = rows.first_row + min(rows.row_in_tile(r), rows.count - 1);
      const std::size_t index = problem.row_index(rows.b, rows.head, row);
      lse2[r] = arrays.lse[index] * kLog2E;
      delta[r] = arrays.delta[index];
      factor[r] = problem.logit_factor(rows.b, rows.head, row);
      log2_factor[r] = problem.log2_logit_factor(rows.b, rows.head, row);
    }
  }
};

/// Turns the products of the tile at `begin` into P and dZ; 0 where the query does not see the key.
/// `plain`: every query of the warp sees every key, and there is no SSMax.
template <bool plain, class Bias, class BiasTile, int tiles>
__device__ __forceinline__ void query_score_grads(float (&score)[tiles][4], float (&dp)[tiles][4],
                                                  QuerySums& sums, const Problem& problem,
                                                  const BackwardArrays& arrays,
                                                  const typename Bias::Params& params,
                                                  const BiasTile& tile_bias, const MmaRows& rows,
                                                  const QueryRows& of, int begin) {
  const typename Bias::Row bias_row[2] = {tile_bias.row(rows.row_in_tile(0)),
                                          tile_bias.row(rows.row_in_tile(1))};
  with_method<Bias>(params, rows.head, [&](auto method) {
#pragma unroll
    for (int tile = 0; tile < tiles; ++tile) {
#pragma unroll
      for (int n = 0; n < 2; ++n) {
        const int key = 8 * tile + 2 * rows.place + n;
        const typename Bias::Key bias_key = tile_bias.key(key);
#pragma unroll
        for (int r = 0; r < 2; ++r) {
          float& p = score[tile][2 * r + n];
          float& dz = dp[tile][2 * r + n];
          if (!plain &&
              !visible(problem.mask, rows.range[r], rows.b, rows.position(r), begin + key)) {
            p = dz = 0.0f;
            continue;
          }
          const float log2_factor = plain ? kLog2E : of.log2_factor[r], product = p;
          const float b =
              method.value(bias_row[r], bias_key, tile_bias.entry(rows.row_in_tile(r), key));
          p = probability<Bias>(log2_factor * problem.scale, product, log2_factor, b, of.lse2[r]);
          dz = p * (dz - of.delta[r]);
          if (!plain) {
            if (problem.ssmax_scale)
              sums.ssmax[r] += static_cast<double>(dz) * (problem.scale * product + b);
            dz *= of.factor[r];
          }
          if constexpr (Bias::kPerPair) {
            const std::size_t row = problem.row_index(rows.b, rows.head, rows.row(r));
            if (rows.exists(r)) arrays.pairs[row * problem.keys + begin + key] = dz;
          }
          if constexpr (Bias::kPerPosition) {
            const auto by = method.derivatives(bias_row[r], bias_key);
            sums.difference[r] += static_cast<double>(dz) * by.difference;
            sums.gain[r] += static_cast<double>(dz) * by.gain;
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
        arrays.gain[problem.row_index(rows.b, rows.head, rows.row(r))] =
            static_cast<float>(sums.gain[r]);
      if (rows.position(r) < 0) continue;  // it sees no key
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
