/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The one interface between a kernel and the judge. Plain C: a shared library that exports
 * `plumbline_kernel_library` is judged by `plumbline verify --kernel lib.so`. The built-in CUDA
 * kernels, emulated or on a GPU, come in through the same door.
 *
 * Layouts, row-major unless the problem has strides or packed sequences: q [batch, heads, queries,
 * head_dim]; k [batch, kv_heads, keys, head_dim]; v [batch, kv_heads, keys, value_dim]; o and
 * grad_o [batch, heads, queries, value_dim]; grad_q, grad_k, grad_v like q, k, v; all in the
 * problem's format, but for E4M3 and E5M2: there q, k and v are in that format, times a scale for
 * each batch and key head, and o, grad_o and the gradients, of q, k and v with their scales in
 * them, are bf16. lse [batch, heads, queries], natural logarithm unless the contract says base 2,
 * always float, as are grad_lse, parameters and their gradients. Query head h reads key head h /
 * (heads / kv_heads). A cache may be stored in another format: cache_format. Whatever the strides,
 * lse and grad_lse lie as said here.
 *
 * What is computed, for query row r of batch b at position i = r + query_offset, or with
 * queries_at_end i = r + lengths[b] - queries, of packed sequences (cu_seqlens_q) i = r + m - n,
 * and each visible key j:
 *   s_ij = c_i * (a_ij + b_ij),   c_i = ssmax_scale[h] * ln(n_i), or 1 without SSMax, n_i the
 *   number of visible keys;   a_ij = scale * q_i . k_j, with a softcap softcap * tanh(scale * q_i .
 *   k_j / softcap);
 *   lse_i = ln sum_j exp(s_ij);   p_ij = exp(s_ij - lse_i);   o_i = sum_j m_ij p_ij v_j,
 * with dropout m_ij = keep[b, h, r, j] / (1 - dropout), else 1.
 * A row that sees no key has o = 0 and lse = -infinity, unless the contract says otherwise.
 * With attention sinks the sum has one term more, exp(sinks[h]), which no value meets:
 *   lse_i = ln(exp(sinks[h]) + sum_j exp(s_ij)),
 * and a row that sees no key has o = 0 and lse = sinks[h].
 *
 * Key j is visible to position i of batch b when all of these hold:
 *   0 <= i
 *   j < lengths[b] and i < lengths[b]              (where lengths is given)
 *   j <= i                                         (causal)
 *   i - j <= window_left                           (window_left >= 0)
 *   j - i <= window_right                          (window_right >= 0)
 *   documents[b, i] == documents[b, j]             (where documents is given)
 *   mask[b, h, r, j] != 0                          (where mask is given)
 *
 * With dropout_generator keep is what a kernel can make for itself, with no need to read it. With
 *   x  the first word of Philox4x32-10 (Salmon et al., "Parallel Random Numbers: As Easy as 1, 2,
 *      3", SC11; multipliers 0xD2511F53 and 0xCD9E8D57, key steps 0x9E3779B9 and 0xBB67AE85)
 *      of the counter (low and high 32 bits of n, 0, 0) under the key (low, high 32 bits of
 *      dropout_seed), n = dropout_offset + ((b heads + h) queries + r) keys + j,
 *   u = 4.6566127342e-10f (float)(x < 2^31 ? x : 2^32 - 1 - x),
 * keep[b, h, r, j] is 1 where u > dropout, in float. These are the numbers of Triton's
 * tl.rand(dropout_seed, offsets).
 */
#ifndef PLUMBLINE_KERNEL_H
#define PLUMBLINE_KERNEL_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PLUMBLINE_ABI_VERSION 16
#define PLUMBLINE_DEVICE_LOST 2

/* TF32: floats in memory; products may be taken of operands rounded to tf32. E4M3 (largest number
   448, no infinity) and E5M2: 8 bits, as the Open Compute Project's 8-bit floating point
   specification (OFP8, 2023) has them. */
typedef enum {
  PLUMBLINE_FP32 = 0,
  PLUMBLINE_BF16 = 1,
  PLUMBLINE_FP16 = 2,
  PLUMBLINE_TF32 = 3,
  PLUMBLINE_E4M3 = 4,
  PLUMBLINE_E5M2 = 5
} plumbline_format;
#define PLUMBLINE_FORMAT_COUNT 6

/* In which k and v are stored where a kernel decodes from a cache: in the problem's format, or in 8
   bits, times scales. INT8: whole numbers from -127 to 127. */
typedef enum {
  PLUMBLINE_CACHE_IN_FORMAT = 0,
  PLUMBLINE_CACHE_E4M3 = 1,
  PLUMBLINE_CACHE_E5M2 = 2,
  PLUMBLINE_CACHE_INT8 = 3
} plumbline_cache_format;
#define PLUMBLINE_CACHE_FORMAT_COUNT 4

typedef enum { PLUMBLINE_FORWARD = 0, PLUMBLINE_BACKWARD = 1, PLUMBLINE_DECODE = 2 } plumbline_pass;
#define PLUMBLINE_PASS_COUNT 3

/* b_ij of each method, in terms of the parameters and options below. x = |i - j|; S_i = sum of
   increments[0..i], F_i = sum of log_forget[0..i], per batch and head; g = gain. */
typedef enum {
  PLUMBLINE_NOPE = 0,         /* 0 */
  PLUMBLINE_ALIBI = 1,        /* -slopes[h] x */
  PLUMBLINE_CABLE = 2,        /* -g_i |S_i - S_j| */
  PLUMBLINE_CABLE_NW = 3,     /* -|S_i - S_j| */
  PLUMBLINE_K_CABLE = 4,      /* -g_i ln(1 + (S_i - S_j)^2) */
  PLUMBLINE_K_CABLE_NW = 5,   /* -ln(1 + (S_i - S_j)^2) */
  PLUMBLINE_GGD = 6,          /* -exp(theta_alpha) (|j - i - mu| + epsilon)^theta_beta,
                                 mu = exp(theta_mu) - exp(-theta_mu) */
  PLUMBLINE_KERPLE_LOG = 7,   /* -p ln(1 + a x) */
  PLUMBLINE_KERPLE_POWER = 8, /* -a x^p, 0 for x = 0 */
  PLUMBLINE_T5 = 9,           /* table[h, bucket(max(i - j, 0))]; with E = floor(buckets / 2), the
                                 bucket of n is n for n < E, else min(buckets - 1, E + floor(
                                 ln(n / E) / ln(max_distance / E) (buckets - E))), evaluated
                                 exactly */
  PLUMBLINE_T5_BIDIRECTIONAL = 10,  /* the same with buckets / 2 for x, the others where j > i */
  PLUMBLINE_T5_CLIPPED = 11,        /* table[h, min(max(i - j, 0), largest)] */
  PLUMBLINE_T5_CLIPPED_OFFSET = 12, /* table[h, largest + clamp(i - j, -largest, largest)] */
  PLUMBLINE_FIRE = 13, /* output_bias[h] + sum_w output_weight[h, w] max(0, hidden_weight[w] y +
                          hidden_bias[w]), y = ln(1 + |c| x) / (ln(1 + |c| max(i, |L L0|)) +
                          epsilon) */
  PLUMBLINE_FOX = 14,  /* F_i - F_j, under a causal mask only */
  PLUMBLINE_CABLE_PAPER = 15,    /* +g_i (S_i - S_j), below 0 for j > i */
  PLUMBLINE_CABLE_NW_PAPER = 16, /* +(S_i - S_j), the same */
  PLUMBLINE_K_CABLE_PAPER = 17,  /* -ln(1 + (g_i (S_i - S_j))^2) */
  /* What this one adds to a score depends on other scores. */
  PLUMBLINE_COPE = 18,     /* (1 - w) z_n + w z_(n+1), z_n = q_i . position_embedding[h, n], n + w =
                             min(sum of 1 / (1 + exp(-scale * q_i . k_m)) over the visible keys m >= j,
                             positions - 1), 0 <= w < 1 */
  PLUMBLINE_SANDWICH = 19, /* (C - 64) / compression[h], C = sum over k = 1 .. 64 of
                              cos(x 10000^(-k / 64)) */
  PLUMBLINE_BIAS_TENSOR = 20, /* tensor[b, h, r, j] of query row r, not its position; an axis of
                                 size 1 has the same number for all */
  /* The formula that the user of the judge has given (docs/custom_bias.md), of parameters
     PLUMBLINE_CUSTOM_0, ... in the order in which they are declared there. */
  PLUMBLINE_CUSTOM = 31
} plumbline_bias;
#define PLUMBLINE_BIAS_COUNT 21 /* without PLUMBLINE_CUSTOM */

/* RoPE, beside any bias but CoPE and without DAPE: q_i and k_j are rotated by their positions
   before the product, in their first rotary_dim components (GPT-NeoX's rotary_pct). */
typedef enum {
  PLUMBLINE_NO_ROPE = 0,
  PLUMBLINE_ROPE_INTERLEAVED = 1, /* components (2k, 2k+1) by i base^(-2k / rotary_dim) */
  PLUMBLINE_ROPE_HALF_SPLIT = 2   /* components (k, k + rotary_dim / 2) by the same */
} plumbline_rope;
#define PLUMBLINE_ROPE_COUNT 3

/* What is learned, or computed by an earlier layer. A pointer that the method does not use is
   NULL. */
typedef enum {
  PLUMBLINE_SSMAX_SCALE = 0,         /* [heads]; NULL: no SSMax */
  PLUMBLINE_SLOPES = 1,              /* [heads], or [batch, heads] with the option
                                        slopes_per_batch; a constant: it gets no gradient */
  PLUMBLINE_INCREMENTS = 2,          /* [batch, heads, keys], >= 0 */
  PLUMBLINE_GAIN = 3,                /* [batch, heads, queries], >= 0 */
  PLUMBLINE_THETA_ALPHA = 4,         /* [heads] */
  PLUMBLINE_THETA_BETA = 5,          /* [heads] */
  PLUMBLINE_THETA_MU = 6,            /* [heads] */
  PLUMBLINE_P = 7,                   /* [heads], >= 0.01, in the power form <= 2 */
  PLUMBLINE_A = 8,                   /* [heads], >= 0.01 */
  PLUMBLINE_TABLE = 9,               /* [heads, rows] */
  PLUMBLINE_HIDDEN_WEIGHT = 10,      /* [hidden]; DAPE: [hidden, 2 heads, width] */
  PLUMBLINE_HIDDEN_BIAS = 11,        /* [hidden] */
  PLUMBLINE_OUTPUT_WEIGHT = 12,      /* [heads, hidden]; DAPE: [heads, hidden, width] */
  PLUMBLINE_OUTPUT_BIAS = 13,        /* [heads] */
  PLUMBLINE_C = 14,                  /* [1], not 0 */
  PLUMBLINE_L = 15,                  /* [1], not 0 */
  PLUMBLINE_LOG_FORGET = 16,         /* [batch, heads, keys], <= 0 */
  PLUMBLINE_POSITION_EMBEDDING = 17, /* [heads, positions, head_dim] */
  PLUMBLINE_COMPRESSION = 18,        /* [heads], > 0 */
  PLUMBLINE_TENSOR = 19,             /* [batch or 1, heads or 1, queries or 1, keys] */
  PLUMBLINE_SINKS = 20,              /* [heads]; NULL: no attention sinks */
  /* Of a custom bias, [1], [heads], [batch], [batch, heads, queries] or [batch, heads, keys] as
     declared. The one whose prefix sums it takes is PLUMBLINE_INCREMENTS instead. */
  PLUMBLINE_CUSTOM_0 = 21,
  PLUMBLINE_CUSTOM_1 = 22,
  PLUMBLINE_CUSTOM_2 = 23,
  PLUMBLINE_CUSTOM_3 = 24,
  PLUMBLINE_CUSTOM_4 = 25,
  PLUMBLINE_CUSTOM_5 = 26
} plumbline_parameter;
#define PLUMBLINE_PARAMETER_COUNT 27
#define PLUMBLINE_PARAMETER_CAPACITY 32 /* of the arrays below, so that more do not move them */

/* What a method fixes beside its parameters. */
typedef enum {
  PLUMBLINE_EPSILON = 0,      /* GGD, FIRE */
  PLUMBLINE_BUCKETS = 1,      /* T5: rows of the table */
  PLUMBLINE_MAX_DISTANCE = 2, /* T5 */
  PLUMBLINE_LARGEST = 3,      /* T5 clipped: largest + 1 rows; with offset: 2 largest + 1 */
  PLUMBLINE_HIDDEN = 4,       /* FIRE, DAPE: width of the hidden layer */
  PLUMBLINE_L0 = 5,           /* FIRE */
  PLUMBLINE_BASE = 6,         /* RoPE */
  PLUMBLINE_POSITIONS = 7,    /* CoPE: rows of a head's table */
  /* Bias tensor: 1 where that axis has its full size, 0 where it has size 1. */
  PLUMBLINE_PER_BATCH = 8,
  PLUMBLINE_PER_HEAD = 9,
  PLUMBLINE_PER_QUERY = 10,
  PLUMBLINE_IN_FORMAT_OF_O = 11,  /* 1: the format of o has every number of the bias tensor, and its
                                     gradient may be rounded to that format */
  PLUMBLINE_SLOPES_PER_BATCH = 12 /* ALiBi: 0 or 1 */
} plumbline_option;
#define PLUMBLINE_OPTION_COUNT 13
#define PLUMBLINE_OPTION_CAPACITY 16

/* Where a row of head_dim or value_dim numbers begins: that of head h and token t of sequence b, in
   a paged cache of page b, at element b batch + h head + t token. Its numbers are neighbours. */
typedef struct {
  int64_t batch, head, token;
} plumbline_strides;

typedef struct {
  uint32_t struct_size; /* sizeof(plumbline_problem), set by the caller */
  int32_t batch, heads, kv_heads, queries, keys, head_dim;
  int32_t value_dim;      /* components of a row of v and o; head_dim mostly */
  int32_t values_in_keys; /* 0, or 1 in the forward pass and in decoding: row j of v is the first
                             value_dim components of row j of k, which also lie in v; v_scale is
                             k_scale */
  int32_t query_offset;   /* position of query row 0, above -queries; 0 or more when decoding, with
                             CoPE and with DAPE. query_offset + queries <= keys with these, with
                             documents, and with a bias that has a number for each key; else rows may
                             stand beyond the keys */
  int32_t queries_at_end; /* 0, or 1 with lengths: the last row of each sequence stands at its last
                             key, and query_offset is keys - queries. Without CoPE and DAPE */
  int32_t format;         /* plumbline_format */
  int32_t bias;           /* plumbline_bias */
  int32_t dape;       /* 0; 1 or 2: that version of DAPE corrects the bias, ALiBi, CABLE or KERPLE's
                         logarithm, without RoPE. What is added to a score
                         is then B + f([A; B]): A the scale * q . k and B the biases, of all heads
                         and keys; f = convolution(LeakyReLU(convolution)) along the keys, with
                         2 heads, hidden and heads channels, zeros beyond both ends, LeakyReLU(x) =
                         max(x, x / 100). The convolutions are 1 wide in version 1 and 3 in version
                         2 (element d meets key j + d - 1), where A and B are 0 in f for keys after
                         the query, j > i. Other masks hide nothing from f. */
  int32_t rope;       /* plumbline_rope */
  int32_t rotary_dim; /* even, from 2 to head_dim; 0 without RoPE */
  int32_t ssmax;      /* 0 or 1 */
  int32_t causal;     /* 0 or 1 */
  int32_t window_left, window_right; /* largest visible i - j and j - i, or -1 for any */
  int32_t page_size;    /* decode: keys in a page of the cache; 0: k and v are contiguous */
  int32_t sinks;        /* 0 or 1. Beside any bias but CoPE and without DAPE */
  int32_t lse_gradient; /* backward: 1 where the loss depends on lse, too, and grad_lse is given */
  /* Of mask: 1 where that axis has its full size, 0 where it has size 1, or without mask. */
  int32_t mask_per_batch, mask_per_head;
  double scale;   /* multiplies q . k */
  double softcap; /* cap of the scaled product, before the bias is added: > 0, or 0 for none.
                     Beside any bias but CoPE and without DAPE */
  double options[PLUMBLINE_OPTION_CAPACITY];
  const void *q, *k, *v;
  const float* parameters[PLUMBLINE_PARAMETER_CAPACITY];
  const int32_t* lengths;   /* [batch], or NULL */
  const int32_t* documents; /* [batch, keys], or NULL */
  const uint8_t* mask;      /* [batch or 1, heads or 1, queries, keys], or NULL: 1 where a query row
                               may see a key, else 0. Beside any bias but CoPE and without DAPE */
  /* Decode only, from the cache. With page_size > 0, k is [page, kv_heads, page_size, head_dim] and
     v [page, kv_heads, page_size, value_dim], and key j of batch b is key j % page_size of page
     pages[b, j / page_size]; pages is [batch, ceil(keys / page_size)], and there are as many pages.
     Sequences may share pages, and a page may belong to none. What a page holds beyond the last key
     may be NaN. Where a page would hold only keys beyond lengths[b], its number is -1 or
     that of a page of NaN if the kernel's ignores_hidden_keys is 1, else that of any full page, if
     there is one; but with CoPE, with DAPE and where rows that see no key are means it is the page
     of these keys. prefix_sums [batch, heads, keys] are S or F; increments and log_forget are then
     NULL. */
  const int32_t* pages;
  const double* prefix_sums;
  /* E4M3 and E5M2 only, else NULL: [batch, kv_heads], > 0. What the equations call q, k and v is
     the stored number times the scale of its batch and key head. */
  const float *q_scale, *k_scale, *v_scale;
  /* Decode, where the format is not E4M3 or E5M2. Unless it is PLUMBLINE_CACHE_IN_FORMAT, k_scale
     and v_scale are given and q_scale is NULL. */
  int32_t cache_format;  /* plumbline_cache_format */
  int32_t scale_per_key; /* 0 or 1; 1 only with a cache_format: k_scale and v_scale are [batch,
                            kv_heads, keys], with pages [page, kv_heads, page_size] */
  /* Dropout of P, forward and backward, beside any bias but CoPE and without DAPE. */
  float dropout;             /* 0, or the probability with which p_ij is dropped, to 1 - 2^-10 */
  int32_t dropout_generator; /* 1: keep is what the generator above gives; 0: it is any */
  uint64_t dropout_seed, dropout_offset;
  const uint8_t* keep; /* [batch, heads, queries, keys] with dropout, else NULL: 1 where p_ij is
                          kept, 0 where it is dropped */
  /* Where rows lie: of q and grad_q, k and grad_k, v and grad_v, o and grad_o; known in supports(),
     too. With strided = 0 they are contiguous, as the strides say as well; it is 0 with packed
     sequences. With 1 they lie as models hand views to a kernel, with NaN between them (in an int8
     cache 127), where nothing may be written. Strides may be odd: a kernel that loads vectors
     declines those that it cannot load. Parts of a packed array of q, k and v come as three arrays,
     each with the packed one's strides. */
  int32_t strided;
  plumbline_strides q_strides, k_strides, v_strides, o_strides;
  /* Packed sequences, as FlashAttention's flash_attn_varlen_func takes them; else NULL. [batch +
     1], from 0 on: sequence b has the n = cu_seqlens_q[b + 1] - cu_seqlens_q[b] rows from
     cu_seqlens_q[b] on of q [total_q, heads, head_dim] and o [total_q, heads, value_dim], of lse
     and grad_lse [heads, total_q]; and its m keys are those of k and v [total_k, kv_heads, ...] by
     cu_seqlens_k. The strides say so, with batch 0. n <= queries and m <= keys, and n <= m, but not
     where query_offset is below 0 and the mask causal. Sequences may have no queries, or no keys,
     but not all of them. The last query of a sequence is at its last key: row r at position r + m -
     n. lengths is NULL and query_offset keys - queries. Forward and backward, without documents,
     mask, dropout, CoPE, DAPE, biases with numbers for each query or key, and lse_gradient with
     sinks. */
  const int32_t *cu_seqlens_q, *cu_seqlens_k;
  int32_t total_q, total_k; /* cu_seqlens_q[batch] and cu_seqlens_k[batch]; 0 in supports() */
} plumbline_problem;

/* What a problem has, as bits, beside softmax(scale * q k^T + bias) v with or without a causal
   mask, for as many queries as keys and as many key heads as query heads. A kernel that computes
   some of it declines the rest in supports(), and with it what a later version of this interface
   adds: if (plumbline_features(problem) & ~(PLUMBLINE_HAS_WINDOW | PLUMBLINE_HAS_LENGTHS)) return
   0; */
typedef enum {
  PLUMBLINE_HAS_DAPE = 1,
  PLUMBLINE_HAS_ROPE = 1 << 1,
  PLUMBLINE_HAS_SSMAX = 1 << 2,
  PLUMBLINE_HAS_SOFTCAP = 1 << 3,
  PLUMBLINE_HAS_SINKS = 1 << 4,
  PLUMBLINE_HAS_WINDOW = 1 << 5,
  PLUMBLINE_HAS_WINDOW_SIDES = 1 << 6, /* of different width, and PLUMBLINE_HAS_WINDOW */
  PLUMBLINE_HAS_LENGTHS = 1 << 7,
  PLUMBLINE_HAS_QUERIES_AT_END = 1 << 8, /* and PLUMBLINE_HAS_LENGTHS */
  PLUMBLINE_HAS_DOCUMENTS = 1 << 9,
  PLUMBLINE_HAS_MASK = 1 << 10,
  PLUMBLINE_HAS_KEY_HEADS = 1 << 11,     /* fewer than query heads */
  PLUMBLINE_HAS_FEWER_QUERIES = 1 << 12, /* than keys, by the sizes `queries` and `keys` */
  PLUMBLINE_HAS_MORE_QUERIES = 1 << 13,
  PLUMBLINE_HAS_OFFSET = 1 << 14,    /* the last query is not at the last key's position */
  PLUMBLINE_HAS_VALUE_DIM = 1 << 15, /* other than head_dim */
  PLUMBLINE_HAS_LSE_GRADIENT = 1 << 16,
  PLUMBLINE_HAS_PAGES = 1 << 17,
  PLUMBLINE_HAS_DROPOUT = 1 << 18,
  PLUMBLINE_HAS_PARTIAL_ROPE = 1 << 19, /* rotary_dim below head_dim, and PLUMBLINE_HAS_ROPE */
  PLUMBLINE_HAS_CACHE_FORMAT = 1 << 20,
  PLUMBLINE_HAS_SLOPES_PER_BATCH = 1 << 21,
  PLUMBLINE_HAS_STRIDES = 1 << 22,
  PLUMBLINE_HAS_PACKED_SEQUENCES = 1 << 23
} plumbline_feature;

static inline int32_t plumbline_features(const plumbline_problem* p) {
  int32_t features = 0;
  if (p->dape != 0) features |= PLUMBLINE_HAS_DAPE;
  if (p->rope != 0) features |= PLUMBLINE_HAS_ROPE;
  if (p->ssmax != 0) features |= PLUMBLINE_HAS_SSMAX;
  if (p->softcap != 0) features |= PLUMBLINE_HAS_SOFTCAP;
  if (p->sinks != 0) features |= PLUMBLINE_HAS_SINKS;
  if (p->window_left >= 0 || p->window_right >= 0) features |= PLUMBLINE_HAS_WINDOW;
  if (p->window_left != p->window_right) features |= PLUMBLINE_HAS_WINDOW_SIDES;
  if (p->lengths) features |= PLUMBLINE_HAS_LENGTHS;
  if (p->queries_at_end != 0) features |= PLUMBLINE_HAS_QUERIES_AT_END;
  if (p->documents) features |= PLUMBLINE_HAS_DOCUMENTS;
  if (p->mask) features |= PLUMBLINE_HAS_MASK;
  if (p->kv_heads != p->heads) features |= PLUMBLINE_HAS_KEY_HEADS;
  if (p->queries < p->keys) features |= PLUMBLINE_HAS_FEWER_QUERIES;
  if (p->queries > p->keys) features |= PLUMBLINE_HAS_MORE_QUERIES;
  if (p->query_offset != p->keys - p->queries) features |= PLUMBLINE_HAS_OFFSET;
  if (p->value_dim != p->head_dim) features |= PLUMBLINE_HAS_VALUE_DIM;
  if (p->lse_gradient != 0) features |= PLUMBLINE_HAS_LSE_GRADIENT;
  if (p->page_size > 0) features |= PLUMBLINE_HAS_PAGES;
  if (p->dropout != 0) features |= PLUMBLINE_HAS_DROPOUT;
  if (p->rope != 0 && p->rotary_dim != p->head_dim) features |= PLUMBLINE_HAS_PARTIAL_ROPE;
  if (p->cache_format != 0) features |= PLUMBLINE_HAS_CACHE_FORMAT;
  if (p->bias == PLUMBLINE_ALIBI && p->options[PLUMBLINE_SLOPES_PER_BATCH] != 0) {
    features |= PLUMBLINE_HAS_SLOPES_PER_BATCH;
  }
  if (p->strided != 0) features |= PLUMBLINE_HAS_STRIDES;
  if (p->cu_seqlens_q) features |= PLUMBLINE_HAS_PACKED_SEQUENCES;
  return features;
}

/* Of the forward pass and of decoding. */
typedef struct {
  void* o;
  float* lse;
} plumbline_outputs;

/* Gradients of sum(grad_o * o), with lse_gradient of sum(grad_o * o) + sum(grad_lse * lse) over the
   rows that see a key or have a sink; o and lse being those of this kernel's own forward pass, or,
   of a kernel that has none for the problem, the nearest numbers of the formats. They are
   judged as functions of these very numbers: p_ij = exp(s_ij - lse_i), and D_i = grad_o_i . o_i;
   or, in all rows, as those of a kernel that recomputes p, with D_i = sum_j p_ij dP_ij, dP_ij =
   m_ij (grad_o_i . v_j), p not rounded. The gradient of s_ij is p_ij (dP_ij - D_i + grad_lse_i),
   where lse is to base 2 with grad_lse_i / ln 2; that of v_j is sum_i m_ij p_ij grad_o_i. grad_k
   and grad_v are summed over the query heads that share a key head, grad_parameters over everything
   that shares the parameter, in float and rounded once. One that is not asked for is NULL. */
typedef struct {
  const void* o;
  const float* lse;
  const void* grad_o;
  const float* grad_lse; /* like lse with lse_gradient, else NULL */
  void *grad_q, *grad_k, *grad_v;
  float* grad_parameters[PLUMBLINE_PARAMETER_CAPACITY];
} plumbline_gradients;

/* How S_i - S_j reaches the kernel's fp32 arithmetic, and how the gradient's reverse sum is
   taken; CoPE's sums of gates and their gradient likewise. */
typedef enum {
  PLUMBLINE_PREFIX_SUM_FP64 = 0, /* summed and differenced (or recentred) in double */
  PLUMBLINE_PREFIX_SUM_FP32 = 1  /* summed in float, any order, then differenced */
} plumbline_prefix_sum;

/* Where the pointers of a problem, its outputs and its gradients lead. The structures themselves
   are in host memory. */
typedef enum {
  PLUMBLINE_HOST_MEMORY = 0,
  PLUMBLINE_CUDA_MEMORY = 1 /* device memory of the primary context of CUDA device 0 */
} plumbline_memory;

/* What a row that sees no key has, and what becomes of its gradient. With dropout the mean is of
   m_ij v_j. */
typedef enum {
  PLUMBLINE_EMPTY_ROWS_ARE_ZERO = 0,      /* o = 0, lse = -infinity; no gradient */
  PLUMBLINE_EMPTY_ROWS_HAVE_PLUS_INF = 1, /* o = 0, lse = +infinity; no gradient */
  /* o = the mean of v over all keys, whatever hides them; lse is not judged. grad_v gets its share,
     scores get no gradient. */
  PLUMBLINE_EMPTY_ROWS_ARE_MEANS = 2,
  /* o = NaN, lse = NaN or -infinity. What such a row has a share in is not judged: its grad_q,
     grad_k and grad_v of its key head, gradients of parameters. */
  PLUMBLINE_EMPTY_ROWS_ARE_NAN = 3,
  PLUMBLINE_EMPTY_ROWS_ARE_NOT_MINE = 4 /* the same, and o and lse of the row are not judged */
} plumbline_empty_rows;
#define PLUMBLINE_EMPTY_ROWS_COUNT 5

/* Kinds of random inputs, as bits. Nobody may leave out standard normal ones, 1. */
typedef enum {
  PLUMBLINE_FAMILY_PEAKED = 2,     /* scores of large spread */
  PLUMBLINE_FAMILY_DIFFUSE = 4,    /* scores of small spread */
  PLUMBLINE_FAMILY_TIED = 8,       /* all keys equal */
  PLUMBLINE_FAMILY_HUGE = 16,      /* values near the top of the range with finite scores */
  PLUMBLINE_FAMILY_SUBNORMAL = 32, /* q, k and v subnormal */
  PLUMBLINE_FAMILY_LEVEL = 64      /* q all 0, v whole numbers */
} plumbline_family;

/* What a kernel says of its own numerics. The error bound follows from it. docs/contracts.md tells
   what each field lets through, and has contracts of known implementations. */
typedef struct {
  double unit_roundoff;       /* of the accumulation: 2^-24 rounding to nearest, 2^-23 truncating */
  double operand_roundoff;    /* relative error of an operand on its way into a product: 0, 2^-11
                                 for floats rounded to tf32, 2^-10 for floats cut to tf32 */
  int32_t probability_format; /* plumbline_format in which P meets V, and P and dS meet dO, K, Q */
  int32_t sums_rounded_p;     /* 1: the softmax denominator sums P after that rounding */
  double exp_error;           /* relative error of the exponential, for example 2^-20; exp(0) is 1
                                 exactly, and near 0 the error is at most |x| + 2^-22 */
  double skipped_mass;        /* probability of a row that may be left out: 0, or for example
                                 2^-14 where tiles of negligible keys are skipped */
  int32_t splits;             /* ranges of keys merged through their LSE; 1 for none. Within one the
                                 keys are read in ascending or in descending order */
  int32_t prefix_sum;         /* plumbline_prefix_sum */
  int32_t prefix_tile; /* keys that share one recentring base S_base, S_i - S_j being formed in
                          float as (S_i - S_base) - (S_j - S_base); 0: formed in double */
  int32_t flushes_subnormals; /* 1: an fp32 operand or result below 2^-126 may count as 0, with
                                 either sign; 0: it is kept */
  double probability_scale; /* P is multiplied by this power of two before it is rounded to an 8-bit
                               format, and what it is multiplied with divided by it: 1 to 2^8.
                               0: not at all */

  /* From here on 0 is the strictest. A format is that of the outputs, of 16 bits, or
     PLUMBLINE_FP32 where nothing is rounded. */
  int32_t head_gradient_format; /* with grouped heads: in which grad_k and grad_v of each query head
                                   are stored before they are summed over the group */
  int32_t gradient_sum_format;  /* in which the sums of grad_q, grad_k and grad_v are kept between
                                   one block of keys or queries and the next */
  int32_t output_sum_format;    /* the same of o */
  int32_t sum_block;            /* keys or queries of a block: at least 1 with either of the two */
  int32_t score_format;         /* to which q . k, its product with the scale, the sum with the bias
                                   and SSMax's product are rounded, or some of them */
  int32_t grad_probability_format; /* to which dP_ij = m_ij (grad_o_i . v_j) is rounded */
  int32_t delta_format; /* to which the terms of D_i (grad_o_i . o_i, or sum_j p_ij dP_ij) and their
                           sum are rounded */
  int32_t saves_rounded_p; /* 1: dS and D are of P as it was rounded to probability_format */
  int32_t lse_format;      /* to which lse is rounded; it lies in memory as float */
  int32_t no_lse; /* 1: the kernel gives no lse, and gets none: the pointers are NULL. Its gradients
                     are judged with p recomputed, and D of o or recomputed */
  int32_t inexact_exp_zero; /* 1: exp(0) of a weight is off by exp_error, as elsewhere; a rescale by
                               exp(0) is exact */
  int32_t empty_rows;       /* plumbline_empty_rows */
  uint32_t families_left_out; /* bits of plumbline_family: inputs that it is not made for, and that
                                 it is not given */
  double largest_score; /* where a visible score of a row is beyond it, either sign, the row and
                           what it has a share in are not judged; 0: all are, else at least 64 */
  int32_t alibi_of_key; /* 1: under a causal mask without a window, ALiBi's b_ij is slopes[h] j, as
                           in FlashAttention-2: s_ij is larger by slopes[h] i. Without sinks P and
                           o are the same, and lse_i is larger by as much */
  double tanh_error;  /* error of a softcap's tanh beside 2 ulp of it: 2^-11 for tanh.approx.f32 */
  double log_error;   /* error of ln(1 + x) in a bias (K-CABLE, Kerple's log form, FIRE) beside 1
                         ulp of it, as a part of max(1, ln): 2^-22 for lg2.approx.f32; ln 1 is 0 */
  int32_t lse_base_2; /* 1: lse is to base 2, log2 sum_j exp(s_ij), also as it is given for the
                         backward pass */
  int32_t float_o;    /* 1: o is float, whatever the format, also as it is given for the backward
                         pass; grad_o is not */
  int32_t float_gradients; /* 1: grad_q, grad_k and grad_v are float */
} plumbline_contract;

typedef struct {
  const char* name;                                     /* [a-z0-9_]+ */
  plumbline_contract contracts[PLUMBLINE_FORMAT_COUNT]; /* by plumbline_format; those of formats
                                                           that it does not support are not read */
  int32_t deterministic;                                /* 1: the same bits from every run */
  /* 1 when the kernel can run this pass of this problem. lengths, documents, mask, pages, keep and
     cu_seqlens_* are not NULL where the problem has them, and must not be read; other pointers may
     be NULL. */
  int (*supports)(const plumbline_problem* problem, int32_t pass);
  /* The passes; NULL for one that the kernel does not have. 0 on success; else the reason stands in
     message, zero-terminated, and PLUMBLINE_DEVICE_LOST means that no later call in this process
     can succeed. Called from one thread at a time. Outputs are NaN before the call. Inputs must not
     be written to, and the process must not be ended. */
  int (*forward)(const plumbline_problem* problem, const plumbline_outputs* outputs, char* message,
                 size_t message_size);
  int (*backward)(const plumbline_problem* problem, const plumbline_gradients* gradients,
                  char* message, size_t message_size);
  int (*decode)(const plumbline_problem* problem, const plumbline_outputs* outputs, char* message,
                size_t message_size);
  int32_t memory; /* plumbline_memory */
  /* 1: what k and v hold at a key that no query row of its batch entry sees, of the query heads
     that read its key head, reaches no output, and so may be NaN; it is given as NaN, but with
     CoPE, with DAPE, in an int8 cache, and where rows that see no key are means. Pages that hold
     only keys beyond lengths[b] may be -1 (pages). */
  int32_t ignores_hidden_keys;
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
