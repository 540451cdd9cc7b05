// SPDX-License-Identifier: Apache-2.0
#include "ops/prefix_sum.cuh"

#include <cstddef>

#include "core/shared_memory.cuh"
#include "core/warp.cuh"

namespace plumbline::gpu {

namespace {

constexpr int kThreads = 128;
constexpr int kWarps = kThreads / static_cast<int>(kWarpSize);
constexpr int kPerThread = 4;  // consecutive values, summed before the threads meet
constexpr int kChunk = kThreads * kPerThread;

/// One block a row, chunk by chunk. Within a chunk: each thread sums its own values, the warp scans
/// the 32 sums by shuffles, the warps' totals meet in shared memory.
__global__ void prefix_sum_kernel(const float* increments, double* sums, int length) {
  SharedMemory shared;
  double* warp_total = shared.take<double>(kWarps);

  const std::size_t row = static_cast<std::size_t>(blockIdx.x) * length;
  const int thread = static_cast<int>(threadIdx.x);
  const int lane = thread % static_cast<int>(kWarpSize);
  const int warp = thread / static_cast<int>(kWarpSize);

  double carry = 0.0;  // sum of all earlier chunks
  for (int begin = 0; begin < length; begin += kChunk) {
    const int first = begin + thread * kPerThread;
    double own[kPerThread];
    double sum = 0.0;
    for (int n = 0; n < kPerThread; ++n) {
      if (first + n < length) sum += increments[row + first + n];
      own[n] = sum;
    }

    double scan = sum;  // becomes the inclusive sum over the lanes up to this one
    for (int delta = 1; delta < static_cast<int>(kWarpSize); delta *= 2) {
      const double lower = shuffle_up(scan, delta);
      if (lane >= delta) scan += lower;
    }
    double before = shuffle_up(scan, 1);  // not scan - sum, which would round
    if (lane == 0) before = 0.0;

    if (lane == static_cast<int>(kWarpSize) - 1) warp_total[warp] = scan;
    __syncthreads();
    double earlier_warps = 0.0, total = 0.0;
    for (int w = 0; w < kWarps; ++w) {
      if (w == warp) earlier_warps = total;
      total += warp_total[w];
    }
    __syncthreads();  // all have read warp_total before the next chunk overwrites it

    const double base = carry + (earlier_warps + before);
    for (int n = 0; n < kPerThread; ++n)
      if (first + n < length) sums[row + first + n] = base + own[n];
    carry += total;
  }
}

}  // namespace

void prefix_sum(const Stream& stream, const float* increments, double* sums, int rows, int length) {
  launch(stream, {dim3{static_cast<unsigned>(rows)}, dim3{kThreads}, shared_bytes<double>(kWarps)},
         prefix_sum_kernel, increments, sums, length);
}

}  // namespace plumbline::gpu
