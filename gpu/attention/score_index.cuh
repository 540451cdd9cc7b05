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

/// The n-th of them.
struct ScoreRow {
  int b, head, row, position;

  __device__ ScoreRow(const Problem& p, std::size_t n)
      : b(static_cast<int>(n / p.queries / p.heads)),
        head(static_cast<int>(n / p.queries % p.heads)),
        row(static_cast<int>(n % p.queries)),
        position(row + p.query_offset) {}
  __device__ At at() const { return {b, head, row, position}; }
};

/// Key head that a query head reads.
__device__ inline int kv_head_of(const Problem& p, int head) {
  return head / (p.heads / p.kv_heads);
}

}  // namespace plumbline::gpu

#endif
