/* SPDX-License-Identifier: Apache-2.0 */
/* Attention of 8-bit inputs in plain C, written from plumbline_kernel.h alone: scales applied after
   the products, sums cut to 13 bits after the point like those of 8-bit tensor cores, P rounded to
   e4m3 after a factor of 2^8, or in e5m2 as it is. One kernel is right, the others have a fault. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "plumbline_kernel.h"

typedef enum {
  no_fault,
  forgets_k_scale,
  takes_the_scale_of_the_next_head,
  reads_e5m2_as_e4m3,
  rounds_p_without_its_scale,
  forgets_q_scale_of_dk
} fault_t;

static float from_byte(uint8_t code, int fraction) {
  const int bias = fraction == 3 ? 7 : 15, m = code & ((1 << fraction) - 1);
  const int e = (code & 0x7f) >> fraction;
  const float size = e == 0 ? ldexpf((float)m, 1 - bias - fraction)
                            : ldexpf((float)(m + (1 << fraction)), e - bias - fraction);
  return code & 0x80 ? -size : size;
}

/* To nearest even, of a format with subnormal numbers. */
static float rounded(float x, int fraction, int least_exponent) {
  if (x == 0 || !isfinite(x)) return x;
  const int e = ilogbf(x);
  const int unit = (e < least_exponent ? least_exponent : e) - fraction;
  return ldexpf(rintf(ldexpf(x, -unit)), unit);
}

static float from_bf16(const void* array, size_t n) {
  const uint32_t bits = (uint32_t)((const uint16_t*)array)[n] << 16;
  float x;
  memcpy(&x, &bits, 4);
  return x;
}

static void store_bf16(void* array, size_t n, float x) {
  uint32_t bits;
  memcpy(&bits, &x, 4);
  ((uint16_t*)array)[n] = (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

/* An accumulator that keeps 13 bits after the point. */
static float add(float sum, float term) {
  float result = sum + term;
  uint32_t bits;
  memcpy(&bits, &result, 4);
  bits &= 0xfffffc00u;
  memcpy(&result, &bits, 4);
  return result;
}

/* P and dS on their way into a product; P with its factor. */
static float operand(const plumbline_problem* p, float x, float factor) {
  return p->format == PLUMBLINE_E4M3 ? rounded(x * factor, 3, -6) / factor : rounded(x, 2, -14);
}
static float factor_of_p(const plumbline_problem* p, fault_t fault) {
  return p->format == PLUMBLINE_E4M3 && fault != rounds_p_without_its_scale ? 256 : 1;
}

typedef struct {
  const plumbline_problem* p;
  int paged;
  fault_t fault;
  int b, h, i, kv; /* of a row */
  float q_scale, k_scale, v_scale;
} row_t;

static row_t row_of(const plumbline_problem* p, int row, int paged, fault_t fault) {
  row_t at = {p,
              paged,
              fault,
              row / p->queries / p->heads,
              row / p->queries % p->heads,
              row % p->queries + (p->queries_at_end ? p->lengths[row / p->queries / p->heads] - p->queries
                                                : p->query_offset),
              0,
              0,
              0,
              0};
  at.kv = at.h / (p->heads / p->kv_heads);
  const int next = fault == takes_the_scale_of_the_next_head;
  const int scale = at.b * p->kv_heads + (at.kv + next) % p->kv_heads;
  at.q_scale = p->q_scale[scale];
  at.k_scale = fault == forgets_k_scale ? 1 : p->k_scale[scale];
  at.v_scale = p->v_scale[scale];
  return at;
}

static float number(const row_t* at, const void* array, size_t n) {
  const int wide = at->p->format == PLUMBLINE_E4M3 || at->fault == reads_e5m2_as_e4m3;
  return from_byte(((const uint8_t*)array)[n], wide ? 3 : 2);
}

/* Where key j of the row's head begins. */
static size_t key(const row_t* at, int j) {
  const plumbline_problem* p = at->p;
  if (!at->paged || p->page_size == 0) {
    return ((size_t)(at->b * p->kv_heads + at->kv) * p->keys + j) * p->head_dim;
  }
  const int in_row = (p->keys + p->page_size - 1) / p->page_size;
  const int page = p->pages[at->b * in_row + j / p->page_size];
  return ((size_t)(page * p->kv_heads + at->kv) * p->page_size + j % p->page_size) * p->head_dim;
}

static int visible(const row_t* at, int j) {
  const plumbline_problem* p = at->p;
  const int i = at->i;
  if (p->lengths && (i >= p->lengths[at->b] || j >= p->lengths[at->b])) return 0;
  if (i < 0) return 0;
  if ((p->causal && j > i) || (p->window_left >= 0 && i - j > p->window_left)) return 0;
  if ((p->window_right >= 0 && j - i > p->window_right)) return 0;
  const int32_t* documents = p->documents ? p->documents + (size_t)at->b * p->keys : NULL;
  return !documents || documents[i] == documents[j];
}

static float score(const row_t* at, size_t q, int j) {
  const plumbline_problem* p = at->p;
  const size_t k = key(at, j);
  float dot = 0;
  for (int d = 0; d < p->head_dim; ++d) {
    dot = add(dot, number(at, p->q, q + d) * number(at, p->k, k + d));
  }
  float s = dot * (at->q_scale * at->k_scale * (float)p->scale);
  if (p->bias == PLUMBLINE_ALIBI) {
    s -= p->parameters[PLUMBLINE_SLOPES][at->h] * (float)abs(at->i - j);
  }
  return s;
}

static int attend(const plumbline_problem* p, const plumbline_outputs* out, int paged,
                  fault_t fault) {
  const int D = p->head_dim;
  float* s = malloc(sizeof(float) * (size_t)(p->keys + D));
  float* o = s + p->keys;
  for (int row = 0; row < p->batch * p->heads * p->queries; ++row) {
    const row_t at = row_of(p, row, paged, fault);
    float largest = -INFINITY, sum = 0;
    for (int j = 0; j < p->keys; ++j) {
      s[j] = visible(&at, j) ? score(&at, (size_t)row * D, j) : -INFINITY;
      largest = fmaxf(largest, s[j]);
    }
    for (int d = 0; d < D; ++d) o[d] = 0;
    for (int j = 0; j < p->keys; ++j) {
      if (s[j] == -INFINITY) continue;
      const float weight = expf(s[j] - largest);
      const float rounded_weight = operand(p, weight, factor_of_p(p, fault));
      sum += weight;
      for (int d = 0; d < D; ++d) {
        o[d] = add(o[d], rounded_weight * number(&at, p->v, key(&at, j) + d));
      }
    }
    for (int d = 0; d < D; ++d) {
      store_bf16(out->o, (size_t)row * D + d, sum > 0 ? o[d] * at.v_scale / sum : 0);
    }
    out->lse[row] = sum > 0 ? largest + logf(sum) : -INFINITY;
  }
  free(s);
  return 0;
}

/* dQ row by row; dK and dV added up in float and stored in the end. */
static int differentiate(const plumbline_problem* p, const plumbline_gradients* g, fault_t fault) {
  const int D = p->head_dim;
  const size_t of_keys = (size_t)p->batch * p->kv_heads * p->keys * D;
  float* dk = calloc(2 * of_keys + D, sizeof(float));
  float *dv = dk + of_keys, *dq = dv + of_keys;
  for (int row = 0; row < p->batch * p->heads * p->queries; ++row) {
    const row_t at = row_of(p, row, 0, fault);
    const size_t q = (size_t)row * D;
    float common = 0;
    for (int d = 0; d < D; ++d) common += from_bf16(g->grad_o, q + d) * from_bf16(g->o, q + d);
    for (int d = 0; d < D; ++d) dq[d] = 0;
    for (int j = 0; j < p->keys; ++j) {
      if (!visible(&at, j)) continue;
      const size_t k = key(&at, j);
      const float weight = expf(score(&at, q, j) - g->lse[row]);
      const float rounded_weight = operand(p, weight, factor_of_p(p, fault));
      float dp = 0;
      for (int d = 0; d < D; ++d) {
        dp = add(dp, from_bf16(g->grad_o, q + d) * number(&at, p->v, k + d));
      }
      const float ds = operand(p, weight * (dp * at.v_scale - common), 1);
      const float of_k = fault == forgets_q_scale_of_dk ? 1 : at.q_scale;
      for (int d = 0; d < D; ++d) {
        dq[d] = add(dq[d], ds * number(&at, p->k, k + d));
        dk[k + d] += ds * number(&at, p->q, q + d) * of_k;
        dv[k + d] += rounded_weight * from_bf16(g->grad_o, q + d);
      }
    }
    for (int d = 0; d < D; ++d) {
      store_bf16(g->grad_q, q + d, dq[d] * (at.k_scale * (float)p->scale));
    }
  }
  for (size_t n = 0; n < of_keys; ++n) {
    store_bf16(g->grad_k, n, dk[n] * (float)p->scale);
    store_bf16(g->grad_v, n, dv[n]);
  }
  free(dk);
  return 0;
}

static int supports(const plumbline_problem* p, int32_t pass) {
  const int32_t not_computed = PLUMBLINE_HAS_DAPE | PLUMBLINE_HAS_ROPE | PLUMBLINE_HAS_SSMAX |
                               PLUMBLINE_HAS_SOFTCAP | PLUMBLINE_HAS_SINKS | PLUMBLINE_HAS_MASK |
                               PLUMBLINE_HAS_VALUE_DIM | PLUMBLINE_HAS_LSE_GRADIENT |
                               PLUMBLINE_HAS_DROPOUT | PLUMBLINE_HAS_SLOPES_PER_BATCH |
                               PLUMBLINE_HAS_STRIDES | PLUMBLINE_HAS_PACKED_SEQUENCES;
  (void)pass;
  return (p->format == PLUMBLINE_E4M3 || p->format == PLUMBLINE_E5M2) &&
         (p->bias == PLUMBLINE_NOPE || p->bias == PLUMBLINE_ALIBI) &&
         !(plumbline_features(p) & not_computed);
}

#define KERNEL_PASSES(fault)                                                                     \
  static int forward_##fault(const plumbline_problem* p, const plumbline_outputs* out, char* m,  \
                             size_t n) {                                                         \
    (void)m, (void)n;                                                                            \
    return attend(p, out, 0, fault);                                                             \
  }                                                                                              \
  static int decode_##fault(const plumbline_problem* p, const plumbline_outputs* out, char* m,   \
                            size_t n) {                                                          \
    (void)m, (void)n;                                                                            \
    return attend(p, out, 1, fault);                                                             \
  }                                                                                              \
  static int backward_##fault(const plumbline_problem* p, const plumbline_gradients* g, char* m, \
                              size_t n) {                                                        \
    (void)m, (void)n;                                                                            \
    return differentiate(p, g, fault);                                                           \
  }
KERNEL_PASSES(no_fault)
KERNEL_PASSES(forgets_k_scale)
KERNEL_PASSES(takes_the_scale_of_the_next_head)
KERNEL_PASSES(reads_e5m2_as_e4m3)
KERNEL_PASSES(rounds_p_without_its_scale)
KERNEL_PASSES(forgets_q_scale_of_dk)

#define CONTRACT(format, scale)                                                       \
  {                                                                                   \
    .unit_roundoff = 0x1p-13, .probability_format = format, .exp_error = 0x1p-20,     \
    .splits = 1, .probability_scale = scale                                           \
  }
#define KERNEL(fault)                                                                              \
  {                                                                                                \
#fault, {[PLUMBLINE_E4M3] = CONTRACT(PLUMBLINE_E4M3, 256), [PLUMBLINE_E5M2] =                  \
                                                                    CONTRACT(PLUMBLINE_E5M2, 0) }, \
              1, supports, forward_##fault, backward_##fault, decode_##fault,                      \
              PLUMBLINE_HOST_MEMORY, 0                                                             \
  }
static const plumbline_kernel kernels[] = {KERNEL(no_fault),
                                           KERNEL(forgets_k_scale),
                                           KERNEL(takes_the_scale_of_the_next_head),
                                           KERNEL(reads_e5m2_as_e4m3),
                                           KERNEL(rounds_p_without_its_scale),
                                           KERNEL(forgets_q_scale_of_dk)};
static const plumbline_library library = {PLUMBLINE_ABI_VERSION, "8 bits", "CPU",
                                          sizeof kernels / sizeof kernels[0], kernels};
const plumbline_library* plumbline_kernel_library(void) { return &library; }
