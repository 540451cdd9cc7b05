/* SPDX-License-Identifier: Apache-2.0 */
/* Attention with an online softmax over tiles of keys, forward, backward and decoding, written from
   plumbline_kernel.h alone. For each row of faults.def there are two kernels: one has the fault,
   `_mended` is the same code without it. In 16-bit formats P and dS are rounded before their
   products, as tensor cores have them; sums are floats. */
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "plumbline_kernel.h"

typedef enum {
  no_fault,
#define FAULT(name, ...) name,
#include "faults.def"
#undef FAULT
} fault_t;

typedef struct {
  fault_t fault;
  int pass, bias, rope, format;
  int tile, splits; /* keys in a tile; ranges of keys merged through their LSE */
  int (*offers)(const plumbline_problem*);
} config_t;

/* What kernels offer of their pass, bias and format. None has SSMax. */

static int no_window(const plumbline_problem* p) { return p->window_left < 0 && p->window_right < 0; }
static int unmasked(const plumbline_problem* p) { return !p->lengths && !p->documents; }
static int offers_all(const plumbline_problem* p) { return (void)p, 1; }
static int offers_causal(const plumbline_problem* p) {
  return p->causal && no_window(p) && unmasked(p);
}
static int offers_encoder(const plumbline_problem* p) {
  return !p->causal && no_window(p) && unmasked(p);
}
static int offers_window(const plumbline_problem* p) {
  return p->causal && p->window_left != 0 && unmasked(p);
}
static int offers_square(const plumbline_problem* p) {
  return offers_causal(p) && p->queries == p->keys;
}
/* Triton's tutorial. */
static int offers_tutorial(const plumbline_problem* p) {
  const int D = p->head_dim;
  return (D == 16 || D == 32 || D == 64 || D == 128) && p->heads == p->kv_heads &&
         p->queries == p->keys && p->keys % 128 == 0 && no_window(p) && unmasked(p);
}
static int offers_decode(const plumbline_problem* p) {
  return p->causal && no_window(p) && !p->documents;
}
static int offers_one_query(const plumbline_problem* p) {
  return offers_decode(p) && p->queries == 1;
}
/* One query, the newest, sees all of the cache. */
static int offers_last_query(const plumbline_problem* p) {
  return p->queries == 1 && p->query_offset == p->keys - 1 && no_window(p) && unmasked(p);
}
static int offers_cache(const plumbline_problem* p) {
  return !p->causal && no_window(p) && unmasked(p);
}
/* What a kernel with one of the newer features offers; it takes problems without it as well. */
static int softcap_causal(const plumbline_problem* p) { return offers_causal(p); }
static int softcap_decode(const plumbline_problem* p) { return offers_cache(p); }
static int sinks_causal(const plumbline_problem* p) { return offers_causal(p); }
static int sinks_ragged(const plumbline_problem* p) {
  return p->causal && no_window(p) && !p->documents;
}
static int sinks_decode(const plumbline_problem* p) { return offers_decode(p) && !p->lengths; }
/* The last query at the last key, of each sequence where there are lengths. */
static int ends_causal(const plumbline_problem* p) {
  return offers_causal(p) && p->query_offset == p->keys - p->queries;
}
static int ends_ragged(const plumbline_problem* p) {
  return p->causal && no_window(p) && !p->documents && p->query_offset == p->keys - p->queries &&
         !p->lengths == !p->queries_at_end;
}
/* Mask tensors, under a causal mask or not; gradients through lse; narrow values. */
static int mask_any(const plumbline_problem* p) { return no_window(p) && unmasked(p); }
static int lse_causal(const plumbline_problem* p) { return offers_causal(p); }
static int values_decode(const plumbline_problem* p) {
  return offers_decode(p) && p->value_dim <= p->head_dim;
}
/* Dropout; RoPE of a part of the components. */
static int dropout_causal(const plumbline_problem* p) { return offers_causal(p); }
static int partial_rope(const plumbline_problem* p) { return no_window(p) && unmasked(p); }
static int window_encoder(const plumbline_problem* p) { return !p->causal && unmasked(p); }
static int offers_pages(const plumbline_problem* p) {
  return !p->causal && no_window(p) && !p->documents && p->page_size > 0;
}

/* Numbers of 16 bits. */

static float of_bits(uint32_t bits) {
  float x;
  memcpy(&x, &bits, 4);
  return x;
}
static uint32_t bits_of(float x) {
  uint32_t bits;
  memcpy(&bits, &x, 4);
  return bits;
}

/* To nearest even. */
static float to_bf16(float x) {
  const uint32_t bits = bits_of(x);
  return isfinite(x) ? of_bits((bits + 0x7fff + (bits >> 16 & 1)) & 0xffff0000u) : x;
}
static float to_fp16(float x) {
  const float size = fabsf(x);
  if (!isfinite(x)) return x;
  if (size < 0x1p-14f) return rintf(x * 0x1p24f) * 0x1p-24f;
  if (size >= 65520) return copysignf(INFINITY, x);
  const uint32_t bits = bits_of(x);
  return of_bits((bits + 0xfff + (bits >> 13 & 1)) & ~0x1fffu);
}
static float rounded(float x, int format) {
  return format == PLUMBLINE_BF16 ? to_bf16(x) : format == PLUMBLINE_FP16 ? to_fp16(x) : x;
}

static float load(const void* array, size_t n, int format) {
  if (format == PLUMBLINE_FP32) return ((const float*)array)[n];
  const uint32_t bits = ((const uint16_t*)array)[n];
  if (format == PLUMBLINE_BF16) return of_bits(bits << 16);
  const uint32_t sign = (bits & 0x8000) << 16, size = bits & 0x7fff;
  if (size >= 0x7c00) return of_bits(sign | 0x7f800000 | (size & 0x3ff) << 13);
  return of_bits(sign | bits_of(of_bits(size << 13) * 0x1p112f));
}
static void store(void* array, size_t n, float x, int format) {
  if (format == PLUMBLINE_FP32) {
    ((float*)array)[n] = x;
    return;
  }
  const uint32_t bits = bits_of(rounded(x, format));
  uint16_t* const to = (uint16_t*)array + n;
  if (format == PLUMBLINE_BF16) {
    *to = (uint16_t)(bits >> 16);
  } else if (isfinite(of_bits(bits))) {
    *to = (uint16_t)(bits >> 16 & 0x8000) | bits_of(of_bits(bits & 0x7fffffff) * 0x1p-112f) >> 13;
  } else {
    *to = (uint16_t)(bits >> 16 & 0x8000) | (isnan(x) ? 0x7e00 : 0x7c00);
  }
}

/* A call: its problem, and what is read of it as floats. */

typedef struct {
  const plumbline_problem* p;
  const config_t* config;
  fault_t fault;
  int backward;
  float *q, *k, *v; /* with RoPE rotated; k and v [batch, kv_heads, keys, their width] */
  double* sums;     /* FoX: F [batch, heads, keys] */
} call_t;

static size_t query_row(const call_t* c, int b, int h, int r) {
  const plumbline_problem* p = c->p;
  if (c->fault == triton_6242) return (size_t)b + (size_t)h * p->queries + r;
  return ((size_t)b * p->heads + h) * p->queries + r;
}
static int key_head(const call_t* c, int h) {
  if (c->fault == onnx_7274) return h % c->p->kv_heads;
  return h / (c->p->heads / c->p->kv_heads);
}
static size_t first_key(const call_t* c, int b, int h) {
  const plumbline_problem* p = c->p;
  if (c->fault == triton_6242) return (size_t)b + (size_t)h * p->keys;
  return ((size_t)b * p->kv_heads + key_head(c, h)) * p->keys;
}

/* Key j of a cache begins at this element of k or v. A key beyond its sequence may have page -1, which
   is none: the answer is negative. */
static ptrdiff_t cached(const plumbline_problem* p, int b, int kv, int j, int width) {
  if (p->page_size == 0) return (((ptrdiff_t)b * p->kv_heads + kv) * p->keys + j) * width;
  const int pages = (p->keys + p->page_size - 1) / p->page_size;
  const int page = p->pages[b * pages + j / p->page_size];
  return (((ptrdiff_t)page * p->kv_heads + kv) * p->page_size + j % p->page_size) * width;
}

static void rotate(const call_t* c, float* x, int position) {
  const plumbline_problem* p = c->p;
  const int D = c->fault == pie_602 ? p->head_dim : p->rotary_dim;
  const int pairs = p->rope == PLUMBLINE_ROPE_INTERLEAVED && c->fault != vllm_ascend_12765;
  for (int n = 0; n < p->rotary_dim / 2; ++n) {
    const double angle = position * pow(p->options[PLUMBLINE_BASE], -2.0 * n / D);
    float *first = x + (pairs ? 2 * n : n), *second = first + (pairs ? 1 : D / 2);
    const double a = *first, b = *second;
    *first = (float)(a * cos(angle) - b * sin(angle));
    *second = (float)(a * sin(angle) + b * cos(angle));
  }
}

static call_t begin(const plumbline_problem* p, const config_t* config, fault_t fault,
                    int backward) {
  call_t c = {p, config, fault, backward, NULL, NULL, NULL, NULL};
  const size_t D = p->head_dim, V = p->value_dim;
  const size_t rows = (size_t)p->batch * p->heads * p->queries;
  const size_t keys = (size_t)p->batch * p->kv_heads * p->keys;
  const int rope = p->rope != PLUMBLINE_NO_ROPE;
  c.q = malloc(rows * D * sizeof(float));
  c.k = calloc(keys * D, sizeof(float));
  c.v = calloc(keys * V, sizeof(float));
  for (size_t n = 0; n < rows * D; ++n) c.q[n] = load(p->q, n, p->format);
  for (size_t n = 0; n < keys; ++n) {
    const int j = n % p->keys, kv = n / p->keys % p->kv_heads, b = n / p->keys / p->kv_heads;
    const ptrdiff_t key = cached(p, b, kv, j, D), value = cached(p, b, kv, j, V);
    if (key < 0) continue;
    for (size_t d = 0; d < D; ++d) c.k[n * D + d] = load(p->k, key + d, p->format);
    for (size_t d = 0; d < V; ++d) c.v[n * V + d] = load(p->v, value + d, p->format);
    if (rope) rotate(&c, c.k + n * D, j);
  }
  const int offset = fault == flashinfer_847 ? p->keys - p->queries : p->query_offset;
  for (size_t n = 0; rope && n < rows; ++n) rotate(&c, c.q + n * D, (int)(n % p->queries) + offset);
  if (p->bias == PLUMBLINE_FOX) {
    const size_t count = (size_t)p->batch * p->heads * p->keys;
    c.sums = malloc(count * sizeof(double));
    for (size_t n = 0; n < count; ++n) {
      c.sums[n] = p->prefix_sums ? p->prefix_sums[n]
                                 : p->parameters[PLUMBLINE_LOG_FORGET][n] +
                                       (n % p->keys ? c.sums[n - 1] : 0);
    }
  }
  return c;
}
static int end(call_t* c) { return free(c->q), free(c->k), free(c->v), free(c->sums), 0; }

/* What the mask tensor has for a query and a key. */
static int in_mask(const plumbline_problem* p, int b, int h, int r, int j) {
  const int heads = p->mask_per_head ? p->heads : 1;
  const size_t plane = (size_t)(p->mask_per_batch ? b : 0) * heads + (p->mask_per_head ? h : 0);
  return p->mask[(plane * p->queries + r) * p->keys + j] != 0;
}

/* What dropout multiplies a weight with. */
static float kept(const call_t* c, int b, int h, int r, int j) {
  const plumbline_problem* p = c->p;
  if (!p->keep) return 1;
  const size_t first_row = ((size_t)b * p->heads + h) * p->queries;
  int row = p->keys;
  if (c->fault == xformers_755) { /* the keys that 64 queries read */
    const int end = r / 64 * 64 + 64 + p->query_offset;
    row = end < row ? end : row;
  }
  return p->keep[first_row * p->keys + (size_t)r * row + j] ? 1 / (1 - p->dropout) : 0;
}

static int visible(const call_t* c, int b, int h, int r, int j) {
  const plumbline_problem* p = c->p;
  const int i = r + (p->queries_at_end ? p->lengths[b] - p->queries : p->query_offset);
  int causal = p->causal, window = p->window_left, last = i;
  int right = p->window_right;
  if (i < 0 && c->fault != cutlass_2336 && c->fault != onnxruntime_28904) return 0;
  if (c->fault == cutlass_2336 || c->fault == onnxruntime_28904) last = r;
  if (c->fault == tensorrt_llm_17935 && right >= 0) right = 0;
  if (c->fault == executorch_22426) last = r + p->keys - p->queries;
  if (c->fault == sparkinfer_4 || (c->fault == ffpa_attn_300 && c->backward)) last = r;
  if (c->fault == transformers_29946) causal = 0;
  if (c->fault == triton_4541 && c->backward) causal = 1;
  if (c->fault == transformers_39408 && window > 0) ++window, ++right;
  if (c->fault == vllm_3385 && window > 0) --window, --right;
  if (p->lengths) {
    int length = p->lengths[b];
    if (i >= length) return 0;
    if (c->fault == pegainfer_291 && length % p->page_size == 0) length += p->page_size;
    if (j >= length) return 0;
  }
  if ((causal && j > last) || (window >= 0 && i - j > window)) return 0;
  if (right >= 0 && j - i > right) return 0;
  const int unread = !p->mask || c->fault == diffusers_14342 ||
                     (c->fault == burn_4778 && !p->mask_per_head && h > 0);
  if (!unread && in_mask(p, b, h, r, j) == (c->fault == x_transformers_160)) return 0;
  if (!p->documents || c->fault == transformers_46634) return 1;
  const int32_t* documents = p->documents + (size_t)b * p->keys;
  return documents[i] == documents[j];
}

/* The bias. */

/* Of a tensor, its size along an axis that may have size 1, and where the number of a pair lies. */
static int along(const plumbline_problem* p, plumbline_option option, int size) {
  return p->options[option] != 0 ? size : 1;
}
static size_t tensor_size(const plumbline_problem* p) {
  return (size_t)along(p, PLUMBLINE_PER_BATCH, p->batch) * along(p, PLUMBLINE_PER_HEAD, p->heads) *
         along(p, PLUMBLINE_PER_QUERY, p->queries) * p->keys;
}
static size_t tensor_place(const call_t* c, int b, int h, int r, int j) {
  const plumbline_problem* p = c->p;
  const int heads = along(p, PLUMBLINE_PER_HEAD, p->heads);
  const int rows = along(p, PLUMBLINE_PER_QUERY, p->queries);
  const int of_batch = along(p, PLUMBLINE_PER_BATCH, p->batch) > 1 ? b : 0;
  const int of_head = heads > 1 ? h : 0;
  size_t plane = (size_t)of_batch * heads + of_head;
  if (c->fault == onnxruntime_24017) plane = (size_t)of_batch * p->heads + of_head;
  if (c->fault == pytorch_184180) plane = heads > 1 ? (size_t)b * p->heads + h : 0;
  return (plane * rows + (rows > 1 ? r : 0)) * p->keys + j;
}
static float tensor(const call_t* c, int b, int h, int r, int j) {
  const size_t place = tensor_place(c, b, h, r, j);
  /* What lies beyond was anything. */
  return place < tensor_size(c->p) ? c->p->parameters[PLUMBLINE_TENSOR][place] : 0;
}

static float alibi(const call_t* c, int h, int r, int j) {
  const plumbline_problem* p = c->p;
  const int i = r + p->query_offset, H = p->heads;
  float slope = p->parameters[PLUMBLINE_SLOPES][h];
  int power = 1;
  while (2 * power <= H) power *= 2;
  switch (c->fault) {
    case mlx_3071:
      if (power != H) slope = exp2f(-8.0f * (h + 1) / H);
      break;
    case aprender_2143:
      slope = exp2f(-8.0f * h / H);
      break;
    case llama_cpp_20031: /* the slopes beyond are written past their place */
      if (h >= power) slope = 0;
      break;
    case flash_attention_845:
      slope = to_bf16(slope);
      break;
    case transformers_17474: /* slope j in bf16; -slope i is the same for a whole row */
      return to_bf16(slope * j) - slope * i;
    case attention_gym_86:
      return slope * (i - j);
    case vllm_945:
      return slope * (j - i - 1);
    case keras_hub_2977:
      if (p->queries == 1) return 0;
      break;
    case segment_anything_fast_71: /* scores are in units of log2 e */
      return -slope * abs(i - j) * 0.693147181f;
    default:
      break;
  }
  return -slope * abs(i - j);
}

/* Exactly: 2^-40 is far above a long double's error, and below the distance of a logarithm that is
   no whole number from one. */
static int bucket(long n, int buckets, double most) {
  const int exact = buckets / 2;
  if (n < exact) return (int)n;
  const long double place =
      logl((long double)n / exact) / logl((long double)most / exact) * (buckets - exact);
  const int of_n = exact + (int)floorl(place + 0x1p-40L);
  return of_n < buckets ? of_n : buckets - 1;
}

static float t5(const call_t* c, int h, int r, int j) {
  const plumbline_problem* p = c->p;
  const int buckets = (int)p->options[PLUMBLINE_BUCKETS];
  const double most = p->options[PLUMBLINE_MAX_DISTANCE];
  const float* table = p->parameters[PLUMBLINE_TABLE] + (size_t)h * buckets;
  const int i = c->fault == candle_899 ? r : r + p->query_offset;
  if (c->fault == x_transformers_10) {
    return table[bucket(abs(i - j), buckets / 2, most) + (j > i ? buckets / 2 : 0)];
  }
  return table[bucket(i > j ? i - j : 0, buckets, most)];
}

static float fox(const call_t* c, int b, int h, int i, int j) {
  const plumbline_problem* p = c->p;
  const double* F = c->sums + ((size_t)b * p->heads + h) * p->keys;
  return (float)(F[i] - F[j]);
}

static float bias(const call_t* c, int b, int h, int r, int j) {
  switch (c->p->bias) {
    case PLUMBLINE_ALIBI:
      return alibi(c, h, r, j);
    case PLUMBLINE_T5:
      return t5(c, h, r, j);
    case PLUMBLINE_FOX:
      return fox(c, b, h, r + c->p->query_offset, j);
    case PLUMBLINE_BIAS_TENSOR:
      return tensor(c, b, h, r, j);
    default:
      return 0;
  }
}

/* Eight sums, for the compiler to vectorize. */
static float dot(const float* a, const float* b, int size) {
  float sums[8] = {0};
  int d = 0;
  for (; d + 8 <= size; d += 8) {
    for (int n = 0; n < 8; ++n) sums[n] += a[d + n] * b[d + n];
  }
  for (; d < size; ++d) sums[0] += a[d] * b[d];
  return ((sums[0] + sums[1]) + (sums[2] + sums[3])) + ((sums[4] + sums[5]) + (sums[6] + sums[7]));
}

/* The softcap of a scaled product. */
static float capped(const call_t* c, float x) {
  const float cap = (float)c->p->softcap;
  if (cap == 0) return x;
  if (c->fault == imp_688 && c->p->head_dim != 128) return x;
  if (c->fault == flash_attention_2402_gradient && c->backward) return x;
  const float t = x / cap;
  return (c->fault == flash_attention_2402 ? t : cap) * tanhf(t);
}

/* The scaled product of a query and a key. */
static float product(const call_t* c, int b, int h, int r, int j) {
  const plumbline_problem* p = c->p;
  const int D = c->fault == triton_621 && p->head_dim > 64 ? 64 : p->head_dim;
  float scale = (float)p->scale;
  if (c->fault == transformers_44380) scale = 1 / sqrtf((float)p->head_dim);
  if (c->fault == transformers_38290) scale *= scale;
  return scale * dot(c->q + query_row(c, b, h, r) * p->head_dim,
                     c->k + (first_key(c, b, h) + j) * p->head_dim, D);
}

static float score(const call_t* c, int b, int h, int r, int j) {
  float x = product(c, b, h, r, j);
  if (c->fault == diffusers_14342 && c->p->mask) x += in_mask(c->p, b, h, r, j);
  const float added =
      bias(c, b, h, r, j) * (c->fault == tt_metal_42891 ? (float)c->p->scale : 1);
  return c->fault == onnxruntime_28379 ? capped(c, x + added) : capped(c, x) + added;
}

/* The online softmax of a row: the largest score, the sum of weights, and their sum of v. */
typedef struct {
  float largest, sum;
  float* o;
} state_t;

/* Keys [from, to); those from p->keys on are padding. */
static void absorb(const call_t* c, int b, int h, int r, int from, int to, int masked,
                   state_t* s) {
  const plumbline_problem* p = c->p;
  const int D = p->head_dim, V = p->value_dim, tile = c->config->tile;
  float scores[512];
  for (int start = from; start < to; start += tile) {
    const int stop = start + tile < to ? start + tile : to;
    float largest = s->largest;
    for (int j = start; j < stop; ++j) {
      float* const x = &scores[j - start];
      if (j >= p->keys) {
        *x = p->bias == PLUMBLINE_FOX
                 ? (float)c->sums[((size_t)b * p->heads + h) * p->keys + r + p->query_offset]
                 : c->fault == flashinfer_350 ? capped(c, -5e4f)
                                              : 0;
      } else {
        *x = !masked || visible(c, b, h, r, j) ? score(c, b, h, r, j) : -INFINITY;
      }
      largest = fmaxf(largest, *x);
    }
    if (largest == -INFINITY && c->fault != pytorch_127055) continue;
    const float factor = expf(s->largest - largest);
    s->largest = largest;
    s->sum *= factor;
    for (int d = 0; d < V; ++d) s->o[d] *= factor;
    for (int j = start; j < stop; ++j) {
      if (scores[j - start] == -INFINITY && largest != -INFINITY &&
          c->fault != flash_attention_1745) {
        continue;
      }
      const float weight = expf(scores[j - start] - largest);
      s->sum += weight;
      if (j >= p->keys) continue;
      int of_value = j;
      if (c->fault == ik_llama_cpp_2031) {
        /* Scores in blocks of D keys, values in blocks of V: of each block the first V. */
        if (j % D >= V) continue;
        of_value = j / D * V + j % D;
      }
      const float* v = c->v + (first_key(c, b, h) + of_value) * V;
      const float operand = rounded(weight, p->format) * kept(c, b, h, r, j);
      for (int d = 0; d < V; ++d) s->o[d] += operand * v[d];
    }
  }
}

static int rounded_up(int n, int to) { return (n + to - 1) / to * to; }

/* Where the keys of a row end. */
static int last_key(const call_t* c, int h, int r) {
  const plumbline_problem* p = c->p;
  if (c->fault == flashinfer_3717 || c->fault == fla_d7150bf || c->fault == flashinfer_350) {
    return rounded_up(p->keys, c->config->tile);
  }
  if (c->config->fault == flashinfer_1148) {
    /* The rows of the query heads of a group are packed into tiles of 128, and a tile reads the
       tiles of keys that its last row needs. */
    const int group = p->heads / p->kv_heads, rows = 128;
    const int end = ((r * group + h % group) / rows + 1) * rows;
    const int tokens = c->fault == flashinfer_1148 ? end / group : (end + group - 1) / group;
    const int keys = rounded_up(p->query_offset + tokens, c->config->tile);
    return keys < p->keys ? keys : p->keys;
  }
  return p->keys;
}

/* One logit more in the denominator, which no value belongs to. */
static void add_sink(const call_t* c, int h, int r, int row, state_t* s) {
  const plumbline_problem* p = c->p;
  if (!p->sinks || (c->fault == tensorrt_llm_15739 && r > 0)) return;
  float sink = p->parameters[PLUMBLINE_SINKS][c->fault == modular_6591 ? row % p->heads : h];
  if (c->fault == tokamax_aac610a) sink *= 0.693147181f; /* 2^sink */
  if (c->fault == flash_attention_e81c237) {
    s->sum += sink * expf(-s->largest);
    return;
  }
  if (c->fault == flash_attention_2706) {
    s->sum += expf(sink - s->largest);
    return;
  }
  const float largest = fmaxf(s->largest, sink), factor = expf(s->largest - largest);
  s->largest = largest;
  /* Eight warps, each with a state of its own. */
  s->sum = s->sum * factor + (c->fault == vllm_metal_550 ? 8 : 1) * expf(sink - largest);
  for (int d = 0; d < p->value_dim; ++d) s->o[d] *= factor;
}

static void attend(const call_t* c, int b, int h, int r, state_t* s) {
  s->largest = -INFINITY;
  s->sum = 0;
  for (int d = 0; d < c->p->value_dim; ++d) s->o[d] = 0;
  if (c->fault == triton_8853 && c->p->causal) {
    /* Blocks of 64 queries, 128 keys: what lies before the block of queries needs no mask, but ends
       in the midst of a block of keys. */
    const int start = r / 64 * 64;
    absorb(c, b, h, r, 0, rounded_up(start, 128), 0, s);
    absorb(c, b, h, r, start, start + 64, 1, s);
    return;
  }
  absorb(c, b, h, r, 0, last_key(c, h, r), 1, s);
}

/* Ranges of keys, each with its own result and LSE, merged. */
static void attend_ranges(const call_t* c, int b, int h, int r, float* o, float* lse) {
  const int V = c->p->value_dim, keys = c->p->keys, splits = c->config->splits;
  const int range = (keys + splits - 1) / splits;
  float* parts = malloc(sizeof(float) * splits * V);
  float logs[8], largest = -INFINITY, sum = 0, last = -INFINITY;
  for (int n = 0; n < splits; ++n) {
    state_t s = {-INFINITY, 0, parts + n * V};
    for (int d = 0; d < V; ++d) s.o[d] = 0;
    const int from = n * range < keys ? n * range : keys;
    absorb(c, b, h, r, from, from + range < keys ? from + range : keys, 1, &s);
    for (int d = 0; d < V && s.sum > 0; ++d) s.o[d] /= s.sum;
    logs[n] = s.sum > 0 ? s.largest + logf(s.sum) : -INFINITY;
    if (from < keys) last = logs[n];
    largest = fmaxf(largest, logs[n]);
  }
  /* The sink is a range of its own. */
  const int has_sink = c->p->sinks && !(c->fault == imp_1346 && range < keys);
  const float sink = has_sink ? c->p->parameters[PLUMBLINE_SINKS][h] : -INFINITY;
  largest = fmaxf(largest, sink);
  const int empty = largest == -INFINITY && c->fault != vllm_39148;
  /* Logarithms to base 2 in the place of natural ones. */
  const float base = c->fault == sglang_40903 ? 1.442695041f : 1;
  float weights = 0;
  if (has_sink) sum = weights = expf(sink - largest);
  for (int n = 0; n < splits && !empty; ++n) {
    sum += expf(logs[n] - largest);
    weights += expf(base * (logs[n] - largest));
  }
  *lse = empty ? -INFINITY : largest + logf(sum);
  for (int d = 0; d < V; ++d) o[d] = 0;
  for (int n = 0; n < splits && !empty; ++n) {
    const float weight = expf(base * (logs[n] - largest)) / weights;
    for (int d = 0; d < V; ++d) o[d] += weight * parts[n * V + d];
  }
  if (c->fault == flashinfer_58) *lse = last;
  free(parts);
}

static int forward(const plumbline_problem* p, const plumbline_outputs* out, const config_t* config,
                   fault_t fault) {
  call_t c = begin(p, config, fault, 0);
  const int V = p->value_dim, written = fault == triton_621 && V > 64 ? 64 : V;
  state_t s = {0, 0, malloc(sizeof(float) * V)};
  for (int row = 0; row < p->batch * p->heads * p->queries; ++row) {
    const int r = row % p->queries, h = row / p->queries % p->heads,
              b = row / p->queries / p->heads;
    float lse;
    if (config->splits > 1) {
      attend_ranges(&c, b, h, r, s.o, &lse);
    } else {
      attend(&c, b, h, r, &s);
      add_sink(&c, h, r, row, &s);
      lse = s.sum == 0 ? -INFINITY : s.largest + logf(s.sum);
      /* Where the sum is infinite, so is every weight of a key 0. */
      for (int d = 0; d < V && s.sum != 0; ++d) s.o[d] = isinf(s.sum) ? 0 : s.o[d] / s.sum;
      if (fault == pytorch_103963 && s.sum == 0) {
        for (int d = 0; d < V; ++d) s.o[d] = NAN; /* 0 / 0 */
      }
    }
    const size_t at = query_row(&c, b, h, r) * V;
    for (int d = 0; d < written; ++d) store(out->o, at + d, s.o[d], p->format);
    out->lse[row] = fault == tokenspeed_571 ? lse * 1.442695041f : lse;
  }
  free(s.o);
  return end(&c);
}

/* F between the first key of j's block of 32 and that of its chunk of 128. */
static float before_block(const double* F, int j) {
  const int block = j / 32 * 32, chunk = j / 128 * 128;
  return block == chunk ? 0 : (float)(F[block - 1] - (chunk ? F[chunk - 1] : 0));
}

static int backward(const plumbline_problem* p, const plumbline_gradients* g,
                    const config_t* config, fault_t fault) {
  call_t c = begin(p, config, fault, 1);
  const int D = p->head_dim, V = p->value_dim, format = p->format;
  const size_t keys = (size_t)p->batch * p->kv_heads * p->keys;
  const size_t gates = c.sums ? (size_t)p->batch * p->heads * p->keys : 0;
  float *dk = calloc(keys * D, sizeof(float)), *dv = calloc(keys * V, sizeof(float));
  float *dq = malloc(sizeof(float) * D), *grad_o = malloc(sizeof(float) * V);
  double* dF = calloc(gates + 1, sizeof(double));
  float* const of_tensor = g->grad_parameters[PLUMBLINE_TENSOR];
  float* const of_sinks = g->grad_parameters[PLUMBLINE_SINKS];
  if (of_tensor) memset(of_tensor, 0, tensor_size(p) * sizeof(float));
  if (of_sinks) memset(of_sinks, 0, p->heads * sizeof(float));
  const int rows = p->batch * p->heads * p->queries;
  float* common = malloc(sizeof(float) * rows); /* grad_o . o - grad_lse */
  for (int row = 0; row < rows; ++row) {
    common[row] = 0;
    for (int d = 0; d < V; ++d) {
      const size_t n = (size_t)row * V + d;
      common[row] += load(g->grad_o, n, format) * load(g->o, n, format);
    }
    if (p->lse_gradient && fault != flash_attention_1817) common[row] -= g->grad_lse[row];
  }
  for (int row = 0; row < rows; ++row) {
    const int r = row % p->queries, h = row / p->queries % p->heads,
              b = row / p->queries / p->heads;
    for (int d = 0; d < D; ++d) dq[d] = 0;
    for (int d = 0; d < V; ++d) grad_o[d] = load(g->grad_o, (size_t)row * V + d, format);
    float of_keys = 0; /* what the logarithm of the keys alone is more than lse */
    if (p->sinks) {
      const float weight = expf(p->parameters[PLUMBLINE_SINKS][h] - g->lse[row]);
      if (fault == cudnn_frontend_421) of_keys = log1pf(-weight);
      else of_sinks[h] -= weight * common[row];
    }
    for (int j = 0; j < p->keys && g->lse[row] != -INFINITY; ++j) {
      if (!visible(&c, b, h, r, j)) continue;
      /* Blocks of 128 queries and keys: statistics are those of the first block of queries. */
      const int stale = fault == flash_attention_b3f1b6a && r / 128 > j / 128;
      const int of = stale ? row - r + j / 128 * 128 + r % 128 : row;
      const size_t key = first_key(&c, b, h) + j;
      const float weight = expf(score(&c, b, h, r, j) - g->lse[of] - of_keys);
      /* fla_941: the last of the tiles of 64 components of v remains; fla_1033: each tile of 128
         subtracts all of D. */
      const int first = fault == fla_941 ? (V - 1) / 64 * 64 : 0;
      const int tiles = fault == fla_1033 ? (V + 127) / 128 : 1;
      const float drop = kept(&c, b, h, r, j);
      const float of_dP = fault == apex_816 && p->keep ? (drop != 0) * p->dropout : drop;
      const float dP = of_dP * dot(grad_o + first, c.v + key * V + first, V - first);
      float dS = weight * (dP - tiles * common[of]);
      if (of_tensor) {
        float* const number = of_tensor + tensor_place(&c, b, h, r, j);
        const int kept = !(fault == flash_sparse_attention_194 && p->options[PLUMBLINE_PER_QUERY] == 0);
        const int per_batch = along(p, PLUMBLINE_PER_BATCH, p->batch) > 1;
        const int per_head = along(p, PLUMBLINE_PER_HEAD, p->heads) > 1 || p->heads == 1;
        if (fault != jax_32018 || (!per_batch && per_head)) *number = (kept ? *number : 0) + dS;
      }
      if (p->softcap != 0 && fault != flash_attention_2402_gradient) {
        const float t = tanhf(product(&c, b, h, r, j) / (float)p->softcap);
        dS *= 1 - t * t;
      }
      float of_key = dS, weight_of_key = weight;
      if (fault == fla_7362d87) {
        const double* F = c.sums + ((size_t)b * p->heads + h) * p->keys;
        const float factor = expf(2 * before_block(F, j));
        of_key *= factor;
        weight_of_key *= factor;
      }
      const float to_q = rounded(dS, format) * (float)p->scale;
      const float to_k = rounded(of_key, format) * (float)p->scale;
      const float to_v = rounded(weight_of_key, format) * drop;
      const float *q = c.q + (size_t)row * D, *k = c.k + key * D;
      for (int d = 0; d < D; ++d) {
        dq[d] += to_q * k[d];
        dk[key * D + d] += to_k * q[d];
      }
      for (int d = 0; d < V; ++d) dv[key * V + d] += to_v * grad_o[d];
      if (gates) {
        double* const of_row = dF + ((size_t)b * p->heads + h) * p->keys;
        of_row[r + p->query_offset] += dS;
        of_row[j] -= of_key;
      }
    }
    for (int d = 0; d < D; ++d) store(g->grad_q, (size_t)row * D + d, dq[d], format);
  }
  for (size_t n = 0; n < keys * D; ++n) store(g->grad_k, n, dk[n], format);
  for (size_t n = 0; n < keys * V; ++n) store(g->grad_v, n, dv[n], format);
  for (size_t n = gates; n-- > 0;) {
    if ((n + 1) % p->keys) dF[n] += dF[n + 1];
    g->grad_parameters[PLUMBLINE_LOG_FORGET][n] = (float)dF[n];
  }
  free(dk), free(dv), free(dq), free(grad_o), free(dF), free(common);
  return end(&c);
}

static int takes_softcap(const config_t* config) {
  return config->offers == softcap_causal || config->offers == softcap_decode;
}
static int takes_sinks(const config_t* config) {
  return config->offers == sinks_causal || config->offers == sinks_ragged ||
         config->offers == sinks_decode;
}

static int takes_positions(const config_t* config) {
  return config->offers == ends_causal || config->offers == ends_ragged;
}

/* Of what later versions of the interface brought. */
static int32_t newer_features(const config_t* config) {
  return config->offers == mask_any         ? PLUMBLINE_HAS_MASK
         : config->offers == lse_causal     ? PLUMBLINE_HAS_LSE_GRADIENT
         : config->offers == values_decode  ? PLUMBLINE_HAS_VALUE_DIM
         : config->offers == dropout_causal ? PLUMBLINE_HAS_DROPOUT
         : config->offers == partial_rope   ? PLUMBLINE_HAS_PARTIAL_ROPE
                                            : 0;
}

static int supports(const plumbline_problem* p, int pass, const config_t* config) {
  const int32_t newer = PLUMBLINE_HAS_MASK | PLUMBLINE_HAS_LSE_GRADIENT | PLUMBLINE_HAS_VALUE_DIM |
                        PLUMBLINE_HAS_DROPOUT | PLUMBLINE_HAS_PARTIAL_ROPE | PLUMBLINE_HAS_CACHE_FORMAT |
                        PLUMBLINE_HAS_SLOPES_PER_BATCH | PLUMBLINE_HAS_STRIDES | PLUMBLINE_HAS_PACKED_SEQUENCES;
  if (plumbline_features(p) & newer & ~newer_features(config)) return 0;
  const int asked = pass == config->pass ||
                    (config->pass == PLUMBLINE_BACKWARD && pass == PLUMBLINE_FORWARD);
  return asked && p->format == config->format && p->bias == config->bias && p->rope == config->rope && !p->dape && !p->ssmax &&
         (takes_positions(config) || (!p->queries_at_end && p->queries <= p->keys)) &&
         (config->offers == window_encoder || p->window_left == p->window_right) &&
         (p->softcap == 0 || takes_softcap(config)) && (!p->sinks || takes_sinks(config)) && config->offers(p);
}

#define PASSES(name, config, fault)                                                      \
  static int name##_supports(const plumbline_problem* p, int32_t pass) {                 \
    return supports(p, pass, &config);                                                   \
  }                                                                                      \
  static int name##_forward(const plumbline_problem* p, const plumbline_outputs* o,      \
                            char* m, size_t n) {                                         \
    return (void)m, (void)n, forward(p, o, &config, fault);                              \
  }                                                                                      \
  static int name##_backward(const plumbline_problem* p, const plumbline_gradients* g,   \
                             char* m, size_t n) {                                        \
    return (void)m, (void)n, backward(p, g, &config, fault);                             \
  }
#define FAULT(name, reference, pass, bias, rope, format, tile, splits, offers, ...)            \
  static const config_t name##_config = {                                                \
      name, PLUMBLINE_##pass, PLUMBLINE_##bias, PLUMBLINE_##rope, PLUMBLINE_##format, tile, splits, offers}; \
  PASSES(name, name##_config, name)                                                      \
  PASSES(name##_mended, name##_config, no_fault)
#include "faults.def"
#undef FAULT

/* One says that hidden keys reach no output. */
#define KERNEL(name, of_fault, format, ranges)                                \
  {#name,                                                                     \
   {[PLUMBLINE_##format] = {.unit_roundoff = 0x1p-24,                         \
                            .probability_format = PLUMBLINE_##format,         \
                            .exp_error = 0x1p-20,                             \
                            .splits = ranges}},                               \
   1,                                                                         \
   name##_supports,                                                           \
   name##_forward,                                                            \
   name##_backward,                                                           \
   name##_forward,                                                            \
   PLUMBLINE_HOST_MEMORY,                                                     \
   (of_fault) == flash_attention_1745},
#define FAULT(name, reference, pass, bias, rope, format, tile, splits, ...) \
  KERNEL(name, name, format, splits) KERNEL(name##_mended, name, format, splits)
static const plumbline_kernel kernels[] = {
#include "faults.def"
};
static const plumbline_library library = {PLUMBLINE_ABI_VERSION, "historical faults", "CPU",
                                          sizeof kernels / sizeof kernels[0], kernels};
const plumbline_library* plumbline_kernel_library(void) { return &library; }
