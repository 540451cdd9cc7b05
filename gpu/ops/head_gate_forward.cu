// SPDX-License-Identifier: Apache-2.0
#include "core/bfloat16.cuh"
#include "core/float16.cuh"
#include "ops/head_gate.cuh"
#include "ops/head_gate_checks.cuh"
#include "ops/head_gate_value.cuh"
#include "ops/reduce.cuh"

namespace plumbline::gpu {

namespace {

constexpr int kGateWarps = 4;
constexpr int kGateHeads = 4;  // that a warp sums at once: x is read once for them

/// A warp a token.
template <class Element>
__global__ void __launch_bounds__(kGateWarps* kLanes)
    head_gate_forward_kernel(HeadGate gate, HeadGateShape shape, const Element* x, const float* W,
                             const float* b, float* values) {
  const int lane = static_cast<int>(threadIdx.x) % kLanes;
  const int row =
      static_cast<int>(blockIdx.x) * kGateWarps + static_cast<int>(threadIdx.x) / kLanes;
  if (row >= shape.batch * shape.length) return;
  const Element* own = x + static_cast<std::size_t>(row) * shape.width;
  for (int first = 0; first < shape.heads; first += kGateHeads) {
    float z[kGateHeads] = {};
    for (int c = lane; c < shape.width; c += kLanes) {
      const float value = to_float(own[c]);
#pragma unroll
      for (int n = 0; n < kGateHeads; ++n) {
        const int h = min(first + n, shape.heads - 1);  // beyond the last head: it once more
        z[n] += value * W[static_cast<std::size_t>(h) * shape.width + c];
      }
    }
#pragma unroll
    for (int n = 0; n < kGateHeads; ++n) {
      const int h = first + n;
      z[n] = warp_sum(z[n]);
      if (lane == n && h < shape.heads)
        values[head_place(shape, h, row)] = head_gate_value(gate, b ? z[n] + b[h] : z[n]);
    }
  }
}

}  // namespace

template <class Element>
void head_gate_forward(const Stream& stream, HeadGate gate, const HeadGateShape& shape,
                       const Element* x, const float* W, const float* b, float* values) {
  check_head_gate(shape);
  const auto blocks = static_cast<unsigned>((shape.batch * shape.length - 1) / kGateWarps + 1);
  launch(stream, {dim3{blocks}, dim3{kGateWarps * kWarpSize}}, head_gate_forward_kernel<Element>,
         gate, shape, x, W, b, values);
}

#define PLUMBLINE_INSTANTIATE(E)                                                           \
  template void head_gate_forward(const Stream&, HeadGate, const HeadGateShape&, const E*, \
                                  const float*, const float*, float*);
PLUMBLINE_INSTANTIATE(float)
PLUMBLINE_INSTANTIATE(bfloat16)
PLUMBLINE_INSTANTIATE(float16)
#undef PLUMBLINE_INSTANTIATE

}  // namespace plumbline::gpu
