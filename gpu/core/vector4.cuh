// SPDX-License-Identifier: Apache-2.0
// Four floats at once: one 128-bit access of shared memory.
#ifndef PLUMBLINE_GPU_CORE_VECTOR4_CUH
#define PLUMBLINE_GPU_CORE_VECTOR4_CUH

#include "core/cuda.cuh"

namespace plumbline::gpu {

/// `address` must lie on a 16-byte boundary.
__device__ __forceinline__ float4 load4(const float* address) {
  return *reinterpret_cast<const float4*>(address);
}

__device__ __forceinline__ void store4(float* address, const float4& value) {
  *reinterpret_cast<float4*>(address) = value;
}

/// sum += factor * value.
__device__ __forceinline__ void multiply_add(float4& sum, float factor, const float4& value) {
  sum.x += factor * value.x;
  sum.y += factor * value.y;
  sum.z += factor * value.z;
  sum.w += factor * value.w;
}

__device__ __forceinline__ void scale(float4& value, float factor) {
  value.x *= factor;
  value.y *= factor;
  value.z *= factor;
  value.w *= factor;
}

}  // namespace plumbline::gpu

#endif
