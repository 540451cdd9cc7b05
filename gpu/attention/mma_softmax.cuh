// SPDX-License-Identifier: Apache-2.0
#ifndef PLUMBLINE_GPU_ATTENTION_MMA_SOFTMAX_CUH
#define PLUMBLINE_GPU_ATTENTION_MMA_SOFTMAX_CUH

#include <float.h>

#include "attention/mma_rows.cuh"
#include "core/exp2.cuh"

namespace plumbline::gpu {

/// The softmax of a lane's rows, of which it sees one tile of keys after the other: the maximum m
/// of the logits so far, in units of log2, and the sum of 2^(logit - m) over this lane's keys. The
/// four lanes of a row share m, so that their sums add up. m begins with the lowest float, so that
/// no infinity is ever subtracted from itself.
template <int rows>
struct RunningSoftmax {
  float maximum[rows], sum[rows];

  __device__ RunningSoftmax() {
#pragma unroll
    for (int r = 0; r < rows; ++r) maximum[r] = -FLT_MAX, sum[r] = 0.0f;
  }

  /// Before the first tile: a logit, in units of log2, that no value meets. `counts`: in the sum of
  /// one of a row's four lanes.
  __device__ void begin_with(float logit, bool counts) {
#pragma unroll
    for (int r = 0; r < rows; ++r) maximum[r] = logit, sum[r] = counts ? 1.0f : 0.0f;
  }

  /// Makes weights of a tile's logits, and adds them. An invisible key's logit is -infinity, and
  /// its weight 0. Where m grows, what was summed with earlier weights is rescaled: their sum, and
  /// `output`. In most tiles after the first ones it does not.
  template <int tiles, int output_tiles>
  __device__ __forceinline__ void add(float (&score)[rows / 2][tiles][4],
                                      float (&output)[rows / 2][output_tiles][4]) {
    float largest[rows];
#pragma unroll
    for (int r = 0; r < rows; ++r) {
      largest[r] = -INFINITY;
#pragma unroll
      for (int tile = 0; tile < tiles; ++tile) {
        const float* of_row = score[r / 2][tile] + r % 2 * 2;
        largest[r] = fmaxf(largest[r], fmaxf(of_row[0], of_row[1]));
      }
    }
    lanes_maximum(largest);
    bool grows = false;
#pragma unroll
    for (int r = 0; r < rows; ++r) grows |= largest[r] > maximum[r];
    if (grows) rescale(largest, output);
#pragma unroll
    for (int r = 0; r < rows; ++r) {
#pragma unroll
      for (int tile = 0; tile < tiles; ++tile) {
#pragma unroll
        for (int n = r % 2 * 2; n < r % 2 * 2 + 2; ++n) {
          float& weight = score[r / 2][tile][n];
          weight = exp2_approximate(weight - maximum[r]);
          sum[r] += weight;
        }
      }
    }
  }

  /// In natural units, after the last tile. -infinity where the row has seen no key.
  __device__ float lse(int r) const {
    return sum[r] == 0.0f ? -INFINITY : 0.693147181f * maximum[r] + logf(sum[r]);
  }

 private:
  /// Each m becomes the largest logit so far.
  template <int output_tiles>
  __device__ __forceinline__ void rescale(const float (&largest)[rows],
                                          float (&output)[rows / 2][output_tiles][4]) {
#pragma unroll
    for (int r = 0; r < rows; ++r) {
      const float before = maximum[r];
      maximum[r] = fmaxf(before, largest[r]);
      const float factor = exp2_approximate(before - maximum[r]);
      sum[r] *= factor;
#pragma unroll
      for (int tile = 0; tile < output_tiles; ++tile) {
#pragma unroll
        for (int n = r % 2 * 2; n < r % 2 * 2 + 2; ++n) output[r / 2][tile][n] *= factor;
      }
    }
  }
};

/// Writes o and lse of a lane's rows, after the last tile.
template <int D, class Element, class Rows, int groups>
__device__ __forceinline__ void write_outputs(const float (&output)[groups][D / 8][4],
                                              RunningSoftmax<Rows::kRows>& softmax,
                                              const Problem& problem, const Outputs& outputs,
                                              const Rows& rows) {
  using Storage = typename MmaStorage<Element>::type;
  lanes_sum(softmax.sum);
  const std::size_t first = problem.row_index(rows.b, rows.head, rows.row(0));
  Storage* const o = static_cast<Storage*>(outputs.o) + first * D + 2 * rows.place;
#pragma unroll
  for (int r = 0; r < Rows::kRows; ++r) {
    if (!rows.exists(r)) continue;
    const bool empty = softmax.sum[r] == 0.0f;
    const float by_sum = 1.0f / softmax.sum[r];
#pragma unroll
    for (int tile = 0; tile < D / 8; ++tile) {
      const float* of_row = output[r / 2][tile] + r % 2 * 2;
      store_pair<Element>(o + r * Rows::kRowStep * D + 8 * tile, empty ? 0.0f : of_row[0] * by_sum,
                          empty ? 0.0f : of_row[1] * by_sum);
    }
    if (rows.place == 0) outputs.lse[first + r * Rows::kRowStep] = softmax.lse(r);
  }
}

/// The same by way of `stage`, a tile in shared memory with the block's rows (MmaTile, or what has
/// its place() and write_rows()), which no copy is on its way to: of a row a lane has 4 bytes here
/// and there, and writes 16 in a row.
template <int D, class Element, class Rows, int groups, class Stage>
__device__ __forceinline__ void write_outputs(const float (&output)[groups][D / 8][4],
                                              RunningSoftmax<Rows::kRows>& softmax,
                                              const Problem& problem, const Outputs& outputs,
                                              const Rows& rows, const Stage& stage) {
  using Storage = typename MmaStorage<Element>::type;
  lanes_sum(softmax.sum);
  float* const lse = outputs.lse + problem.row_index(rows.b, rows.head, rows.row(0));
  __syncwarp();  // all lanes are done with what the warp's rows had
#pragma unroll
  for (int r = 0; r < Rows::kRows; ++r) {
    const bool empty = softmax.sum[r] == 0.0f;
    const float by_sum = 1.0f / softmax.sum[r];
#pragma unroll
    for (int tile = 0; tile < D / 8; ++tile) {
      const float* of_row = output[r / 2][tile] + r % 2 * 2;
      store_pair<Element>(stage.place(rows.row_in_tile(r), 2 * rows.place, 8 * tile),
                          empty ? 0.0f : of_row[0] * by_sum, empty ? 0.0f : of_row[1] * by_sum);
    }
    if (rows.place == 0 && rows.exists(r)) lse[r * Rows::kRowStep] = softmax.lse(r);
  }
  __syncwarp();  // the warp's rows are there
  const std::size_t start =
      problem.query_start(rows.b, rows.head, rows.first_row + rows.warp_row, D);
  stage.template write_rows<Rows::kWarpRows>(static_cast<Storage*>(outputs.o) + start, rows.lane,
                                             rows.warp_row, rows.count - rows.warp_row);
}

}  // namespace plumbline::gpu

#endif
