// SPDX-License-Identifier: Apache-2.0
#ifndef PLUMBLINE_GPU_OPS_HEAD_GATE_CHECKS_CUH
#define PLUMBLINE_GPU_OPS_HEAD_GATE_CHECKS_CUH

#include <climits>

#include "ops/head_gate.cuh"
#include "ops/require.cuh"

namespace plumbline::gpu {

/// @throws std::invalid_argument as head_gate_forward tells.
inline void check_head_gate(const HeadGateShape& shape) {
  require(shape.batch >= 1, "batch", shape.batch, "at least 1");
  require(shape.length >= 1 && shape.length <= INT_MAX / shape.batch, "length", shape.length,
          "at least 1, and batch x length below 2^31");
  require(shape.width >= 1, "width", shape.width, "at least 1");
  require(shape.heads >= 1 && shape.heads <= 65535, "heads", shape.heads, "1 to 65535");
}

/// Where the number of head h and token `row` = b T + t stands: [batch, heads, T].
__device__ inline std::size_t head_place(const HeadGateShape& shape, int h, int row) {
  const int b = row / shape.length, t = row % shape.length;
  return (static_cast<std::size_t>(b) * shape.heads + h) * shape.length + t;
}

}  // namespace plumbline::gpu

#endif
