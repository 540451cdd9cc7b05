// SPDX-License-Identifier: Apache-2.0
// docs/examples/attention.cu with keys and values in shared memory, a tile at a time. With
// -DWITHOUT_BARRIER its threads do not wait until the tile is there.
#include <cstdio>
#include "plumbline_kernel.h"

constexpr int tile = 32, most_dim = 64, threads = 64;

__global__ void attend(plumbline_problem p, plumbline_outputs out) {
  __shared__ float k[tile][most_dim], v[tile][most_dim];
  const int D = p.head_dim, row = blockIdx.x * threads + threadIdx.x, head = blockIdx.y;
  const size_t kv = size_t(head / (p.heads / p.kv_heads)) * p.keys * D;
  const bool is_row = row < p.queries;
  const size_t at = (size_t(head) * p.queries + (is_row ? row : 0)) * D;
  const float slope = p.parameters[PLUMBLINE_SLOPES][head % p.heads];
  float o[most_dim], largest = -INFINITY, sum = 0;
#pragma unroll
  for (int d = 0; d < most_dim; ++d) o[d] = 0;
  for (int first = 0; first < p.keys; first += tile) {
    for (int n = threadIdx.x; n < tile * D; n += threads) {
      const int j = first + n / D;
      k[n / D][n % D] = j < p.keys ? ((const float*)p.k)[kv + size_t(j) * D + n % D] : 0;  // fills
      v[n / D][n % D] = j < p.keys ? ((const float*)p.v)[kv + size_t(j) * D + n % D] : 0;  // fills
    }
#ifndef WITHOUT_BARRIER
    __syncthreads();
#endif
    for (int n = 0; is_row && n < tile && first + n < p.keys; ++n) {
      const int i = row + p.query_offset, j = first + n;
      if (p.causal && j > i) break;
      float dot = 0;
      for (int d = 0; d < D; ++d) dot += ((const float*)p.q)[at + d] * k[n][d];  // reads
      const float s = float(p.scale) * dot - slope * fabsf(float(i - j));
      const float now = fmaxf(largest, s), shrink = expf(largest - now), weight = expf(s - now);
#pragma unroll
      for (int d = 0; d < most_dim; ++d) o[d] = shrink * o[d] + (d < D ? weight * v[n][d] : 0);
      sum = shrink * sum + weight, largest = now;
    }
    __syncthreads();
  }
  if (!is_row) return;
#pragma unroll
  for (int d = 0; d < most_dim; ++d) {
    if (d < D) ((float*)out.o)[at + d] = o[d] / sum;
  }
  out.lse[size_t(head) * p.queries + row] = largest + logf(sum);
}

static int supports(const plumbline_problem* p, int32_t pass) {
  constexpr int32_t computed =
      PLUMBLINE_HAS_KEY_HEADS | PLUMBLINE_HAS_FEWER_QUERIES | PLUMBLINE_HAS_OFFSET;
  return pass == PLUMBLINE_FORWARD && p->format == PLUMBLINE_FP32 && p->bias == PLUMBLINE_ALIBI &&
         !(plumbline_features(p) & ~computed) && p->head_dim <= most_dim;
}

static int forward(const plumbline_problem* p, const plumbline_outputs* out, char* text, size_t n) {
  attend<<<dim3((p->queries + threads - 1) / threads, p->batch * p->heads), threads>>>(*p, *out);
  const cudaError_t error = cudaGetLastError();
  snprintf(text, n, "%s", cudaGetErrorString(error));
  return error == cudaSuccess ? 0 : 1;
}

constexpr plumbline_contract fp32{0x1p-24, 0, PLUMBLINE_FP32, 0, 0x1p-20, 0, 1, 0, 0, 0, 0};
constexpr auto cuda = PLUMBLINE_CUDA_MEMORY;
static const plumbline_kernel kernel = {"shared_cuda", {fp32}, 1, supports, forward, 0, 0, cuda};
static const plumbline_library library = {PLUMBLINE_ABI_VERSION, "CUDA test", "GPU", 1, &kernel};
extern "C" const plumbline_library* plumbline_kernel_library() { return &library; }
