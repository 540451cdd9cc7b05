// SPDX-License-Identifier: Apache-2.0
// What a block of queries adds to a tile of 32 keys by atomic additions: dV += P' dO and dK += dZ'
// Q on tensor cores (two warps each, 16 keys a warp), and the keys' side of dS.
#ifndef PLUMBLINE_GPU_ATTENTION_MMA_ADD_TO_KEYS_CUH
#define PLUMBLINE_GPU_ATTENTION_MMA_ADD_TO_KEYS_CUH

#include "attention/backward_arrays.cuh"
#include "attention/backward_tile.cuh"
#include "attention/mma_bias.cuh"
#include "attention/mma_rows.cuh"
#include "attention/mma_tile.cuh"
#include "core/atomic.cuh"

namespace plumbline::gpu {

namespace mma_kernels {

/// P or dZ of a tile in shared memory, [kMmaQueries][kStride] in fp32. The stride keeps rows two
/// apart in different banks for neighbouring keys, as the transpose is read.
struct ScoreTile {
  static constexpr int kStride = kTileKeys + 4;

  float* values;

  static constexpr std::size_t bytes(bool wanted) {
    return wanted ? shared_bytes<float>(kMmaQueries * kStride) : 0;
  }
  __device__ static ScoreTile take(SharedMemory& shared, bool wanted) {
    return {shared.take<float>(wanted ? kMmaQueries * kStride : 0)};
  }

  /// A lane's scores.
  template <int tiles>
  __device__ __forceinline__ void store(const float (&score)[tiles][4], const MmaRows& rows) const {
#pragma unroll
    for (int tile = 0; tile < tiles; ++tile) {
#pragma unroll
      for (int n = 0; n < 4; ++n)
        values[rows.row_in_tile(n / 2) * kStride + 8 * tile + 2 * rows.place + n % 2] =
            score[tile][n];
    }
  }

  /// A = the transpose: 16 keys from `key` on, and of the queries kDepth from step kDepth on,
  /// rounded to the element format. In tf32 these stand in the order of MmaTile::load_b_columns.
  template <class Element>
  __device__ __forceinline__ void load_transposed(std::uint32_t (&a)[4], int lane, int key,
                                                  int step) const {
    constexpr int kDepth = kMmaDepth<Element>;
    const float* at = values + (step * kDepth + lane % 4 * 2) * kStride + key + lane / 4;
    if constexpr (kDepth == 8) {
      const float rounded[4] = {round_to_tf32(at[0]), round_to_tf32(at[8]),
                                round_to_tf32(at[kStride]), round_to_tf32(at[kStride + 8])};
      memcpy(a, rounded, sizeof a);
    } else {
#pragma unroll
      for (int n = 0; n < 4; ++n) {
        const float* low = at + n / 2 * 8 * kStride + n % 2 * 8;
        a[n] = pack<Element>(low[0], low[kStride]);
      }
    }
  }
};

/// The keys' side of dS of the tile at `begin`; four lanes own a key.
template <class Bias, class BiasTile>
__device__ __forceinline__ void add_to_sums(const ScoreTile& dz, const BiasTile& tile_bias,
                                            const Problem& problem, const BackwardArrays& arrays,
                                            const typename Bias::Params& params,
                                            const MmaRows& rows, int begin) {
  const int key = static_cast<int>(threadIdx.x) / kLanesPerRow;
  double sum = 0.0;
#pragma unroll 1
  for (int row = rows.place; row < kMmaQueries; row += kLanesPerRow) {
    const float grad = dz.values[row * ScoreTile::kStride + key];
    if (grad != 0.0f)
      sum -= static_cast<double>(grad) *
             Bias::derivatives(params, tile_bias.row(row), tile_bias.key(key)).difference;
  }
  sum = row_sum(sum);
  if (rows.place == 0 && begin + key < rows.block_range.end)
    atomic_add(arrays.prefix_sum + problem.sum_index(rows.b, rows.head, begin + key), sum);
}

/// `shared` has the block's q and grad_o, and p and dz of the tile at `begin`; after a barrier. 32
/// columns at a time, or 16: beside the sums of dQ there are not registers for all.
template <int D, class Bias, class Element, class Shared>
__device__ __forceinline__ void add_to_keys(const Shared& shared, const Problem& problem,
                                            const BackwardArrays& arrays,
                                            const typename Bias::Params& params,
                                            const MmaRows& rows, int begin) {
  using Tile = MmaTile<D, Element>;
  constexpr int kColumns = D % 32 == 0 ? 32 : 16;
  const int warp = static_cast<int>(threadIdx.x) / static_cast<int>(kWarpSize);
  const bool of_v = warp < 2;
  const int key_in_tile = warp % 2 * kMmaWarpRows;
  const ScoreTile weights = of_v ? shared.p : shared.dz;
  const Tile other = of_v ? shared.grad_o : shared.q;
  const float factor = of_v ? 1.0f : problem.scale;
  const int key = begin + key_in_tile + rows.lane / 4;
  float* to = (of_v ? arrays.dv : arrays.dk) + problem.key_start(rows.b, rows.head, key, D) +
              2 * rows.place;
#pragma unroll 1
  for (int column = 0; column < D; column += kColumns) {
    float sum[kColumns / 8][4] = {};
    multiply_add<Element, kMmaQueries / Tile::kDepth>(
        sum,
        [&](int step, std::uint32_t(&a)[4]) {
          weights.template load_transposed<Element>(a, rows.lane, key_in_tile, step);
        },
        [&](int step, int tile, std::uint32_t(&b)[4]) {
          other.load_b_columns(b, rows.lane, step * Tile::kDepth, column + 8 * tile);
        });
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      if (key + 8 * r >= rows.block_range.end) continue;
#pragma unroll
      for (int tile = 0; tile < kColumns / 8; ++tile) {
        float* sums = to + 8 * r * D + column + 8 * tile;
        atomic_add(sums, factor * sum[tile][2 * r]);
        atomic_add(sums + 1, factor * sum[tile][2 * r + 1]);
      }
    }
  }
  if constexpr (Bias::kPerPosition)
    if (arrays.prefix_sum)
      add_to_sums<Bias>(shared.dz, shared.bias, problem, arrays, params, rows, begin);
}

}  // namespace mma_kernels

}  // namespace plumbline::gpu

#endif
