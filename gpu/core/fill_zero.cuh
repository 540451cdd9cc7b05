// SPDX-License-Identifier: Apache-2.0
#ifndef PLUMBLINE_GPU_CORE_FILL_ZERO_CUH
#define PLUMBLINE_GPU_CORE_FILL_ZERO_CUH

#include <cstddef>
#include <cstring>

#include "core/launch.cuh"

namespace plumbline::gpu {

/// Sets `count` values in device memory to zero, in the order of `stream`. T is a number.
template <class T>
void fill_zero([[maybe_unused]] const Stream& stream, T* device, std::size_t count) {
  if (count == 0) return;
#if PLUMBLINE_ON_GPU
  stream.check(cudaMemsetAsync(device, 0, count * sizeof(T), stream.get()));
#else
  std::memset(static_cast<void*>(device), 0, count * sizeof(T));
#endif
}

}  // namespace plumbline::gpu

#endif
