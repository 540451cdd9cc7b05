// SPDX-License-Identifier: Apache-2.0
#include "ops/column_sums.cuh"

namespace plumbline::gpu {

namespace {

constexpr unsigned kSumThreads = 128;

__global__ void add_partial_sums_kernel(const float* partial, int parts, std::size_t count,
                                        float* result, bool accumulate) {
  const std::size_t n = static_cast<std::size_t>(blockIdx.x) * kSumThreads + threadIdx.x;
  if (n >= count) return;
  float sum = partial[n];
  for (int part = 1; part < parts; ++part) sum += partial[part * count + n];
  result[n] = accumulate ? result[n] + sum : sum;
}

}  // namespace

void add_partial_sums(const Stream& stream, const float* partial, int parts, std::size_t count,
                      float* result, Gradient mode) {
  const auto blocks = static_cast<unsigned>((count - 1) / kSumThreads + 1);
  launch(stream, {dim3{blocks}, dim3{kSumThreads}}, add_partial_sums_kernel, partial, parts, count,
         result, mode == Gradient::accumulate);
}

}  // namespace plumbline::gpu
