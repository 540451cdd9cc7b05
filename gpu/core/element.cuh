// SPDX-License-Identifier: Apache-2.0
// Conversion between an element format and the fp32 of the arithmetic. Each format's header adds
// its own pair.
#ifndef PLUMBLINE_GPU_CORE_ELEMENT_CUH
#define PLUMBLINE_GPU_CORE_ELEMENT_CUH

#include "core/cuda.cuh"

namespace plumbline::gpu {

__device__ inline float to_float(float x) { return x; }

/// Rounds to the element format, to nearest, ties to even. A NaN becomes the canonical NaN, except
/// in fp32, which is returned as it is.
template <class Element>
__device__ inline Element from_float(float x);

template <>
__device__ inline float from_float<float>(float x) {
  return x;
}

}  // namespace plumbline::gpu

#endif
