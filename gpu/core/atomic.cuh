// SPDX-License-Identifier: Apache-2.0
#ifndef PLUMBLINE_GPU_CORE_ATOMIC_CUH
#define PLUMBLINE_GPU_CORE_ATOMIC_CUH

#include "core/cuda.cuh"

#if !PLUMBLINE_ON_GPU
#include <atomic>
#include <cmath>
#include <type_traits>
#endif

namespace plumbline::gpu {

#if !PLUMBLINE_ON_GPU
inline float flushed(float x) { return std::fabs(x) < 0x1p-126f ? std::copysign(0.0f, x) : x; }
#endif

/// sum += value in global memory, whichever threads of whichever blocks do so at the same time. The
/// order of the additions, and so the last bits, may differ from run to run. Of floats, subnormal
/// inputs and results become zero and keep their sign (PTX ISA, atom and red: .f32 in global
/// memory), whatever the compiler's flags: at most 2^-126 is lost by an addition.
template <class T>
__device__ __forceinline__ void atomic_add(T* sum, T value) {
#if PLUMBLINE_ON_GPU
  atomicAdd(sum, value);
#else
  std::atomic_ref<T> shared(*sum);
  if constexpr (std::is_same_v<T, float>) {
    float before = shared.load(std::memory_order_relaxed);
    while (!shared.compare_exchange_weak(before, flushed(flushed(before) + flushed(value)),
                                         std::memory_order_relaxed)) {
    }
  } else {
    shared.fetch_add(value, std::memory_order_relaxed);
  }
#endif
}

}  // namespace plumbline::gpu

#endif
