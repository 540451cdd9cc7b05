/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kernels of arrays with strides and of packed sequences, as FlashAttention takes them, in fp32
 * without a bias; of bf16 inputs and an o of floats; and wrong ones of the kind:
 *   strided, packed          right
 *   strided_ignores          reads q as if its rows lay one after the other
 *   strided_writes_between   also writes a number after each row of o, where there is room
 *   packed_from_the_start    takes the first query to be at the first key
 *   packed_beyond            also sees the next sequence's first key
 *   packed_full              takes a sequence to have as many queries as it may
 *   packed_clamped           lets queries before the first key see that key
 *   packed_plus_inf          right, with lse = infinity where a query sees no key
 *   float_o                  right
 *   float_o_rounded          o has been rounded to bf16
 *   float_o_32_bits          as float_o, with 32-bit numbers of elements of k: wrong from 2^31 on
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "plumbline_kernel.h"

enum Fault {
  RIGHT,
  IGNORES,
  WRITES_BETWEEN,
  FROM_THE_START,
  BEYOND,
  FULL,
  CLAMPED,
  PLUS_INF,
  ROUNDS_O,
  INDEX_OF_32_BITS
};

static int only(const plumbline_problem* p, int32_t pass, int32_t feature) {
  const int32_t computed = PLUMBLINE_HAS_KEY_HEADS | PLUMBLINE_HAS_FEWER_QUERIES |
                           PLUMBLINE_HAS_MORE_QUERIES | PLUMBLINE_HAS_VALUE_DIM | feature;
  const int32_t features = plumbline_features(p);
  return pass == PLUMBLINE_FORWARD && p->bias == PLUMBLINE_NOPE &&
         (features & feature) == feature && !(features & ~computed);
}
static int takes_strided(const plumbline_problem* p, int32_t pass) {
  return p->format == PLUMBLINE_FP32 && only(p, pass, PLUMBLINE_HAS_STRIDES);
}
static int takes_packed(const plumbline_problem* p, int32_t pass) {
  return p->format == PLUMBLINE_FP32 && only(p, pass, PLUMBLINE_HAS_PACKED_SEQUENCES);
}
static int takes_bf16(const plumbline_problem* p, int32_t pass) {
  return p->format == PLUMBLINE_BF16 && only(p, pass, 0);
}

static int64_t row(plumbline_strides s, int b, int h, int64_t token) {
  return b * s.batch + h * s.head + token * s.token;
}
static float number(const plumbline_problem* p, const void* array, int64_t n) {
  if (p->format == PLUMBLINE_FP32) return ((const float*)array)[n];
  const uint32_t bits = (uint32_t)((const uint16_t*)array)[n] << 16;
  float x;
  memcpy(&x, &bits, sizeof x);
  return x;
}
/* To the nearest bf16, as a float. */
static float rounded(float x) {
  uint32_t bits;
  memcpy(&bits, &x, sizeof x);
  bits = (bits + 0x7fff + (bits >> 16 & 1)) & 0xffff0000u;
  memcpy(&x, &bits, sizeof x);
  return x;
}

static int attend(const plumbline_problem* p, const plumbline_outputs* out, enum Fault fault) {
  double* weights = malloc(sizeof(double) * (size_t)(p->keys + 1));
  if (!weights) return 1;
  plumbline_strides of_q = p->q_strides;
  if (fault == IGNORES) {
    of_q.token = p->head_dim;
    of_q.head = of_q.token * p->queries;
    of_q.batch = of_q.head * p->heads;
  }
  for (int b = 0; b < p->batch; ++b) {
    const int first_query = p->cu_seqlens_q ? p->cu_seqlens_q[b] : 0;
    const int first_key = p->cu_seqlens_k ? p->cu_seqlens_k[b] : 0;
    const int queries = p->cu_seqlens_q ? p->cu_seqlens_q[b + 1] - first_query : p->queries;
    int keys = p->cu_seqlens_k ? p->cu_seqlens_k[b + 1] - first_key : p->keys;
    const int all = p->queries < keys ? p->queries : keys;
    const int offset = fault == FROM_THE_START ? 0 : keys - (fault == FULL ? all : queries);
    if (fault == BEYOND && b + 1 < p->batch && first_key + keys < p->total_k) ++keys;
    for (int h = 0; h < p->heads; ++h) {
      const int kv = h / (p->heads / p->kv_heads);
      for (int r = 0; r < queries; ++r) {
        const int64_t q = row(of_q, b, h, first_query + r);
        int position = r + offset;
        if (fault == CLAMPED && position < 0) position = 0;
        int seen = position < 0 ? 0 : p->causal ? position + 1 : keys;
        if (seen > keys) seen = keys;
        double maximum = -INFINITY, sum = 0;
        for (int j = 0; j < seen; ++j) {
          int64_t k = row(p->k_strides, b, kv, first_key + j);
          if (fault == INDEX_OF_32_BITS) k = (int32_t)k;
          double score = 0;
          for (int d = 0; d < p->head_dim; ++d)
            score += (double)number(p, p->q, q + d) * number(p, p->k, k + d);
          weights[j] = p->scale * score;
          maximum = fmax(maximum, weights[j]);
        }
        for (int j = 0; j < seen; ++j) sum += weights[j] = exp(weights[j] - maximum);
        float* o = (float*)out->o + row(p->o_strides, b, h, first_query + r);
        for (int d = 0; d < p->value_dim; ++d) {
          double x = 0;
          for (int j = 0; j < seen; ++j)
            x += weights[j] * number(p, p->v, row(p->v_strides, b, kv, first_key + j) + d);
          o[d] = (float)(sum > 0 ? x / sum : 0);
          if (fault == ROUNDS_O) o[d] = rounded(o[d]);
        }
        if (fault == WRITES_BETWEEN && r + 1 < queries && p->o_strides.head > p->value_dim &&
            p->o_strides.token > p->value_dim)
          o[p->value_dim] = 0;
        const int64_t to = p->cu_seqlens_q ? (int64_t)h * p->total_q + first_query + r
                                           : ((int64_t)b * p->heads + h) * p->queries + r;
        out->lse[to] = (float)(sum > 0             ? maximum + log(sum)
                               : fault == PLUS_INF ? INFINITY
                                                   : -INFINITY);
      }
    }
  }
  free(weights);
  return 0;
}

#define KERNEL(NAME, FAULT)                                                                \
  static int NAME(const plumbline_problem* p, const plumbline_outputs* out, char* message, \
                  size_t message_size) {                                                   \
    (void)message;                                                                         \
    (void)message_size;                                                                    \
    return attend(p, out, FAULT);                                                          \
  }
KERNEL(strided, RIGHT)
KERNEL(strided_ignores, IGNORES)
KERNEL(strided_writes_between, WRITES_BETWEEN)
KERNEL(packed, RIGHT)
KERNEL(packed_from_the_start, FROM_THE_START)
KERNEL(packed_beyond, BEYOND)
KERNEL(packed_full, FULL)
KERNEL(packed_clamped, CLAMPED)
KERNEL(packed_plus_inf, PLUS_INF)
KERNEL(float_o, RIGHT)
KERNEL(float_o_rounded, ROUNDS_O)
KERNEL(float_o_32_bits, INDEX_OF_32_BITS)

#define CONTRACT(...)                                                                              \
  {                                                                                                \
    [PLUMBLINE_FP32] = {.unit_roundoff = 0x1p-24, .exp_error = 0x1p-20, .splits = 1, __VA_ARGS__}, \
    [PLUMBLINE_BF16] = {                                                                           \
      .unit_roundoff = 0x1p-24,                                                                    \
      .exp_error = 0x1p-20,                                                                        \
      .splits = 1,                                                                                 \
      .float_o = 1                                                                                 \
    }                                                                                              \
  }
#define ENTRY(NAME, SUPPORTS, ...)                                                               \
  {                                                                                              \
    .name = #NAME, .contracts = CONTRACT(__VA_ARGS__), .deterministic = 1, .supports = SUPPORTS, \
    .forward = NAME, .ignores_hidden_keys = 1                                                    \
  }

static const plumbline_kernel kernels[] = {
    ENTRY(strided, takes_strided),
    ENTRY(strided_ignores, takes_strided),
    ENTRY(strided_writes_between, takes_strided),
    ENTRY(packed, takes_packed),
    ENTRY(packed_from_the_start, takes_packed),
    ENTRY(packed_beyond, takes_packed),
    ENTRY(packed_full, takes_packed),
    ENTRY(packed_clamped, takes_packed),
    ENTRY(packed_plus_inf, takes_packed, .empty_rows = PLUMBLINE_EMPTY_ROWS_HAVE_PLUS_INF),
    ENTRY(float_o, takes_bf16),
    ENTRY(float_o_rounded, takes_bf16),
    ENTRY(float_o_32_bits, takes_bf16),
};

const plumbline_library* plumbline_kernel_library(void) {
  static const plumbline_library library = {PLUMBLINE_ABI_VERSION, "layouts", "CPU",
                                            sizeof kernels / sizeof *kernels, kernels};
  return &library;
}
