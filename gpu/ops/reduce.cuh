// SPDX-License-Identifier: Apache-2.0
// Sums and maxima over a warp and over a block, in an order that depends on nothing but the shape:
// the same bits every run.
#ifndef PLUMBLINE_GPU_OPS_REDUCE_CUH
#define PLUMBLINE_GPU_OPS_REDUCE_CUH

#include <cstddef>

#include "core/shared_memory.cuh"
#include "core/warp.cuh"

namespace plumbline::gpu {

struct Plus {
  template <class T>
  __device__ T operator()(T a, T b) const {
    return a + b;
  }
};

struct Larger {
  __device__ float operator()(float a, float b) const { return a < b ? b : a; }
};

struct Smaller {
  __device__ int operator()(int a, int b) const { return a < b ? a : b; }
};

/// The 32 lanes' values combined, in every lane with the same bits: a tree of depth 5, whose
/// partners exchange equal pairs (`combine` must be commutative).
template <class Combine, class T>
__device__ T warp_reduce(T value, Combine combine) {
  return butterfly<16, 8, 4, 2, 1>(value, combine);
}

template <class T>
__device__ T warp_sum(T value) {
  return warp_reduce(value, Plus());
}

/// All threads' values combined, in every thread with the same bits: warp by warp, then the warps
/// one after the other. All threads must call it; `per_warp` is shared, one value a warp, and may
/// be used again at once.
template <class Combine, class T>
__device__ T block_reduce(T value, T* per_warp, Combine combine) {
  value = warp_reduce(value, combine);
  const unsigned warps = blockDim.x / kWarpSize;
  if (lane_index() == 0) per_warp[threadIdx.x / kWarpSize] = value;
  __syncthreads();
  T total = per_warp[0];
  for (unsigned w = 1; w < warps; ++w) total = combine(total, per_warp[w]);
  __syncthreads();  // all have read it before a next call overwrites it
  return total;
}

/// The longest chain of additions that a value of a row goes through, where a warp sums a row of
/// `width` values: each lane its own one after the other, then the lanes.
__host__ __device__ constexpr int warp_row_chain(int width) {
  return (width - 1) / static_cast<int>(kWarpSize) + 5;
}

}  // namespace plumbline::gpu

#endif
