// SPDX-License-Identifier: Apache-2.0
#include "ops/global_norm.cuh"

#include <cmath>

#include "core/shared_memory.cuh"
#include "ops/elementwise.cuh"
#include "ops/reduce.cuh"
#include "ops/require.cuh"

namespace plumbline::gpu {

namespace {

constexpr unsigned kThreads = 256;
constexpr unsigned kWarps = kThreads / kWarpSize;

/// part[block] = the squares of the block's chunk: each thread its own, then the threads.
__global__ void squares_kernel(const float* grad, std::size_t count, double* part) {
  SharedMemory shared;
  double* per_warp = shared.take<double>(kWarps);
  const std::size_t first = static_cast<std::size_t>(blockIdx.x) * kNormChunk;
  double sum = 0.0;
  for (std::size_t k = threadIdx.x; k < kNormChunk; k += kThreads) {
    if (first + k >= count) break;
    const double g = grad[first + k];
    sum += g * g;
  }
  const double total = block_reduce(sum, per_warp, Plus());
  if (threadIdx.x == 0) part[blockIdx.x] = total;
}

/// One block: the norm of all parts, and the factor.
__global__ void norm_kernel(const double* part, std::size_t parts, double max_norm, double epsilon,
                            double* norm, float* factor) {
  SharedMemory shared;
  double* per_warp = shared.take<double>(kWarps);
  double sum = 0.0;
  for (std::size_t n = threadIdx.x; n < parts; n += kThreads) sum += part[n];
  const double total = block_reduce(sum, per_warp, Plus());
  if (threadIdx.x != 0) return;
  const double root = sqrt(total);
  const double reach = root + epsilon;
  norm[0] = root;
  const double fraction = max_norm / (reach < max_norm ? max_norm : reach);
  factor[0] = isfinite(root) ? static_cast<float>(fraction) : NAN;
}

std::size_t chunks(std::size_t count) { return (count + kNormChunk - 1) / kNormChunk; }

}  // namespace

std::size_t global_norm_parts(std::span<const GradientArray> tensors) {
  std::size_t parts = 0;
  for (const GradientArray& tensor : tensors) parts += chunks(tensor.count);
  return parts;
}

void global_norm(const Stream& stream, const Clipping& clipping,
                 std::span<const GradientArray> tensors, double* parts, double* norm,
                 float* factor) {
  require(clipping.max_norm > 0 && std::isfinite(clipping.max_norm), "max_norm", clipping.max_norm,
          "finite and above 0");
  require(clipping.epsilon >= 0 && std::isfinite(clipping.epsilon), "epsilon", clipping.epsilon,
          "finite and at least 0");
  const std::size_t all_parts = global_norm_parts(tensors);
  require_array(parts, all_parts, "parts");
  require_array(norm, 1, "norm");
  require_array(factor, 1, "factor");
  double* part = parts;
  for (const GradientArray& tensor : tensors) {
    require_array(tensor.grad, tensor.count, "grad");
    require(chunks(tensor.count) <= 0x7fffffffu, "count", tensor.count, "below 2^43");
    if (tensor.count == 0) continue;
    launch(stream,
           {dim3{static_cast<unsigned>(chunks(tensor.count))}, dim3{kThreads},
            shared_bytes<double>(kWarps)},
           squares_kernel, tensor.grad, tensor.count, part);
    part += chunks(tensor.count);
  }
  launch(stream, {dim3{1}, dim3{kThreads}, shared_bytes<double>(kWarps)}, norm_kernel,
         static_cast<const double*>(parts), all_parts, clipping.max_norm, clipping.epsilon, norm,
         factor);
}

}  // namespace plumbline::gpu
