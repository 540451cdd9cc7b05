// SPDX-License-Identifier: Apache-2.0
// One value of a head's gate, for kernels that have z in a register. Formulas: ops/head_gate.cuh.
#ifndef PLUMBLINE_GPU_OPS_HEAD_GATE_VALUE_CUH
#define PLUMBLINE_GPU_OPS_HEAD_GATE_VALUE_CUH

#include "ops/head_gate.cuh"

namespace plumbline::gpu {

__device__ inline float head_gate_value(HeadGate gate, float z) {
  if (gate == HeadGate::increment) return z < 0.0f ? 0.0f : z;
  const float rest = log1pf(expf(-fabsf(z)));
  return gate == HeadGate::gain ? (z < 0.0f ? 0.0f : z) + rest : (z < 0.0f ? z : 0.0f) - rest;
}

}  // namespace plumbline::gpu

#endif
