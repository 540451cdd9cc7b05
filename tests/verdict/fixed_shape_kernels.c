/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Right kernels of fixed shapes, as research kernels are: ALiBi in fp32 under a causal mask,
 * nothing else. Each offers other shapes. `square_tiles_wrong` forgets the slope of the last of
 * twelve heads.
 *
 * `log_decay` has the custom bias of log_decay.json, -r log1p(a abs(i - j)), also for decoding;
 * `log_decay_wrong` has a decay of 1.001 a, and the gradient of r with its sign turned.
 */
#include <math.h>
#include <stdlib.h>

#include "plumbline_kernel.h"

static int is_plain(const plumbline_problem* p, plumbline_bias bias) {
  const int32_t computed =
      PLUMBLINE_HAS_KEY_HEADS | PLUMBLINE_HAS_FEWER_QUERIES | PLUMBLINE_HAS_OFFSET;
  return p->bias == (int32_t)bias && p->format == PLUMBLINE_FP32 && p->causal &&
         !(plumbline_features(p) & ~computed);
}

static int square_tiles(const plumbline_problem* p, int32_t pass) {
  (void)pass;
  return is_plain(p, PLUMBLINE_ALIBI) && p->keys % 128 == 0 && p->queries == p->keys;
}

static int one_shape(const plumbline_problem* p, int32_t pass) {
  (void)pass;
  return is_plain(p, PLUMBLINE_ALIBI) && p->batch == 4 && p->heads == 16 && p->kv_heads == 16 &&
         p->head_dim == 64 && p->keys == 256 && p->queries == 256;
}

static int any_shape(const plumbline_problem* p, int32_t pass) {
  (void)pass;
  return is_plain(p, PLUMBLINE_ALIBI);
}

static int custom_bias(const plumbline_problem* p, int32_t pass) {
  (void)pass;
  return is_plain(p, PLUMBLINE_CUSTOM);
}

/* b_ij of a head at a distance. */
typedef float (*Bias)(const plumbline_problem* p, int head, float distance);

static float alibi(const plumbline_problem* p, int head, float distance) {
  return -p->parameters[PLUMBLINE_SLOPES][head] * distance;
}

static float alibi_without_last(const plumbline_problem* p, int head, float distance) {
  return p->heads == 12 && head == 11 ? 0.0f : alibi(p, head, distance);
}

static float log_decay(const plumbline_problem* p, int head, float distance) {
  const float r = p->parameters[PLUMBLINE_CUSTOM_0][head],
              a = p->parameters[PLUMBLINE_CUSTOM_1][head];
  return -r * log1pf(a * distance);
}

static float log_decay_wrong(const plumbline_problem* p, int head, float distance) {
  return log_decay(p, head, 1.001f * distance);
}

typedef struct {
  const float *q, *k, *v;
  size_t row;  /* of q */
  size_t keys; /* row of the first key */
  int position, head;
} Row;

static Row row_of(const plumbline_problem* p, int batch, int head, int query) {
  Row row;
  row.row = ((size_t)batch * p->heads + head) * p->queries + query;
  row.keys = ((size_t)batch * p->kv_heads + head / (p->heads / p->kv_heads)) * p->keys;
  row.q = (const float*)p->q + row.row * p->head_dim;
  row.k = (const float*)p->k + row.keys * p->head_dim;
  row.v = (const float*)p->v + row.keys * p->head_dim;
  row.position = query + p->query_offset;
  row.head = head;
  return row;
}

static float dot(const float* a, const float* b, int size) {
  float sum = 0;
  for (int d = 0; d < size; ++d) sum += a[d] * b[d];
  return sum;
}

static float score(const plumbline_problem* p, const Row* row, Bias bias, int key) {
  const float content = dot(row->q, row->k + (size_t)key * p->head_dim, p->head_dim);
  return content * (float)p->scale + bias(p, row->head, (float)(row->position - key));
}

static void forward_row(const plumbline_problem* p, const plumbline_outputs* out, const Row* row,
                        Bias bias, float* weight) {
  const int keys = row->position + 1, dim = p->head_dim;
  float largest = -INFINITY, sum = 0;
  for (int j = 0; j < keys; ++j) {
    weight[j] = score(p, row, bias, j);
    if (weight[j] > largest) largest = weight[j];
  }
  for (int j = 0; j < keys; ++j) sum += weight[j] = expf(weight[j] - largest);
  float* o = (float*)out->o + row->row * dim;
  for (int d = 0; d < dim; ++d) o[d] = 0;
  for (int j = 0; j < keys; ++j) {
    for (int d = 0; d < dim; ++d) o[d] += weight[j] * row->v[(size_t)j * dim + d];
  }
  for (int d = 0; d < dim; ++d) o[d] /= sum;
  out->lse[row->row] = largest + logf(sum);
}

static int run_forward(const plumbline_problem* p, const plumbline_outputs* out, Bias bias) {
  float* weight = malloc(sizeof(float) * (size_t)p->keys);
  if (!weight) return 1;
  for (int b = 0; b < p->batch; ++b) {
    for (int h = 0; h < p->heads; ++h) {
      for (int r = 0; r < p->queries; ++r) {
        const Row row = row_of(p, b, h, r);
        forward_row(p, out, &row, bias, weight);
      }
    }
  }
  free(weight);
  return 0;
}

static int forward(const plumbline_problem* p, const plumbline_outputs* out, char* m, size_t n) {
  (void)m, (void)n;
  return run_forward(p, out, alibi);
}

static int forward_wrong(const plumbline_problem* p, const plumbline_outputs* out, char* m,
                         size_t n) {
  (void)m, (void)n;
  return run_forward(p, out, alibi_without_last);
}

static int forward_custom(const plumbline_problem* p, const plumbline_outputs* out, char* m,
                          size_t n) {
  (void)m, (void)n;
  return run_forward(p, out, log_decay);
}

static int forward_custom_wrong(const plumbline_problem* p, const plumbline_outputs* out, char* m,
                                size_t n) {
  (void)m, (void)n;
  return run_forward(p, out, log_decay_wrong);
}

/* By the parameters of log_decay: sign times -log1p(a x), and -r x / (1 + a x). */
static void add_custom(const plumbline_problem* p, const plumbline_gradients* g, const Row* row,
                       float distance, float grad, float sign) {
  const float r = p->parameters[PLUMBLINE_CUSTOM_0][row->head];
  const float a = p->parameters[PLUMBLINE_CUSTOM_1][row->head];
  g->grad_parameters[PLUMBLINE_CUSTOM_0][row->head] -= sign * grad * log1pf(a * distance);
  g->grad_parameters[PLUMBLINE_CUSTOM_1][row->head] -= grad * r * distance / (1 + a * distance);
}

/* @param wrong times D is taken away; @param sign of r's gradient. */
static void backward_row(const plumbline_problem* p, const plumbline_gradients* g, const Row* row,
                         Bias bias, float wrong, float sign) {
  const int dim = p->head_dim;
  const float* grad_o = (const float*)g->grad_o + row->row * dim;
  const float common = dot(grad_o, (const float*)g->o + row->row * dim, dim);
  float* grad_q = (float*)g->grad_q + row->row * dim;
  for (int j = 0; j <= row->position; ++j) {
    const size_t key = (row->keys + j) * dim;
    const float weight = expf(score(p, row, bias, j) - g->lse[row->row]);
    const float grad = weight * (dot(grad_o, row->v + (size_t)j * dim, dim) - wrong * common);
    if (bias != alibi) add_custom(p, g, row, (float)(row->position - j), grad, sign);
    for (int d = 0; d < dim; ++d) {
      ((float*)g->grad_v)[key + d] += weight * grad_o[d];
      ((float*)g->grad_k)[key + d] += (float)p->scale * grad * row->q[d];
      grad_q[d] += (float)p->scale * grad * row->k[(size_t)j * dim + d];
    }
  }
}

static int run_backward(const plumbline_problem* p, const plumbline_gradients* g, Bias bias,
                        float wrong, float sign) {
  const size_t queries = (size_t)p->batch * p->heads * p->queries * p->head_dim;
  const size_t keys = (size_t)p->batch * p->kv_heads * p->keys * p->head_dim;
  for (size_t n = 0; n < queries; ++n) ((float*)g->grad_q)[n] = 0;
  for (size_t n = 0; n < keys; ++n) ((float*)g->grad_k)[n] = ((float*)g->grad_v)[n] = 0;
  for (int h = 0; h < p->heads && bias != alibi; ++h) {
    g->grad_parameters[PLUMBLINE_CUSTOM_0][h] = g->grad_parameters[PLUMBLINE_CUSTOM_1][h] = 0;
  }
  for (int b = 0; b < p->batch; ++b) {
    for (int h = 0; h < p->heads; ++h) {
      for (int r = 0; r < p->queries; ++r) {
        const Row row = row_of(p, b, h, r);
        backward_row(p, g, &row, bias, wrong, sign);
      }
    }
  }
  return 0;
}

static int backward(const plumbline_problem* p, const plumbline_gradients* g, char* m, size_t n) {
  (void)m, (void)n;
  return run_backward(p, g, alibi, 1.0f, 1.0f);
}

static int backward_wrong(const plumbline_problem* p, const plumbline_gradients* g, char* m,
                          size_t n) {
  (void)m, (void)n;
  return run_backward(p, g, alibi, 1.01f, 1.0f);
}

static int backward_custom(const plumbline_problem* p, const plumbline_gradients* g, char* m,
                           size_t n) {
  (void)m, (void)n;
  return run_backward(p, g, log_decay, 1.0f, 1.0f);
}

static int backward_custom_wrong(const plumbline_problem* p, const plumbline_gradients* g, char* m,
                                 size_t n) {
  (void)m, (void)n;
  return run_backward(p, g, log_decay, 1.0f, -1.0f);
}

#define PLAIN                                                       \
  {                                                                 \
    { .unit_roundoff = 0x1p-24, .exp_error = 0x1p-20, .splits = 1 } \
  }

static const plumbline_kernel kernels[] = {
    {.name = "square_tiles",
     .contracts = PLAIN,
     .supports = square_tiles,
     .forward = forward,
     .backward = backward},
    {.name = "square_tiles_wrong",
     .contracts = PLAIN,
     .supports = square_tiles,
     .forward = forward_wrong},
    {.name = "one_shape",
     .contracts = PLAIN,
     .supports = one_shape,
     .forward = forward,
     .backward = backward},
    {.name = "backward_alone", .contracts = PLAIN, .supports = any_shape, .backward = backward},
    {.name = "backward_alone_wrong",
     .contracts = PLAIN,
     .supports = any_shape,
     .backward = backward_wrong},
    {.name = "log_decay",
     .contracts = PLAIN,
     .supports = custom_bias,
     .forward = forward_custom,
     .backward = backward_custom,
     .decode = forward_custom},
    {.name = "log_decay_wrong",
     .contracts = PLAIN,
     .supports = custom_bias,
     .forward = forward_custom_wrong,
     .backward = backward_custom_wrong,
     .decode = forward_custom_wrong},
};

static const plumbline_library library = {PLUMBLINE_ABI_VERSION, "fixed shapes", "CPU",
                                          sizeof kernels / sizeof kernels[0], kernels};

const plumbline_library* plumbline_kernel_library(void) { return &library; }
