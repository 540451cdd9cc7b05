// SPDX-License-Identifier: Apache-2.0
// The part of CUDA C++ that our kernels use, for an ordinary C++ compiler. It is included by
// core/cuda.cuh where nvcc would include <cuda_runtime.h>.
#ifndef PLUMBLINE_GPU_EMULATION_CUDA_RUNTIME_HPP
#define PLUMBLINE_GPU_EMULATION_CUDA_RUNTIME_HPP

#include <math.h>

#include <source_location>

#include "emulation/grid.hpp"

#define __global__
#define __device__
#define __host__
#define __launch_bounds__(...)
#define __forceinline__ inline __attribute__((always_inline))

struct alignas(16) float4 {
  float x, y, z, w;
};

/// The block's barrier; the caller's line stands in the report of a divergent one.
inline void __syncthreads(std::source_location where = std::source_location::current()) {
  plumbline::emulation::block_barrier(where);
}

inline void __syncwarp(std::source_location where = std::source_location::current()) {
  plumbline::emulation::warp_barrier(where);
}

inline int min(int a, int b) { return b < a ? b : a; }
inline int max(int a, int b) { return a < b ? b : a; }

#endif
