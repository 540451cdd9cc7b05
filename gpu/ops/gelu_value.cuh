// SPDX-License-Identifier: Apache-2.0
// One value of GELU and of its derivative, for kernels that have it in a register. Formulas and
// source: ops/gelu.cuh.
#ifndef PLUMBLINE_GPU_OPS_GELU_VALUE_CUH
#define PLUMBLINE_GPU_OPS_GELU_VALUE_CUH

#include "ops/gelu.cuh"
#include "ops/logistic.cuh"

namespace plumbline::gpu {

inline constexpr float kGeluCubic = 0.044715f;
inline constexpr float kGeluGate = 1.5957691216057308f;  // 2 sqrt(2/pi)
inline constexpr float kNegativeRootHalf = -0.70710678118654752f;
inline constexpr float kNormalDensity = 0.39894228040143268f;  // 1/sqrt(2 pi)

/// x for |x| <= 16, else +-16: there the gate z is +-318 and has been open or closed, to the last
/// bit, for long, and the cube of any x is far from overflow.
__device__ inline float gelu_gate_argument(float x) { return fminf(fmaxf(x, -16.0f), 16.0f); }

/// (1 + tanh(z/2))/2 is the logistic function of z; unlike 1 + tanh it does not cancel for x << 0.
__device__ inline Gate gelu_gate(float x) {
  const float inner = gelu_gate_argument(x);
  return Gate(kGeluGate * (inner + kGeluCubic * (inner * inner * inner)));
}

__device__ inline float gelu_value(GeluForm form, float x) {
  if (form == GeluForm::tanh) return x * gelu_gate(x).open;
  return 0.5f * x * erfcf(kNegativeRootHalf * x);
}

__device__ inline float gelu_derivative(GeluForm form, float x) {
  if (form == GeluForm::tanh) {
    const Gate gate = gelu_gate(x);
    const float inner = gelu_gate_argument(x);
    const float slope = kGeluGate * (1.0f + 3.0f * kGeluCubic * (inner * inner));
    return gate.open + x * (gate.open * gate.closed) * slope;
  }
  const float density = kNormalDensity * expf(-0.5f * (x * x));
  return 0.5f * erfcf(kNegativeRootHalf * x) + x * density;
}

}  // namespace plumbline::gpu

#endif
