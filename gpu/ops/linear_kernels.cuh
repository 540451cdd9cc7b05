// SPDX-License-Identifier: Apache-2.0
// What becomes of a matrix product where it has no epilogue for it. `product` is in fp32, the rest
// in the layer's format.
#ifndef PLUMBLINE_GPU_OPS_LINEAR_KERNELS_CUH
#define PLUMBLINE_GPU_OPS_LINEAR_KERNELS_CUH

#include <cstddef>

#include "core/formats.cuh"
#include "core/shared_memory.cuh"
#include "core/warp.cuh"
#include "ops/column_sums.cuh"
#include "ops/elementwise.cuh"
#include "ops/gelu_value.cuh"

namespace plumbline::gpu {

/// y = product + bias. [rows, columns]; bias [columns].
static __global__ void bias_kernel(const float* product, const void* bias, Format format, void* y,
                                   std::size_t count, int columns) {
  for_own_elements(count, [&](std::size_t n) {
    store_element(y, format, n, product[n] + load_element(bias, format, n % columns));
  });
}

/// pre = product + bias, y = gelu(product + bias): of the unrounded sum. bias null: none.
static __global__ void bias_gelu_kernel(const float* product, const void* bias, Format format,
                                        GeluForm form, void* pre, void* y, std::size_t count,
                                        int columns) {
  for_own_elements(count, [&](std::size_t n) {
    const float sum = bias ? product[n] + load_element(bias, format, n % columns) : product[n];
    store_element(pre, format, n, sum);
    store_element(y, format, n, gelu_value(form, sum));
  });
}

/// grad_pre = product gelu'(pre).
static __global__ void gelu_gradient_kernel(const float* product, const void* pre, Format format,
                                            GeluForm form, void* grad_pre, std::size_t count) {
  for_own_elements(count, [&](std::size_t n) {
    const float slope = gelu_derivative(form, load_element(pre, format, n));
    store_element(grad_pre, format, n, product[n] * slope);
  });
}

/// total[n] = part[n], or with it added.
static __global__ void take_sums_kernel(const void* part, Format format, float* total,
                                        std::size_t count, bool accumulate) {
  for_own_elements(count, [&](std::size_t n) {
    const float value = load_element(part, format, n);
    total[n] = accumulate ? total[n] + value : value;
  });
}

/// partial[chunk, j] = sum of matrix[i, j] over the rows of chunk blockIdx.y. A block has
/// kSumColumns columns; each of its kSumWarps warps takes every so-many-th row, then the first adds
/// the warps up.
static __global__ void column_sums_kernel(const void* matrix, Format format, int rows, int columns,
                                          int rows_per_chunk, float* partial) {
  SharedMemory shared;
  float* per_warp = shared.take<float>(kSumWarps * kSumColumns);
  const int lane = static_cast<int>(threadIdx.x % kWarpSize);
  const int warp = static_cast<int>(threadIdx.x / kWarpSize);
  const int column = static_cast<int>(blockIdx.x) * kSumColumns + lane;
  const int begin = static_cast<int>(blockIdx.y) * rows_per_chunk;
  const int end = begin + rows_per_chunk < rows ? begin + rows_per_chunk : rows;
  float sum = 0.0f;
  if (column < columns)
    for (int row = begin + warp; row < end; row += kSumWarps)
      sum += load_element(matrix, format, static_cast<std::size_t>(row) * columns + column);
  per_warp[warp * kSumColumns + lane] = sum;
  __syncthreads();
  if (warp > 0 || column >= columns) return;
  float total = per_warp[lane];
  for (int w = 1; w < kSumWarps; ++w) total += per_warp[w * kSumColumns + lane];
  partial[static_cast<std::size_t>(blockIdx.y) * columns + column] = total;
}

}  // namespace plumbline::gpu

#endif
