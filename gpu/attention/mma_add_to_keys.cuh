// SPDX-License-Identifier: Apache-2.0
// What a block of queries adds to a tile of keys by atomic additions: dV += P' dO and dK += dZ' Q
// on tensor cores (half of the warps each, two of which share the columns of 32 keys), and the
// keys' side of dS.
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

/// P or dZ of a tile in shared memory, [queries][keys], as they meet dO, Q and K.
template <class Element, int keys = kTileKeys>
struct WeightTile {
  using Tile = MmaTile<keys, Element>;
  static constexpr int kStride = Tile::kStride;

  Tile tile;

  static constexpr std::size_t bytes(int queries) { return Tile::bytes(queries); }

  /// A lane's scores, of the keys from `first_key` on. In tf32 they are rounded as they are read.
  template <int groups, int tiles>
  __device__ __forceinline__ void store(const float (&score)[groups][tiles][4],
                                        const MmaRows<groups>& rows, int first_key = 0) const {
#pragma unroll
    for (int r = 0; r < 2 * groups; ++r) {
#pragma unroll
      for (int n = 0; n < tiles; ++n) {
        const float* of_row = score[r / 2][n] + r % 2 * 2;
        store_pair<Element>(
            tile.data + rows.row_in_tile(r) * kStride + first_key + 2 * rows.place + 8 * n,
            of_row[0], of_row[1]);
      }
    }
  }

  /// A = the transpose: 16 keys from `key` on, and of the queries kDepth from step kDepth on. In
  /// tf32 these stand in the order of MmaTile::load_b_columns.
  __device__ __forceinline__ void load_transposed(std::uint32_t (&a)[4], int lane, int key,
                                                  int step) const {
    constexpr int kDepth = kMmaDepth<Element>;
    if constexpr (kDepth == 8) {
      const float* at = tile.data + (step * kDepth + lane % 4 * 2) * kStride + key + lane / 4;
      const float rounded[4] = {round_to_tf32(at[0]), round_to_tf32(at[8]),
                                round_to_tf32(at[kStride]), round_to_tf32(at[kStride + 8])};
      memcpy(a, rounded, sizeof a);
    } else {
      ldmatrix_x4_trans(a, lane, [&](int n) {
        return tile.data + (n % 8 + n / 16 * 8) * kStride + n / 8 % 2 * 8 +
               (step * kDepth * kStride + key);
      });
    }
  }
};

/// dZ of a tile in shared memory, [queries][kStride] in fp32, for the gradients of parameters.
struct ScoreGrads {
  static constexpr int kStride = kTileKeys + 4;

  float* values;

  static constexpr std::size_t bytes(int queries) {
    return shared_bytes<float>(static_cast<std::size_t>(queries) * kStride);
  }

  /// A lane's scores.
  template <int groups, int tiles>
  __device__ __forceinline__ void store(const float (&score)[groups][tiles][4],
                                        const MmaRows<groups>& rows) const {
#pragma unroll
    for (int r = 0; r < 2 * groups; ++r) {
#pragma unroll
      for (int n = 0; n < 2 * tiles; ++n)
        values[rows.row_in_tile(r) * kStride + 8 * (n / 2) + 2 * rows.place + n % 2] =
            score[r / 2][n / 2][r % 2 * 2 + n % 2];
    }
  }
};

/// The keys' side of dS of a warp's scores, of the 32 keys from `begin` on. A lane ends with the
/// sum of one key over the warp's rows.
template <class Bias, class BiasTile, int groups>
__device__ __forceinline__ void add_to_sums(const float (&dz)[groups][4][4],
                                            const BiasTile& tile_bias, const Problem& problem,
                                            const BackwardArrays& arrays,
                                            const typename Bias::Params& params,
                                            const MmaRows<groups>& rows, int begin) {
  double sum[8];  // of the lane's keys
  with_method<Bias>(params, rows.head, [&](auto method) {
#pragma unroll
    for (int n = 0; n < 8; ++n) {
      float of_rows = 0.0f;
#pragma unroll
      for (int r = 0; r < 2 * groups; ++r) {
        const auto by = method.derivatives(tile_bias.row(rows.row_in_tile(r)),
                                           tile_bias.key(8 * (n / 2) + 2 * rows.place + n % 2));
        const float grad = dz[r / 2][n / 2][r % 2 * 2 + n % 2];
        if (grad != 0.0f) of_rows -= grad * by.difference;
      }
      sum[n] = of_rows;
    }
  });
  int own = 0;  // which of its keys the lane keeps
#pragma unroll
  for (int kept = 4; kept > 0; kept /= 2) {
    const int mask = 4 * kept;
    const bool upper = (rows.lane & mask) != 0;
#pragma unroll
    for (int n = 0; n < kept; ++n) {
      const double given = upper ? sum[n] : sum[n + kept];
      sum[n] = (upper ? sum[n + kept] : sum[n]) + shuffle_xor(given, static_cast<unsigned>(mask));
    }
    own += upper ? kept : 0;
  }
  const int key = begin + 8 * (own / 2) + 2 * rows.place + own % 2;
  if (key < rows.block_range.end)
    atomic_add(arrays.prefix_sum + problem.sum_index(rows.b, rows.head, key), sum[0]);
}

/// `shared` has the block's q and grad_o, and weights p and dz of the tile at `begin`; after a
/// barrier. A warp takes half of the columns of 32 keys, `most_columns` at once, or every other 16
/// or 32 of them.
template <int D, class Element, int warps = kMmaWarps, int most_columns = 64, class Shared,
          int groups>
__device__ __forceinline__ void add_to_keys(const Shared& shared, const Problem& problem,
                                            const BackwardArrays& arrays,
                                            const MmaRows<groups>& rows, int begin) {
  using Tile = decltype(shared.q);
  constexpr int kMostColumns = Tile::kDepth == 8 ? 32 : most_columns;  // registers
  constexpr int kColumns = D % 32 == 0 ? (D / 2 < kMostColumns ? D / 2 : kMostColumns) : 16;
  constexpr int kKeyGroups = kTileKeys / kMmaWarpRows;
  constexpr int kSteps = MmaRows<groups>::kQueries / Tile::kDepth;
  // All at once would take more registers than there are beside the sums.
  constexpr int kUnrolledSteps = warps > kMmaWarps ? kSteps / 2 : kSteps;
  const int warp = static_cast<int>(threadIdx.x) / static_cast<int>(kWarpSize);
  const bool of_v = warp < warps / 2;
  const auto weights = of_v ? shared.p : shared.dz;
  const int first_key = warp % (warps / 2) / 2 * kTileKeys;
  const Tile other = of_v ? shared.grad_o : shared.q;
  const float factor = of_v ? 1.0f : problem.scale;
  const int key = begin + first_key + rows.lane / 4;
  float* to = (of_v ? arrays.dv : arrays.dk) + problem.key_start(rows.b, rows.head, key, D) +
              2 * rows.place;
#pragma unroll 1
  for (int column = warp % 2 * kColumns; column < D; column += 2 * kColumns) {
    float sum[kKeyGroups][kColumns / 8][4] = {};
#pragma unroll 1
    for (int first_step = 0; first_step < kSteps; first_step += kUnrolledSteps)
      multiply_add<Element, kUnrolledSteps>(
          sum,
          [&](int step, int group, std::uint32_t(&a)[4]) {
            weights.load_transposed(a, rows.lane, first_key + kMmaWarpRows * group,
                                    first_step + step);
          },
          [&](int step, int tile, std::uint32_t(&b)[4]) {
            other.load_b_columns(b, rows.lane, (first_step + step) * Tile::kDepth,
                                 column + 8 * tile);
          });
#pragma unroll
    for (int r = 0; r < 2 * kKeyGroups; ++r) {
      if (key + 8 * r >= rows.block_range.end) continue;
#pragma unroll
      for (int tile = 0; tile < kColumns / 8; ++tile) {
        const float* of_key = sum[r / 2][tile] + r % 2 * 2;
        float* sums = to + 8 * r * D + column + 8 * tile;
        atomic_add(sums, factor * of_key[0]);
        atomic_add(sums + 1, factor * of_key[1]);
      }
    }
  }
}

}  // namespace mma_kernels

}  // namespace plumbline::gpu

#endif
