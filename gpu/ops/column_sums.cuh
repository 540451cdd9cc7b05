// SPDX-License-Identifier: Apache-2.0
// Gradients of parameters that every row shares: sums over all rows, in a fixed order. Blocks sum
// chunks of rows, then one thread a column sums the chunks.
#ifndef PLUMBLINE_GPU_OPS_COLUMN_SUMS_CUH
#define PLUMBLINE_GPU_OPS_COLUMN_SUMS_CUH

#include <cstddef>

#include "core/launch.cuh"

namespace plumbline::gpu {

/// What becomes of the gradient that a buffer holds already.
enum class Gradient {
  overwrite,
  accumulate,  ///< the new gradient is added to it
};

inline constexpr int kSumColumns = 32;  ///< columns of a block, one a lane: coalesced
inline constexpr int kSumWarps = 8;     ///< each takes every eighth row of the chunk

/// How rows are cut into chunks: by their number alone, so that no machine changes the sum's order.
struct RowChunks {
  int rows_per_chunk, count;
};

/// At most 128 chunks, of at least 64 rows.
__host__ __device__ constexpr RowChunks row_chunks(int rows) {
  const int even = (rows - 1) / 128 + 1;
  const int rows_per_chunk = even < 64 ? 64 : even;
  return {rows_per_chunk, (rows - 1) / rows_per_chunk + 1};
}

/// The longest chain of additions that a row's term goes through: a warp's rows, the warps, the
/// chunks and, where it is accumulated, what was there.
__host__ __device__ constexpr int column_chain(int rows) {
  const RowChunks chunks = row_chunks(rows);
  const int together = chunks.rows_per_chunk < rows ? chunks.rows_per_chunk : rows;
  return (together - 1) / kSumWarps + 1 + kSumWarps + chunks.count + 1;
}

/// result[n] = partial[0, n] + partial[1, n] + ..., one after the other; accumulating, that sum is
/// added to result[n]. Shapes: partial [parts, count], result [count], in device memory; parts and
/// count at least 1.
void add_partial_sums(const Stream& stream, const float* partial, int parts, std::size_t count,
                      float* result, Gradient mode);

}  // namespace plumbline::gpu

#endif
