// SPDX-License-Identifier: Apache-2.0
#ifndef PLUMBLINE_GPU_ATTENTION_SCORE_INDEX_CUH
#define PLUMBLINE_GPU_ATTENTION_SCORE_INDEX_CUH

#include <cstddef>

#include "attention/problem.cuh"

namespace plumbline::gpu {

inline constexpr int kScoreThreads = 128;

/// Of a launch with one thread an element.
inline LaunchShape over_elements(std::size_t count,
                                 std::source_location where = std::source_location::current()) {
  return {dim3{static_cast<unsigned>((count - 1) / kScoreThreads + 1)}, dim3{kScoreThreads}, 0,
          where};
}

__device__ inline std::size_t element_index() {
  return static_cast<std::size_t>(blockIdx.x) * kScoreThreads + threadIdx.x;
}

/// Query rows of all sequences and heads.
__host__ __device__ inline std::size_t row_count(const Problem& p) {
  return static_cast<std::size_t>(p.batch) * p.heads * p.queries;
}

/// Rows first .. first + count - 1 of every sequence and head: those whose scores are in memory at
/// once, [batch, heads, count, keys].
struct RowChunk {
  int first, count;

  __host__ __device__ std::size_t rows(const Problem& p) const {
    return static_cast<std::size_t>(p.batch) * p.heads * count;
  }
  /// Where one of its rows stands among them.
  __device__ std::size_t index(const Problem& p, int b, int head, int row) const {
    return (static_cast<std::size_t>(b) * p.heads + head) * count + (row - first);
  }
  __host__ __device__ int end() const { return first + count; }
  __host__ __device__ bool is_last(const Problem& p) const { return end() == p.queries; }
};

/// The n-th row of a chunk.
struct ScoreRow {
  int b, head, row, position;

  __device__ ScoreRow(const Problem& p, const RowChunk& chunk, std::size_t n)
      : b(static_cast<int>(n / chunk.count / p.heads)),
        head(static_cast<int>(n / chunk.count % p.heads)),
        row(chunk.first + static_cast<int>(n % chunk.count)),
        position(row + p.mask.query_offset) {}
  __device__ At at() const { return {b, head, row, position}; }
};

/// A sum over all rows that goes on from chunk to chunk, so that its additions and their order, and
/// with them its bits, do not depend on the chunks. `so_far` is in memory between them.
template <class T>
__device__ T carried(const RowChunk& chunk, const T& so_far) {
  return chunk.first == 0 ? T{} : so_far;
}

/// The first of the numbers from `begin` on that this thread takes when n falls to thread n modulo
/// `threads` of a block, wherever a range begins.
__device__ inline std::size_t first_of_thread(std::size_t begin, unsigned threads) {
  const auto owner = static_cast<unsigned>(begin % threads);
  return begin + (threadIdx.x + threads - owner) % threads;
}

/// Key head that a query head reads.
__device__ inline int kv_head_of(const Problem& p, int head) {
  return head / (p.heads / p.kv_heads);
}

}  // namespace plumbline::gpu

#endif
