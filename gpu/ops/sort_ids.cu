// SPDX-License-Identifier: Apache-2.0
#include "ops/sort_ids.cuh"

#include "core/shared_memory.cuh"
#include "core/warp.cuh"

namespace plumbline::gpu {

namespace {

constexpr int kSortThreads = 512;
constexpr int kSortWarps = kSortThreads / kLanes;
constexpr int kDigitBits = 4;
constexpr int kDigits = 1 << kDigitBits;

/// Replaces every value by the sum of those before it. Each thread has kDigits neighbours.
__device__ void exclusive_sums(int* values, int* warp_total) {
  const int thread = static_cast<int>(threadIdx.x);
  const int lane = thread % kLanes, warp = thread / kLanes;
  int* own = values + thread * kDigits;
  int sum = 0;
  for (int n = 0; n < kDigits; ++n) sum += own[n];
  const int scan = lanes_scan(sum);
  if (lane == kLanes - 1) warp_total[warp] = scan;
  __syncthreads();
  int before = scan - sum;
  for (int w = 0; w < warp; ++w) before += warp_total[w];
  for (int n = 0; n < kDigits; ++n) {
    const int value = own[n];
    own[n] = before;
    before += value;
  }
  __syncthreads();
}

/// One block sorts everything, digit by digit from the lowest. A thread takes a run of neighbouring
/// places; how many of each digit it has stands in places[digit, thread], whose sums in that order
/// tell where they go: by digit, then by thread, then as they came.
__global__ void __launch_bounds__(kSortThreads)
    sort_ids_kernel(const int* ids, int count, int passes, int* order, int* spare) {
  SharedMemory shared;
  int* places = shared.take<int>(kDigits * kSortThreads);
  int* warp_total = shared.take<int>(kSortWarps);
  const int thread = static_cast<int>(threadIdx.x);
  const int run = (count - 1) / kSortThreads + 1;
  const int begin = min(count, thread * run), end = min(count, begin + run);

  // The last pass writes to `order`.
  int* from = passes % 2 == 0 ? order : spare;
  int* to = passes % 2 == 0 ? spare : order;
  for (int pass = 0; pass < passes; ++pass) {
    const int shift = pass * kDigitBits;
    for (int digit = 0; digit < kDigits; ++digit) places[digit * kSortThreads + thread] = 0;
    for (int n = begin; n < end; ++n) {
      const int place = pass == 0 ? n : from[n];
      ++places[((ids[place] >> shift) % kDigits) * kSortThreads + thread];
    }
    __syncthreads();
    exclusive_sums(places, warp_total);
    for (int n = begin; n < end; ++n) {
      const int place = pass == 0 ? n : from[n];
      to[places[((ids[place] >> shift) % kDigits) * kSortThreads + thread]++] = place;
    }
    __syncthreads();
    int* const swapped = from;
    from = to;
    to = swapped;
  }
}

}  // namespace

void sort_ids(const Stream& stream, const int* ids, int count, int rows, int* order, int* spare) {
  int passes = 1;
  while (kDigitBits * passes < 31 && (rows - 1) >> (kDigitBits * passes) > 0) ++passes;
  launch(stream,
         {dim3{1}, dim3{kSortThreads},
          shared_bytes<int>(kDigits * kSortThreads) + shared_bytes<int>(kSortWarps)},
         sort_ids_kernel, ids, count, passes, order, spare);
}

}  // namespace plumbline::gpu
