// SPDX-License-Identifier: Apache-2.0
// What LayerNorm and RMSNorm share on the host's side.
#ifndef PLUMBLINE_GPU_OPS_NORM_SHAPE_CUH
#define PLUMBLINE_GPU_OPS_NORM_SHAPE_CUH

#include <cmath>
#include <cstddef>

#include "ops/column_sums.cuh"
#include "ops/require.cuh"

namespace plumbline::gpu {

/// A batch of tokens as rows of a row-major matrix.
struct RowShape {
  int rows, width;
};

/// @throws std::invalid_argument unless rows and width are at least 1, and width, which is divided
/// by, is a number that fp32 has.
inline void check_row_shape(const RowShape& shape) {
  require(shape.rows >= 1, "rows", shape.rows, "at least 1");
  require(shape.width >= 1 && shape.width <= 1 << 24, "width", shape.width, "1 to 2^24");
}

/// @throws std::invalid_argument as check_row_shape does, and unless epsilon is finite and above 0.
inline void check_norm(const RowShape& shape, float epsilon) {
  check_row_shape(shape);
  require(std::isfinite(epsilon) && epsilon > 0.0f, "epsilon", epsilon, "finite and above 0");
}

/// Floats of workspace that a backward pass needs.
inline std::size_t norm_workspace(const RowShape& shape) {
  check_row_shape(shape);
  return std::size_t{2} * row_chunks(shape.rows).count * shape.width;
}

}  // namespace plumbline::gpu

#endif
