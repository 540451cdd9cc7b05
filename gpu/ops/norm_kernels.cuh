// SPDX-License-Identifier: Apache-2.0
// The kernels of LayerNorm (kCentred) and RMSNorm. A warp takes a row and reads it as often as it
// needs it: a row stays in the first-level cache, so memory sees one reading.
//
// LayerNorm does not see a number that is added to the whole row. So that the roundings do not see
// it either, everything is computed from x_c - x_0, which is exact where the row lies far from 0
// (Sterbenz): a constant row gives exactly beta, and no bound grows with |mean| / sigma.
#ifndef PLUMBLINE_GPU_OPS_NORM_KERNELS_CUH
#define PLUMBLINE_GPU_OPS_NORM_KERNELS_CUH

#include <cstddef>

#include "core/bfloat16.cuh"
#include "core/float16.cuh"
#include "core/shared_memory.cuh"
#include "ops/column_sums.cuh"
#include "ops/norm_shape.cuh"
#include "ops/reduce.cuh"

namespace plumbline::gpu {

inline constexpr int kNormWarps = 4;  // rows of a block

/// The row's values less x_0 and less `mean`; for RMSNorm the values themselves.
template <bool kCentred, class Element>
class CentredRow {
 public:
  __device__ CentredRow(const Element* row, float mean)
      : row_(row), origin_(kCentred ? to_float(row[0]) : 0.0f), mean_(kCentred ? mean : 0.0f) {}

  __device__ float operator[](int c) const {
    const float x = to_float(row_[c]);
    return kCentred ? (x - origin_) - mean_ : x;
  }

 private:
  const Element* row_;
  float origin_, mean_;
};

/// mean[r] = 1/C sum_c (x_c - x_0), rstd[r] = 1 / sqrt(1/C sum_c d_c^2 + epsilon) with d_c =
/// x_c - x_0 - mean, y_c = gamma_c d_c rstd + beta_c; for RMSNorm d = x, and neither mean nor beta.
template <bool kCentred, class Element>
__global__ void __launch_bounds__(kNormWarps* kLanes)
    norm_forward_kernel(const Element* x, const float* gamma, const float* beta, float epsilon,
                        Element* y, float* mean, float* rstd, int rows, int width) {
  const int lane = static_cast<int>(threadIdx.x) % kLanes;
  const int r = static_cast<int>(blockIdx.x) * kNormWarps + static_cast<int>(threadIdx.x) / kLanes;
  if (r >= rows) return;  // a whole warp: no thread of another one waits for it
  const std::size_t begin = static_cast<std::size_t>(r) * width;
  const auto count = static_cast<float>(width);

  float centre = 0.0f;
  if constexpr (kCentred) {
    const CentredRow<kCentred, Element> shifted(x + begin, 0.0f);
    for (int c = lane; c < width; c += kLanes) centre += shifted[c];
    centre = warp_sum(centre) / count;
  }
  const CentredRow<kCentred, Element> d(x + begin, centre);
  float squares = 0.0f;
  for (int c = lane; c < width; c += kLanes) squares += d[c] * d[c];
  const float reciprocal = 1.0f / sqrtf(warp_sum(squares) / count + epsilon);

  for (int c = lane; c < width; c += kLanes) {
    const float scaled = gamma[c] * (d[c] * reciprocal);
    y[begin + c] = from_float<Element>(kCentred ? scaled + beta[c] : scaled);
  }
  if (lane == 0) {
    if constexpr (kCentred) mean[r] = centre;
    rstd[r] = reciprocal;
  }
}

/// With n_c = d_c rstd and g_c = dy_c gamma_c: dx_c = rstd (g_c - 1/C sum g - n_c 1/C sum g n), for
/// RMSNorm without sum g.
template <bool kCentred, class Element>
__global__ void __launch_bounds__(kNormWarps* kLanes)
    norm_grad_x_kernel(const Element* x, const float* gamma, const float* mean, const float* rstd,
                       const Element* grad_y, Element* grad_x, int rows, int width) {
  const int lane = static_cast<int>(threadIdx.x) % kLanes;
  const int r = static_cast<int>(blockIdx.x) * kNormWarps + static_cast<int>(threadIdx.x) / kLanes;
  if (r >= rows) return;
  const std::size_t begin = static_cast<std::size_t>(r) * width;
  const auto count = static_cast<float>(width);
  const CentredRow<kCentred, Element> d(x + begin, kCentred ? mean[r] : 0.0f);
  const float reciprocal = rstd[r];

  float sum = 0.0f, along = 0.0f;
  for (int c = lane; c < width; c += kLanes) {
    const float g = to_float(grad_y[begin + c]) * gamma[c];
    if constexpr (kCentred) sum += g;
    along += g * (d[c] * reciprocal);
  }
  if constexpr (kCentred) sum = warp_sum(sum) / count;
  along = warp_sum(along) / count;

  for (int c = lane; c < width; c += kLanes) {
    float g = to_float(grad_y[begin + c]) * gamma[c];
    if constexpr (kCentred) g -= sum;
    grad_x[begin + c] = from_float<Element>((g - (d[c] * reciprocal) * along) * reciprocal);
  }
}

/// Of the block's chunk of rows and 32 columns: partial_gamma[chunk, c] = sum_t dy_tc n_tc,
/// partial_beta[chunk, c] = sum_t dy_tc. Block (32, 8): a thread sums every eighth row, then the
/// first warp the eight sums.
template <bool kCentred, class Element>
__global__ void __launch_bounds__(kSumColumns* kSumWarps)
    norm_grad_parameters_kernel(const Element* x, const float* mean, const float* rstd,
                                const Element* grad_y, float* partial_gamma, float* partial_beta,
                                int rows, int width, int rows_per_chunk) {
  SharedMemory shared;
  float* gamma_sums = shared.take<float>(kSumColumns * kSumWarps);
  float* beta_sums = shared.take<float>(kSumColumns * kSumWarps);
  const int lane = static_cast<int>(threadIdx.x), warp = static_cast<int>(threadIdx.y);
  const int c = static_cast<int>(blockIdx.x) * kSumColumns + lane;
  const int chunk = static_cast<int>(blockIdx.y);
  const int first = chunk * rows_per_chunk;
  const int end = min(rows, first + rows_per_chunk);

  float of_gamma = 0.0f, of_beta = 0.0f;
  if (c < width) {
    for (int r = first + warp; r < end; r += kSumWarps) {
      const std::size_t begin = static_cast<std::size_t>(r) * width;
      const CentredRow<kCentred, Element> d(x + begin, kCentred ? mean[r] : 0.0f);
      const float dy = to_float(grad_y[begin + c]);
      of_gamma += dy * (d[c] * rstd[r]);
      of_beta += dy;
    }
  }
  gamma_sums[warp * kSumColumns + lane] = of_gamma;
  beta_sums[warp * kSumColumns + lane] = of_beta;
  __syncthreads();
  if (warp > 0 || c >= width) return;
  for (int w = 1; w < kSumWarps; ++w) {
    of_gamma += gamma_sums[w * kSumColumns + lane];
    of_beta += beta_sums[w * kSumColumns + lane];
  }
  const std::size_t place = static_cast<std::size_t>(chunk) * width + c;
  partial_gamma[place] = of_gamma;
  if constexpr (kCentred) partial_beta[place] = of_beta;
}

template <bool kCentred, class Element>
void norm_forward(const Stream& stream, const RowShape& shape, const Element* x, const float* gamma,
                  const float* beta, float epsilon, Element* y, float* mean, float* rstd) {
  check_norm(shape, epsilon);
  const auto blocks = static_cast<unsigned>((shape.rows - 1) / kNormWarps + 1);
  launch(stream, {dim3{blocks}, dim3{kNormWarps * kWarpSize}},
         norm_forward_kernel<kCentred, Element>, x, gamma, beta, epsilon, y, mean, rstd, shape.rows,
         shape.width);
}

template <bool kCentred, class Element>
void norm_backward(const Stream& stream, const RowShape& shape, const Element* x,
                   const float* gamma, const float* mean, const float* rstd, const Element* grad_y,
                   Element* grad_x, float* grad_gamma, float* grad_beta, Gradient mode,
                   float* workspace) {
  check_row_shape(shape);
  const auto blocks = static_cast<unsigned>((shape.rows - 1) / kNormWarps + 1);
  launch(stream, {dim3{blocks}, dim3{kNormWarps * kWarpSize}},
         norm_grad_x_kernel<kCentred, Element>, x, gamma, mean, rstd, grad_y, grad_x, shape.rows,
         shape.width);

  const RowChunks chunks = row_chunks(shape.rows);
  float* partial_gamma = workspace;
  float* partial_beta = workspace + static_cast<std::size_t>(chunks.count) * shape.width;
  const auto tiles = static_cast<unsigned>((shape.width - 1) / kSumColumns + 1);
  launch(stream,
         {dim3{tiles, static_cast<unsigned>(chunks.count)}, dim3{kSumColumns, kSumWarps},
          2 * shared_bytes<float>(kSumColumns * kSumWarps)},
         norm_grad_parameters_kernel<kCentred, Element>, x, mean, rstd, grad_y, partial_gamma,
         partial_beta, shape.rows, shape.width, chunks.rows_per_chunk);
  add_partial_sums(stream, partial_gamma, chunks.count, shape.width, grad_gamma, mode);
  if constexpr (kCentred)
    add_partial_sums(stream, partial_beta, chunks.count, shape.width, grad_beta, mode);
}

}  // namespace plumbline::gpu

#endif
