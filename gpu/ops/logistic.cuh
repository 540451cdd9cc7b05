// SPDX-License-Identifier: Apache-2.0
#ifndef PLUMBLINE_GPU_OPS_LOGISTIC_CUH
#define PLUMBLINE_GPU_OPS_LOGISTIC_CUH

#include "core/cuda.cuh"

namespace plumbline::gpu {

/// A gate of the logistic function: open = 1/(1 + e^-z), closed = 1/(1 + e^z) = 1 - open, each with
/// a small relative error however far out z lies, since no large exponential is formed.
struct Gate {
  float open, closed;

  __device__ explicit Gate(float z) {
    const float e = expf(-fabsf(z));
    const float near = 1.0f / (1.0f + e), far = e / (1.0f + e);
    open = z >= 0.0f ? near : far;
    closed = z >= 0.0f ? far : near;
  }
};

}  // namespace plumbline::gpu

#endif
