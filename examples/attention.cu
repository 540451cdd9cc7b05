// SPDX-License-Identifier: Apache-2.0
// Attention with ALiBi in CUDA, a thread for each query: judged by plumbline verify --kernel.
#include <cstdio>
#include "plumbline_kernel.h"

__global__ void attend(plumbline_problem p, const float* q, const float* k, const float* v,
                       const float* slopes, float* o, float* lse) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x, D = p.head_dim;
  if (row >= p.batch * p.heads * p.queries) return;
  const int i = row % p.queries + p.query_offset, head = row / p.queries;
  const size_t kv_head = head / (p.heads / p.kv_heads);
  q += size_t(row) * D, o += size_t(row) * D, k += kv_head * p.keys * D, v += kv_head * p.keys * D;
  float largest = -INFINITY, sum = 0;
  for (int j = 0; j < (p.causal ? i + 1 : p.keys); ++j) {  // the softmax as it goes along
    float dot = 0;
    for (int d = 0; d < D; ++d) dot += q[d] * k[size_t(j) * D + d];
    const float s = float(p.scale) * dot - slopes[head % p.heads] * fabsf(float(i - j));
    const float now = fmaxf(largest, s), shrink = expf(largest - now), weight = expf(s - now);
    for (int d = 0; d < D; ++d) o[d] = (j ? shrink * o[d] : 0) + weight * v[size_t(j) * D + d];
    sum = shrink * sum + weight, largest = now;
  }
  for (int d = 0; d < D; ++d) o[d] /= sum;
  lse[row] = largest + logf(sum);
}

static int supports(const plumbline_problem* p, int32_t pass) {
  return pass == PLUMBLINE_FORWARD && p->format == PLUMBLINE_FP32 && p->bias == PLUMBLINE_ALIBI &&
         !p->ssmax && p->window < 0 && !p->lengths && !p->documents;
}

static int forward(const plumbline_problem* p, const plumbline_outputs* out, char* text, size_t n) {
  const size_t rows = size_t(p->batch) * p->heads * p->queries, D = p->head_dim;
  const size_t kv = size_t(p->batch) * p->kv_heads * p->keys * D, size = sizeof(float);
  const void* from[] = {p->q, p->k, p->v, p->parameters[PLUMBLINE_SLOPES]};
  const size_t count[] = {rows * D, kv, kv, size_t(p->heads), rows * D, rows};
  float* dev[6] = {};
  for (int a = 0; a < 6; ++a) cudaMalloc(&dev[a], count[a] * size);
  for (int a = 0; a < 4; ++a) cudaMemcpy(dev[a], from[a], count[a] * size, cudaMemcpyDefault);
  attend<<<unsigned(rows + 127) / 128, 128>>>(*p, dev[0], dev[1], dev[2], dev[3], dev[4], dev[5]);
  cudaMemcpy(out->o, dev[4], rows * D * size, cudaMemcpyDefault);
  cudaMemcpy(out->lse, dev[5], rows * size, cudaMemcpyDefault);
  for (float* array : dev) cudaFree(array);
  snprintf(text, n, "%s", cudaGetErrorString(cudaPeekAtLastError()));  // of any call above
  return cudaGetLastError() == cudaSuccess ? 0 : PLUMBLINE_DEVICE_LOST;
}

constexpr plumbline_contract fp32{0x1p-24, 0, PLUMBLINE_FP32, 0, 0x1p-20, 0, 1, 0, 0, 0};
static const plumbline_kernel kernel = {"attention_cuda", {fp32}, 1, supports, forward};
static const plumbline_library library = {PLUMBLINE_ABI_VERSION, "CUDA example", "GPU", 1, &kernel};
extern "C" const plumbline_library* plumbline_kernel_library() { return &library; }
