// SPDX-License-Identifier: Apache-2.0
#ifndef PLUMBLINE_GPU_CORE_ATOMIC_CUH
#define PLUMBLINE_GPU_CORE_ATOMIC_CUH

#include "core/cuda.cuh"

#if !PLUMBLINE_ON_GPU
#include <atomic>
#endif

namespace plumbline::gpu {

/// sum += value in global memory, whichever threads of whichever blocks do so at the same time. The
/// order of the additions, and so the last bits, may differ from run to run.
template <class T>
__device__ __forceinline__ void atomic_add(T* sum, T value) {
#if PLUMBLINE_ON_GPU
  atomicAdd(sum, value);
#else
  std::atomic_ref<T>(*sum).fetch_add(value, std::memory_order_relaxed);
#endif
}

}  // namespace plumbline::gpu

#endif
