// SPDX-License-Identifier: Apache-2.0
// A lane's two query rows in a tensor-core kernel, and its scores of a tile.
#ifndef PLUMBLINE_GPU_ATTENTION_MMA_ROWS_CUH
#define PLUMBLINE_GPU_ATTENTION_MMA_ROWS_CUH

#include "attention/mma_bias.cuh"
#include "attention/mma_tile.cuh"
#include "core/warp.cuh"

namespace plumbline::gpu {

/// Two floats travel in one shuffle.
template <class Combine>
__device__ __forceinline__ void combine_lanes(float (&x)[2], Combine combine) {
#pragma unroll
  for (unsigned mask = 1; mask <= 2; mask *= 2) {
    std::uint64_t bits;
    float other[2];
    memcpy(&bits, x, sizeof bits);
    bits = shuffle_xor(bits, mask);
    memcpy(other, &bits, sizeof bits);
    x[0] = combine(x[0], other[0]);
    x[1] = combine(x[1], other[1]);
  }
}

/// Over the four lanes of each of two rows.
__device__ __forceinline__ void lanes_maximum(float (&x)[2]) {
  combine_lanes(x, [](float a, float b) { return fmaxf(a, b); });
}

__device__ __forceinline__ void lanes_sum(float (&x)[2]) {
  combine_lanes(x, [](float a, float b) { return a + b; });
}

/// A thread's place in the block and what it knows of its two query rows, r = 0 and 1. Rows beyond
/// the last query see no key and write nothing, but go through every barrier.
struct MmaRows {
  int b, head, lane, place;
  int warp_row;                   // the warp's first row in the tile
  int first_row, first_position;  // of the block
  int count;                      // rows of the block that exist
  KeyRange range[2];
  KeyRange block_range;  // of all rows of the block
  float factor[2];

  __device__ explicit MmaRows(const Problem& problem) {
    const int thread = static_cast<int>(threadIdx.x);
    b = static_cast<int>(blockIdx.z);
    head = static_cast<int>(blockIdx.y);
    lane = thread % 32;
    place = lane % 4;
    warp_row = thread / 32 * kMmaWarpRows;
    first_row = static_cast<int>(blockIdx.x) * kMmaQueries;
    first_position = first_row + problem.query_offset;
    count = min(kMmaQueries, problem.queries - first_row);
    block_range = key_range(problem.mask, b, first_position, first_position + count - 1);
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      range[r] = exists(r) ? key_range(problem.mask, b, position(r)) : KeyRange{0, 0};
      factor[r] = exists(r) ? problem.logit_factor(b, head, row(r)) : 0.0f;
    }
  }

  __device__ int row_in_tile(int r) const { return warp_row + lane / 4 + 8 * r; }
  __device__ bool exists(int r) const { return row_in_tile(r) < count; }
  __device__ int row(int r) const { return first_row + row_in_tile(r); }
  __device__ int position(int r) const { return first_position + row_in_tile(r); }
  __device__ At first() const { return {b, head, first_row, first_position}; }

  /// The rows, from the first on, within the length of their sequence. The others see nothing, and
  /// what stands there may be anything.
  __device__ int count_within_length(const Problem& problem) const {
    return min(count, max(0, length_of(problem.mask, b) - first_position));
  }

  /// Makes the rows of a tile zero whose keys, from `begin` on, no row of the block sees: they meet
  /// a P or dZ of 0, and may hold anything, of which 0 NaN and 0 infinity would not be 0. Only
  /// documents hide such keys: block_range has none without them. Between two barriers.
  template <int kKeys, class Tile>
  __device__ void clear_unseen(const Tile& tile, const Problem& problem, int begin) const {
    constexpr int kLanes = kMmaThreads / kKeys;  // of a key
    const int lane_of_key = static_cast<int>(threadIdx.x) % kLanes;
    const int key = static_cast<int>(threadIdx.x) / kLanes;
    int seen = 0;
#pragma unroll 1
    for (int n = lane_of_key; n < count && !seen; n += kLanes) {
      const int at = first_position + n;
      seen = visible(problem.mask, key_range(problem.mask, b, at), b, at, begin + key);
    }
#pragma unroll
    for (unsigned mask = 1; mask < unsigned{kLanes}; mask *= 2) seen |= shuffle_xor(seen, mask);
    if (!seen) tile.clear_row(key, lane_of_key, kLanes);
  }

  /// Makes logits c_i (scale q.k + b_ij) of the products in `score`, whose tile begins with key
  /// `begin`; -infinity where the row does not see the key.
  template <int tiles, int kKeys>
  __device__ __forceinline__ void logits(float (&score)[tiles][4], const Problem& problem,
                                         const AnyBias& bias,
                                         const AnyBiasTile<kMmaQueries, kKeys>& tile_bias,
                                         int begin) const {
    static_assert(8 * tiles == kKeys);
    bias.visit([&](auto family, const auto& params) {
      using Bias = decltype(family);
#pragma unroll
      for (int r = 0; r < 2; ++r) {
        typename Bias::Row bias_row{};
        if constexpr (!std::is_empty_v<typename Bias::Row>)
          bias_row = tile_bias.template row<Bias>(row_in_tile(r));
#pragma unroll
        for (int tile = 0; tile < tiles; ++tile) {
#pragma unroll
          for (int n = 0; n < 2; ++n) {
            float& logit = score[tile][2 * r + n];
            const int key = 8 * tile + 2 * place + n;
            if (!visible(problem.mask, range[r], b, position(r), begin + key)) {
              logit = -INFINITY;
              continue;
            }
            const float added =
                Bias::value(params, head, bias_row, tile_bias.template key<Bias>(key),
                            tile_bias.template entry<Bias>(row_in_tile(r), key));
            logit = rounded_product(factor[r], problem.scale * logit + added);
          }
        }
      }
    });
  }
};

}  // namespace plumbline::gpu

#endif
