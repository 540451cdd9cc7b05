// SPDX-License-Identifier: Apache-2.0
// Attention with ALiBi in CUDA, a thread for each query: judged by plumbline verify --kernel.
#include <cstdio>
#include "plumbline_kernel.h"

__global__ void attend(plumbline_problem p, plumbline_outputs out) {  // all pointers: the device's
  const int row = blockIdx.x * blockDim.x + threadIdx.x, D = p.head_dim;
  if (row >= p.batch * p.heads * p.queries) return;
  const int i = row % p.queries + p.query_offset, head = row / p.queries;  // of all batches
  const size_t kv = size_t(head / (p.heads / p.kv_heads)) * p.keys * D;
  const float *q = (const float*)p.q + size_t(row) * D, *k = (const float*)p.k + kv;
  const float *v = (const float*)p.v + kv, slope = p.parameters[PLUMBLINE_SLOPES][head % p.heads];
  float *o = (float*)out.o + size_t(row) * D, largest = -INFINITY, sum = 0;
  for (int j = 0; j < (p.causal ? i + 1 : p.keys); ++j) {  // the softmax as it goes along
    float dot = 0;
    for (int d = 0; d < D; ++d) dot += q[d] * k[size_t(j) * D + d];
    const float s = float(p.scale) * dot - slope * fabsf(float(i - j));
    const float now = fmaxf(largest, s), shrink = expf(largest - now), weight = expf(s - now);
    for (int d = 0; d < D; ++d) o[d] = (j ? shrink * o[d] : 0) + weight * v[size_t(j) * D + d];
    sum = shrink * sum + weight, largest = now;
  }
  for (int d = 0; d < D; ++d) o[d] /= sum;
  out.lse[row] = largest + logf(sum);
}

static int supports(const plumbline_problem* p, int32_t pass) {  // nothing else that it may have
  constexpr int32_t computed =
      PLUMBLINE_HAS_KEY_HEADS | PLUMBLINE_HAS_FEWER_QUERIES | PLUMBLINE_HAS_OFFSET;
  return pass == PLUMBLINE_FORWARD && p->format == PLUMBLINE_FP32 && p->bias == PLUMBLINE_ALIBI &&
         !(plumbline_features(p) & ~computed);
}

static int forward(const plumbline_problem* p, const plumbline_outputs* out, char* text, size_t n) {
  const unsigned rows = p->batch * p->heads * p->queries;
  attend<<<(rows + 127) / 128, 128>>>(*p, *out);  // Plumbline waits for the device
  const cudaError_t error = cudaGetLastError();
  snprintf(text, n, "%s", cudaGetErrorString(error));
  return error == cudaSuccess ? 0 : 1;
}

constexpr plumbline_contract fp32{0x1p-24, 0, PLUMBLINE_FP32, 0, 0x1p-20, 0, 1, 0, 0, 0, 0};
constexpr auto cuda = PLUMBLINE_CUDA_MEMORY;
static const plumbline_kernel kernel = {"attention_cuda", {fp32}, 1, supports, forward, 0, 0, cuda};
static const plumbline_library library = {PLUMBLINE_ABI_VERSION, "CUDA example", "GPU", 1, &kernel};
extern "C" const plumbline_library* plumbline_kernel_library() { return &library; }
