// SPDX-License-Identifier: Apache-2.0
#include "core/bfloat16.cuh"
#include "core/float16.cuh"
#include "ops/head_gate.cuh"
#include "ops/head_gate_checks.cuh"
#include "ops/reduce.cuh"

namespace plumbline::gpu {

namespace {

constexpr int kBiasThreads = 256;
constexpr int kBiasWarps = kBiasThreads / static_cast<int>(kWarpSize);
constexpr int kGateGradThreads = 128;  // columns of a block of grad_x
constexpr int kGateGradHeads = 4;      // of a block of grad_W: x is read once for them

/// gate'(z) from the value v = gate(z).
__device__ float derivative(HeadGate gate, float v) {
  if (gate == HeadGate::increment) return v > 0.0f ? 1.0f : 0.0f;
  return -expm1f(gate == HeadGate::gain ? -v : v);
}

/// A block a head: all its dz, [batch, heads, T], and their sum.
__global__ void grad_z_kernel(HeadGate gate, HeadGateShape shape, const float* values,
                              const float* grad_values, float* grad_z, float* grad_b,
                              bool accumulate) {
  SharedMemory shared;
  float* per_warp = shared.take<float>(kBiasWarps);
  const int h = static_cast<int>(blockIdx.x);
  float sum = 0.0f;
  for (int row = static_cast<int>(threadIdx.x); row < shape.batch * shape.length;
       row += kBiasThreads) {
    const std::size_t place = head_place(shape, h, row);
    const float dz = grad_values[place] * derivative(gate, values[place]);
    grad_z[place] = dz;
    sum += dz;
  }
  sum = block_reduce(sum, per_warp, Plus());
  if (threadIdx.x == 0 && grad_b) grad_b[h] = accumulate ? grad_b[h] + sum : sum;
}

/// A block a token: dx_c = sum_h dz_h W_hc.
template <class Element>
__global__ void grad_x_kernel(HeadGateShape shape, const float* W, const float* grad_z,
                              Element* grad_x, bool accumulate) {
  const int row = static_cast<int>(blockIdx.x);
  for (int c = static_cast<int>(threadIdx.x); c < shape.width; c += kGateGradThreads) {
    float sum = 0.0f;
    for (int h = 0; h < shape.heads; ++h)
      sum += grad_z[head_place(shape, h, row)] * W[static_cast<std::size_t>(h) * shape.width + c];
    Element& place = grad_x[static_cast<std::size_t>(row) * shape.width + c];
    place = from_float<Element>(accumulate ? to_float(place) + sum : sum);
  }
}

/// Of the block's 32 columns, its chunk of tokens and four heads: partial[chunk, h, c] = sum dz x.
/// Block (32, 8): a thread sums every eighth token, then the first warp the eight sums.
template <class Element>
__global__ void __launch_bounds__(kSumColumns* kSumWarps)
    grad_W_kernel(HeadGateShape shape, const Element* x, const float* grad_z, float* partial,
                  int rows_per_chunk) {
  SharedMemory shared;
  float* sums = shared.take<float>(kGateGradHeads * kSumWarps * kSumColumns);
  const int lane = static_cast<int>(threadIdx.x), warp = static_cast<int>(threadIdx.y);
  const int chunk = static_cast<int>(blockIdx.x),
            first_head = static_cast<int>(blockIdx.y) * kGateGradHeads;
  const int c = static_cast<int>(blockIdx.z) * kSumColumns + lane;
  const int begin = chunk * rows_per_chunk;
  const int end = min(shape.batch * shape.length, begin + rows_per_chunk);

  float own[kGateGradHeads] = {};
  if (c < shape.width) {
    for (int row = begin + warp; row < end; row += kSumWarps) {
      const float value = to_float(x[static_cast<std::size_t>(row) * shape.width + c]);
#pragma unroll
      for (int n = 0; n < kGateGradHeads; ++n) {
        const int h = min(first_head + n, shape.heads - 1);
        own[n] += grad_z[head_place(shape, h, row)] * value;
      }
    }
  }
#pragma unroll
  for (int n = 0; n < kGateGradHeads; ++n)
    sums[(n * kSumWarps + warp) * kSumColumns + lane] = own[n];
  __syncthreads();
  if (warp > 0 || c >= shape.width) return;
#pragma unroll
  for (int n = 0; n < kGateGradHeads; ++n) {
    const int h = first_head + n;
    if (h >= shape.heads) break;
    for (int w = 1; w < kSumWarps; ++w) own[n] += sums[(n * kSumWarps + w) * kSumColumns + lane];
    partial[(static_cast<std::size_t>(chunk) * shape.heads + h) * shape.width + c] = own[n];
  }
}

}  // namespace

std::size_t head_gate_workspace(const HeadGateShape& shape) {
  check_head_gate(shape);
  const int rows = shape.batch * shape.length;
  return static_cast<std::size_t>(rows) * shape.heads +
         static_cast<std::size_t>(row_chunks(rows).count) * shape.heads * shape.width;
}

int head_gate_bias_chain(int rows) { return (rows - 1) / kBiasThreads + 5 + kBiasWarps + 1; }

template <class Element>
void head_gate_backward(const Stream& stream, HeadGate gate, const HeadGateShape& shape,
                        const Element* x, const float* W, const float* values,
                        const float* grad_values, const HeadGateGradients<Element>& grads,
                        float* workspace) {
  check_head_gate(shape);
  const int rows = shape.batch * shape.length;
  const RowChunks chunks = row_chunks(rows);
  float* grad_z = workspace;
  float* partial = workspace + static_cast<std::size_t>(rows) * shape.heads;
  launch(stream,
         {dim3{static_cast<unsigned>(shape.heads)}, dim3{kBiasThreads},
          shared_bytes<float>(kBiasWarps)},
         grad_z_kernel, gate, shape, values, grad_values, grad_z, grads.b,
         grads.parameter_mode == Gradient::accumulate);
  launch(stream, {dim3{static_cast<unsigned>(rows)}, dim3{kGateGradThreads}},
         grad_x_kernel<Element>, shape, W, grad_z, grads.x, grads.x_mode == Gradient::accumulate);
  const auto head_tiles = static_cast<unsigned>((shape.heads - 1) / kGateGradHeads + 1);
  const auto column_tiles = static_cast<unsigned>((shape.width - 1) / kSumColumns + 1);
  launch(
      stream,
      {dim3{static_cast<unsigned>(chunks.count), head_tiles, column_tiles},
       dim3{kSumColumns, kSumWarps}, shared_bytes<float>(kGateGradHeads * kSumWarps * kSumColumns)},
      grad_W_kernel<Element>, shape, x, grad_z, partial, chunks.rows_per_chunk);
  add_partial_sums(stream, partial, chunks.count,
                   static_cast<std::size_t>(shape.heads) * shape.width, grads.W,
                   grads.parameter_mode);
}

#define PLUMBLINE_INSTANTIATE(E)                                                            \
  template void head_gate_backward(const Stream&, HeadGate, const HeadGateShape&, const E*, \
                                   const float*, const float*, const float*,                \
                                   const HeadGateGradients<E>&, float*);
PLUMBLINE_INSTANTIATE(float)
PLUMBLINE_INSTANTIATE(bfloat16)
PLUMBLINE_INSTANTIATE(float16)
#undef PLUMBLINE_INSTANTIATE

}  // namespace plumbline::gpu
