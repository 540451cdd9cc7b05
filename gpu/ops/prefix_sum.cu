// SPDX-License-Identifier: Apache-2.0
#include "ops/prefix_sum.cuh"

#include <cstddef>

#include "core/shared_memory.cuh"
#include "core/warp.cuh"
#include "ops/require.cuh"

namespace plumbline::gpu {

namespace {

constexpr int kPrefixThreads = 128;
constexpr int kPrefixWarps = kPrefixThreads / static_cast<int>(kWarpSize);
constexpr int kPerThread = 4;  // consecutive values, summed before the threads meet
constexpr int kChunk = kPrefixThreads * kPerThread;

/// One block a row, chunk by chunk, from the first term on or, for suffix sums, from the last one.
/// Within a chunk: each thread sums its own values, the warp scans the 32 sums by shuffles, the
/// warps' totals meet in shared memory.
template <bool kFromTheEnd, class Term, class Sum>
__global__ void prefix_sum_kernel(const Term* terms, Sum* sums, int length) {
  SharedMemory shared;
  double* warp_total = shared.take<double>(kPrefixWarps);

  const std::size_t row = static_cast<std::size_t>(blockIdx.x) * length;
  const int thread = static_cast<int>(threadIdx.x);
  const int lane = thread % static_cast<int>(kWarpSize);
  const int warp = thread / static_cast<int>(kWarpSize);

  const auto place = [=](int n) { return row + (kFromTheEnd ? length - 1 - n : n); };

  double carry = 0.0;  // sum of all earlier chunks
  for (int begin = 0; begin < length; begin += kChunk) {
    const int first = begin + thread * kPerThread;
    double own[kPerThread];
    double sum = 0.0;
    for (int n = 0; n < kPerThread; ++n) {
      if (first + n < length) sum += terms[place(first + n)];
      own[n] = sum;
    }

    const double scan = lanes_scan(sum);
    double before = shuffle_up(scan, 1);  // not scan - sum, which would round
    if (lane == 0) before = 0.0;

    if (lane == static_cast<int>(kWarpSize) - 1) warp_total[warp] = scan;
    __syncthreads();
    double earlier_warps = 0.0, total = 0.0;
    for (int w = 0; w < kPrefixWarps; ++w) {
      if (w == warp) earlier_warps = total;
      total += warp_total[w];
    }
    __syncthreads();  // all have read warp_total before the next chunk overwrites it

    const double base = carry + (earlier_warps + before);
    for (int n = 0; n < kPerThread; ++n)
      if (first + n < length) sums[place(first + n)] = base + own[n];
    carry += total;
  }
}

void check_shape(int rows, int length) {
  require(rows >= 1, "rows", rows, "at least 1");
  require(length >= 1, "length", length, "at least 1");
}

}  // namespace

void prefix_sum(const Stream& stream, const float* increments, double* sums, int rows, int length) {
  check_shape(rows, length);
  launch(
      stream,
      {dim3{static_cast<unsigned>(rows)}, dim3{kPrefixThreads}, shared_bytes<double>(kPrefixWarps)},
      prefix_sum_kernel<false, float, double>, increments, sums, length);
}

template <class Number>
void prefix_sum_grad(const Stream& stream, const Number* grad_sums, float* grad_increments,
                     int rows, int length) {
  check_shape(rows, length);
  launch(
      stream,
      {dim3{static_cast<unsigned>(rows)}, dim3{kPrefixThreads}, shared_bytes<double>(kPrefixWarps)},
      prefix_sum_kernel<true, Number, float>, grad_sums, grad_increments, length);
}

template void prefix_sum_grad(const Stream&, const float*, float*, int, int);
template void prefix_sum_grad(const Stream&, const double*, float*, int, int);

}  // namespace plumbline::gpu
