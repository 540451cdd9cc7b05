// SPDX-License-Identifier: Apache-2.0
#include "attention/visible_count.cuh"

#include <cstddef>

namespace plumbline::gpu {

namespace {

constexpr int kCountThreads = 64;

/// One thread a query. Only documents make it count one by one.
__global__ void visible_count_kernel(Mask mask, int queries, int* counts) {
  const int row = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  const int b = static_cast<int>(blockIdx.y);
  if (row >= queries) return;
  const int position = row + first_position(mask, b);
  const KeyRange range = key_range(mask, b, position);
  int count = range.end - range.begin;
  if (mask.documents) {
    count = 0;
    for (int key = range.begin; key < range.end; ++key)
      count += visible(mask, range, b, position, key) ? 1 : 0;
  }
  counts[static_cast<std::size_t>(b) * queries + row] = count;
}

}  // namespace

void visible_count(const Stream& stream, const Mask& mask, int batch, int queries, int* counts) {
  const auto blocks = static_cast<unsigned>((queries + kCountThreads - 1) / kCountThreads);
  launch(stream, {dim3{blocks, static_cast<unsigned>(batch)}, dim3{kCountThreads}, 0},
         visible_count_kernel, mask, queries, counts);
}

}  // namespace plumbline::gpu
