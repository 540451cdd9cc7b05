// SPDX-License-Identifier: Apache-2.0
#include "attention/3_fused_forward.cuh"
#include "core/device_buffer.cuh"

namespace plumbline::gpu {

namespace {

constexpr int kSkippingThreads = 128;

/// One thread a key. RoPE rotates keys and leaves their norms.
__global__ void key_norms_kernel(Format format, int head_dim, std::size_t keys, const void* k,
                                 float* norms) {
  const std::size_t key = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (key >= keys) return;
  float sum = kLostSquares;
  for (int d = 0; d < head_dim; ++d) {
    const float x = load_element(k, format, key * head_dim + d);
    sum += x * x;
  }
  norms[key] = sqrtf(sum);
}

}  // namespace

void fused_skipping_forward(const Stream& stream, const Task& task, const Outputs& outputs) {
  const Problem& p = task.problem;
  const std::size_t keys = static_cast<std::size_t>(p.batch) * p.kv_heads * p.keys;
  const DeviceBuffer<float> norms(stream, keys);
  launch(stream,
         {dim3{static_cast<unsigned>((keys + kSkippingThreads - 1) / kSkippingThreads)},
          dim3{kSkippingThreads}, 0},
         key_norms_kernel, p.format, task.head_dim, keys, p.k, norms.data());
  const float* const key_norms = norms.data();
  dispatch<fused::Variant<true>>(stream, task, outputs, key_norms);
}

}  // namespace plumbline::gpu
