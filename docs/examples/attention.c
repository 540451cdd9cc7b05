/* SPDX-License-Identifier: Apache-2.0 */
/* Attention with ALiBi in plain C, causal or not, judged by: plumbline verify --kernel. */
#include <math.h>
#include <stdio.h>
#include "plumbline_kernel.h"

static int supports(const plumbline_problem* p, int32_t pass) { /* nothing else that it may have */
  const int32_t own = PLUMBLINE_HAS_KEY_HEADS | PLUMBLINE_HAS_FEWER_QUERIES | PLUMBLINE_HAS_OFFSET;
  return pass == PLUMBLINE_FORWARD && p->format == PLUMBLINE_FP32 && p->bias == PLUMBLINE_ALIBI &&
         !(plumbline_features(p) & ~own) && p->keys <= 4096;
}

static int forward(const plumbline_problem* p, const plumbline_outputs* out, char* message,
                   size_t message_size) {
  const int D = p->head_dim, group = p->heads / p->kv_heads;
  float score[4096];
  if (p->keys > 4096) return snprintf(message, message_size, "more than 4096 keys"), 1;
  for (int row = 0; row < p->batch * p->heads * p->queries; ++row) {
    const int i = row % p->queries + p->query_offset, head = row / p->queries; /* of all batches */
    const float slope = p->parameters[PLUMBLINE_SLOPES][head % p->heads];
    const float* q = (const float*)p->q + (size_t)row * D;
    const float* k = (const float*)p->k + (size_t)(head / group) * p->keys * D;
    const float* v = (const float*)p->v + (size_t)(head / group) * p->keys * D;
    float* o = (float*)out->o + (size_t)row * D;
    const int visible = p->causal ? i + 1 : p->keys;
    float largest = -INFINITY, sum = 0;
    for (int j = 0; j < visible; ++j) {
      float dot = 0;
      for (int d = 0; d < D; ++d) dot += q[d] * k[j * D + d];
      score[j] = (float)p->scale * dot - slope * (float)(i > j ? i - j : j - i);
      largest = fmaxf(largest, score[j]);
    }
    for (int d = 0; d < D; ++d) o[d] = 0;
    for (int j = 0; j < visible; ++j) {
      const float weight = expf(score[j] - largest);
      sum += weight;
      for (int d = 0; d < D; ++d) o[d] += weight * v[j * D + d];
    }
    for (int d = 0; d < D; ++d) o[d] /= sum;
    out->lse[row] = largest + logf(sum);
  }
  return 0;
}

#define FP32 {.unit_roundoff = 0x1p-24, .exp_error = 0x1p-20, .splits = 1} /* its numerics */
static const plumbline_kernel kernel = {.name = "attention_c", .contracts = {FP32},
                                        .deterministic = 1, .supports = supports, .forward = forward};
static const plumbline_library library = {PLUMBLINE_ABI_VERSION, "example in C", "CPU", 1, &kernel};
const plumbline_library* plumbline_kernel_library(void) { return &library; }
