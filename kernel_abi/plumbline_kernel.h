/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The one interface between a kernel and the judge. Plain C, host pointers: a shared library that
 * exports `plumbline_kernel_library` is judged by `plumbline verify --kernel lib.so`. The built-in
 * CUDA kernels, emulated or on a GPU, come in through the same door.
 *
 * Layouts, row-major: q [batch, heads, queries, head_dim]; k, v [batch, kv_heads, keys, head_dim];
 * o like q, in the format of q; lse [batch, heads, queries], natural logarithm, always float.
 * Query head h reads key head h / (heads / kv_heads).
 *
 * What is computed, for query row r at position i = r + query_offset and each visible key j:
 *   s_ij = c_i * (scale * q_i . k_j + b_ij),   c_i = ssmax_scale[h] * ln(n_i), or 1 without SSMax,
 *   n_i the number of visible keys;
 *   lse_i = ln sum_j exp(s_ij);   o_i = sum_j exp(s_ij - lse_i) v_j.
 * A row that sees no key has o = 0 and lse = -infinity.
 *
 * Key j is visible to position i of batch b when all of these hold:
 *   j < lengths[b] and i < lengths[b]              (where lengths is given)
 *   j <= i                                         (causal)
 *   |i - j| <= window                              (window >= 0)
 *   documents[b, i] == documents[b, j]             (where documents is given)
 */
#ifndef PLUMBLINE_KERNEL_H
#define PLUMBLINE_KERNEL_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PLUMBLINE_ABI_VERSION 1
#define PLUMBLINE_DEVICE_LOST 2

typedef enum { PLUMBLINE_FP32 = 0, PLUMBLINE_BF16 = 1 } plumbline_format;

/* b_ij of each method; S_i = sum of increments[0..i], g = gain, all per batch and head. */
typedef enum {
  PLUMBLINE_NOPE = 0,       /* 0 */
  PLUMBLINE_ALIBI = 1,      /* -slopes[h] |i - j| */
  PLUMBLINE_CABLE = 2,      /* -g_i |S_i - S_j| */
  PLUMBLINE_CABLE_NW = 3,   /* -|S_i - S_j| */
  PLUMBLINE_K_CABLE = 4,    /* -g_i ln(1 + (S_i - S_j)^2) */
  PLUMBLINE_K_CABLE_NW = 5, /* -ln(1 + (S_i - S_j)^2) */
  PLUMBLINE_GGD = 6         /* -exp(theta_alpha) (|j - i - mu| + epsilon)^theta_beta,
                               mu = exp(theta_mu) - exp(-theta_mu), theta_* per head */
} plumbline_bias;

typedef struct {
  uint32_t struct_size; /* sizeof(plumbline_forward), set by the caller */
  int32_t batch, heads, kv_heads, queries, keys, head_dim;
  int32_t query_offset; /* position of query row 0; query_offset + queries <= keys */
  int32_t format;       /* plumbline_format of q, k, v, o */
  int32_t bias;         /* plumbline_bias */
  int32_t causal;       /* 0 or 1 */
  int32_t window;       /* largest visible |i - j|, or -1 for none */
  double scale;         /* multiplies q . k */
  double epsilon;       /* GGD only */
  const void *q, *k, *v;
  const float* slopes;      /* ALiBi: [heads] */
  const float* increments;  /* CABLE family: [batch, heads, keys], >= 0 */
  const float* gain;        /* CABLE, K-CABLE: [batch, heads, queries], >= 0 */
  const float* theta_alpha; /* GGD: [heads] */
  const float* theta_beta;  /* GGD: [heads] */
  const float* theta_mu;    /* GGD: [heads] */
  const float* ssmax_scale; /* [heads], or NULL: no SSMax */
  const int32_t* lengths;   /* [batch], or NULL */
  const int32_t* documents; /* [batch, keys], or NULL */
  void* o;
  float* lse;
} plumbline_forward;

/* How S_i - S_j reaches the kernel's fp32 arithmetic. */
typedef enum {
  PLUMBLINE_PREFIX_SUM_FP64 = 0, /* summed and differenced (or recentred) in double */
  PLUMBLINE_PREFIX_SUM_FP32 = 1  /* summed in float, any order, then differenced */
} plumbline_prefix_sum;

/* What a kernel says of its own numerics. The error bound follows from it. */
typedef struct {
  double unit_roundoff;       /* of the accumulation: 2^-24 rounding to nearest, 2^-23 truncating */
  int32_t probability_format; /* plumbline_format in which P meets V */
  int32_t sums_rounded_p;     /* 1: the softmax denominator sums P after that rounding */
  double exp_error;           /* relative error of the exponential, for example 2^-20; exp(0) is 1
                                 exactly, and near 0 the error is at most |x| + 2^-22 */
  int32_t splits;             /* ranges of keys merged through their LSE; 1 for none. Within one the
                                 keys are read in ascending or in descending order */
  int32_t prefix_sum;         /* plumbline_prefix_sum */
  int32_t prefix_tile; /* keys that share one recentring base S_base, S_i - S_j being formed in
                          float as (S_i - S_base) - (S_j - S_base); 0: formed in double */
} plumbline_contract;

typedef struct {
  const char* name; /* [a-z0-9_]+ */
  plumbline_contract contract;
  /* 1 when the kernel can run this problem; pointers need not be set. */
  int (*supports)(const plumbline_forward* problem);
  /* 0 on success; else the reason stands in message, zero-terminated, and PLUMBLINE_DEVICE_LOST
     means that no later call in this process can succeed. Called from one thread at a time. o and
     lse are NaN before the call. Inputs must not be written to, and the process must not be ended.
   */
  int (*forward)(const plumbline_forward* problem, char* message, size_t message_size);
} plumbline_kernel;

typedef struct {
  uint32_t abi_version; /* PLUMBLINE_ABI_VERSION */
  const char* name;     /* of the library */
  const char* device;   /* what it runs on, e.g. "CPU emulation" or the GPU's name */
  int32_t kernel_count;
  const plumbline_kernel* kernels;
} plumbline_library;

/* The symbol that a kernel library exports. NULL when it cannot run on this machine. */
const plumbline_library* plumbline_kernel_library(void);

#ifdef __cplusplus
}
#endif
#endif
