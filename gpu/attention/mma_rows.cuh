// SPDX-License-Identifier: Apache-2.0
// A lane's query rows in a tensor-core kernel.
#ifndef PLUMBLINE_GPU_ATTENTION_MMA_ROWS_CUH
#define PLUMBLINE_GPU_ATTENTION_MMA_ROWS_CUH

#include "attention/mma_tile.cuh"
#include "core/warp.cuh"

namespace plumbline::gpu {

/// x[r] = combine(x[r], that of another lane) over the four lanes of each row. Two floats travel in
/// one shuffle.
template <int rows, class Combine>
__device__ __forceinline__ void combine_lanes(float (&x)[rows], Combine combine) {
  static_assert(rows % 2 == 0);
#pragma unroll
  for (unsigned mask = 1; mask <= 2; mask *= 2) {
#pragma unroll
    for (int r = 0; r < rows; r += 2) {
      std::uint64_t bits;
      float other[2];
      memcpy(&bits, x + r, sizeof bits);
      bits = shuffle_xor(bits, mask);
      memcpy(other, &bits, sizeof bits);
      x[r] = combine(x[r], other[0]);
      x[r + 1] = combine(x[r + 1], other[1]);
    }
  }
}

/// Over the four lanes of each row.
template <int rows>
__device__ __forceinline__ void lanes_maximum(float (&x)[rows]) {
  combine_lanes(x, [](float a, float b) { return fmaxf(a, b); });
}

template <int rows>
__device__ __forceinline__ void lanes_sum(float (&x)[rows]) {
  combine_lanes(x, [](float a, float b) { return a + b; });
}

/// The keys that some row of a warp sees, and those that all of them see, but for documents.
struct alignas(16) WarpRange {
  KeyRange some, all;
};

/// Which of a lane's scores are seen: of row r the n-th one, of key n % 2 of its tile n / 2.
template <int groups, int tiles>
struct SeenScores {
  static_assert(2 * groups * 2 * tiles <= 64);

  std::uint64_t bits = 0;

  __device__ __forceinline__ bool has(int r, int n) const {
    return (bits >> (r * 2 * tiles + n) & 1) != 0;
  }
};

/// A thread's place in the block and what it knows of its query rows: a warp has 16 `groups` of
/// them, a lane r = 0 ... 2 groups - 1. Rows beyond the last query see no key and write nothing,
/// but go through every barrier. The block's warps with rows are `warps`, from thread
/// `first_thread` on; those after them have the same rows once more.
template <int groups, int warps = kMmaWarps, int first_thread = 0>
struct MmaRows {
  static constexpr int kRows = 2 * groups;  // of a lane
  static constexpr int kRowStep = 8;        // from one of them to the next
  static constexpr int kWarpRows = groups * kMmaWarpRows;
  static constexpr int kQueries = warps * kWarpRows;  // of the block

  int b, head, lane, place;
  int warp_row;                   // the warp's first row in the tile
  int first_row, first_position;  // of the block
  int count;                      // rows of the block that exist
  KeyRange block_range;           // of all rows of the block

  __device__ explicit MmaRows(const Problem& problem) {
    const int thread = (static_cast<int>(threadIdx.x) - first_thread) % (32 * warps);
    b = static_cast<int>(blockIdx.z);
    head = static_cast<int>(blockIdx.y);
    lane = thread % 32;
    place = lane % 4;
    warp_row = thread / 32 * kWarpRows;
    // The last rows first: with a causal mask they have the most keys.
    first_row = static_cast<int>(gridDim.x - 1 - blockIdx.x) * kQueries;
    first_position = first_row + problem.first_position(b);
    count = min(kQueries, problem.queries - first_row);
    block_range = key_range(problem.mask, b, first_position, first_position + count - 1);
  }

  __device__ int row_in_tile(int r) const { return warp_row + lane / 4 + kRowStep * r; }
  __device__ bool exists(int r) const { return row_in_tile(r) < count; }
  __device__ int row(int r) const { return first_row + row_in_tile(r); }
  /// The last row stands for those beyond it.
  __device__ int nearest_row(int r) const { return first_row + min(row_in_tile(r), count - 1); }
  __device__ int position(int r) const { return first_position + row_in_tile(r); }
  __device__ At first() const { return {b, head, first_row, first_position}; }

  __device__ KeyRange range_of(const Problem& problem, int r) const {
    return exists(r) ? key_range(problem.mask, b, position(r)) : KeyRange{0, 0};
  }

  __device__ WarpRange warp_range(const Problem& problem) const {
    const int last = min(warp_row + kWarpRows, count) - 1;
    if (last < warp_row) return {{0, 0}, {0, 0}};
    const int from = first_position + warp_row, to = first_position + last;
    return {key_range(problem.mask, b, from, to),
            problem.mask.documents ? KeyRange{0, 0} : common_key_range(problem.mask, b, from, to)};
  }

  /// Of a lane's scores of the keys from `begin` on those that are seen, a bit each: asked for all
  /// of them at once it would take more registers than there are.
  template <int tiles>
  __device__ SeenScores<groups, tiles> seen(const Problem& problem, int begin) const {
    SeenScores<groups, tiles> seen;
#pragma unroll 1
    for (int r = 0; r < kRows; ++r) {
      const KeyRange range = range_of(problem, r);
      std::uint32_t of_row = 0;
#pragma unroll
      for (int n = 0; n < 2 * tiles; ++n) {
        const int key = begin + 8 * (n / 2) + 2 * place + n % 2;
        of_row |= std::uint32_t{visible(problem.mask, range, b, position(r), key)} << n;
      }
      seen.bits |= std::uint64_t{of_row} << (r * 2 * tiles);
    }
    return seen;
  }

  /// -infinity for the keys from `begin` on that a row does not see.
  template <int tiles>
  __device__ void hide(float (&score)[groups][tiles][4], const Problem& problem, int begin) const {
    const SeenScores<groups, tiles> seen = this->seen<tiles>(problem, begin);
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
#pragma unroll
      for (int n = 0; n < 2 * tiles; ++n) {
        if (!seen.has(r, n)) score[r / 2][n / 2][r % 2 * 2 + n % 2] = -INFINITY;
      }
    }
  }

  /// The rows, from the first on, within the length of their sequence, or so near to the last key
  /// that they see it. The others see nothing, and what stands there may be anything.
  __device__ int count_within_length(const Problem& problem) const {
    if (!problem.mask.lengths && problem.mask.left < 0) return count;
    const int beyond = problem.mask.lengths ? 0 : problem.mask.left;
    return min(count, max(0, length_of(problem.mask, b) + beyond - first_position));
  }

  /// Makes the rows of a tile zero that stand before their sequence: as those beyond its length,
  /// they see nothing. Between two barriers.
  template <class Tile>
  __device__ void clear_before_sequence(const Tile& tile) const {
    for (int row = static_cast<int>(threadIdx.x); row < min(count, -first_position);
         row += kMmaThreads)
      tile.clear_row(row, 0, 1);
  }

  /// Makes the rows of a tile zero whose keys, from `begin` on, no row of the block sees: they meet
  /// a P or dZ of 0, and may hold anything, of which 0 NaN and 0 infinity would not be 0. Only
  /// documents hide such keys: block_range has none without them. Between two barriers.
  template <int kKeys, int threads = kMmaThreads, class Tile>
  __device__ void clear_unseen(const Tile& tile, const Problem& problem, int begin) const {
    constexpr int kLanes = threads / kKeys;  // of a key
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
};

}  // namespace plumbline::gpu

#endif
