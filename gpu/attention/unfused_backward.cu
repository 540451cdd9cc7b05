// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "attention/backward_kernels.cuh"
#include "attention/bias_tile.cuh"
#include "attention/score_index.cuh"
#include "attention/score_methods.cuh"
#include "attention/unfused.cuh"
#include "attention/unfused_bias_grad.cuh"
#include "methods.hpp"
#include "ops/reduce.cuh"

namespace plumbline::gpu {

namespace {

/// A warp for each query row: P = exp(s - lse), dz, and the row's part of SSMax's gradient.
__global__ void logits_grad_kernel(Problem p, RowChunk chunk, ScoreArrays scores, const float* lse,
                                   const float* delta, const void* grad_o, float* dz,
                                   double* ssmax) {
  const std::size_t n = blockIdx.x;
  const ScoreRow at(p, chunk, n);
  const std::size_t row = p.row_index(at.b, at.head, at.row);
  const KeyRange range = key_range(p.mask, at.b, at.position);
  const float factor = p.logit_factor(at.b, at.head, at.row);
  double by_ssmax = 0.0;
  for (int key = static_cast<int>(lane_index()); key < p.keys; key += kLanes) {
    const std::size_t score = n * p.keys + key;
    scores.probability[score] = kInvisible;
    dz[score] = 0.0f;
    if (!visible(p.mask, range, at.b, at.position, key)) continue;
    const std::size_t o = row * p.value_dim, v = p.key_start(at.b, at.head, key, p.value_dim);
    float dp = 0.0f;
    for (int d = 0; d < p.value_dim; ++d)
      dp += load_element(grad_o, p.format, o + d) * load_element(p.v, p.format, v + d);
    const float z = scores.logits[score];
    const ScoreGrad grad = score_grad(z, factor, lse[row], dp, delta[row]);
    scores.probability[score] = grad.p;
    dz[score] = grad.dz;
    if (ssmax) by_ssmax += static_cast<double>(grad.ds) * z;
  }
  if (!ssmax) return;
  by_ssmax = warp_sum(by_ssmax);
  if (lane_index() == 0)
    ssmax[row] = range.end > range.begin ? by_ssmax * p.log_visible(at.b, at.row) : 0.0;
}

/// CoPE's share of dq: sum_n dz_n E_n.
struct ByPosition {
  const float *gradient, *embedding;  // null where the method has none
  int positions;
};

/// weight times the number at `n` of x; 0 where the weight is, whatever stands there: a key or a
/// query without a gradient may hold anything.
__device__ float weighted(float weight, const void* x, Format format, std::size_t n) {
  return weight == 0.0f ? 0.0f : weight * load_element(x, format, n);
}

/// A thread for each number of dq = scale sum_j dA_j k_j + sum_n dz_n E_n.
__global__ void grad_q_kernel(Problem p, RowChunk chunk, int head_dim, const float* grad_products,
                              ByPosition by_position, void* grad_q) {
  const std::size_t n = element_index();
  if (n >= chunk.rows(p) * head_dim) return;
  const std::size_t row = n / head_dim;
  const int d = static_cast<int>(n % head_dim);
  const ScoreRow at(p, chunk, row);
  float sum = 0.0f;
  for (int key = 0; key < p.keys; ++key)
    sum += weighted(grad_products[row * p.keys + key], p.k, p.format,
                    p.key_start(at.b, at.head, key, head_dim) + d);
  sum *= p.scale;
  for (int m = 0; m < by_position.positions; ++m) {
    const std::size_t embedding = static_cast<std::size_t>(at.head) * by_position.positions + m;
    sum += by_position.gradient[row * by_position.positions + m] *
           by_position.embedding[embedding * head_dim + d];
  }
  store_element(grad_q, p.format, p.query_start(at.b, at.head, at.row, head_dim) + d, sum);
}

/// A thread for each number of a gradient like k or v: factor sum over the rows and query heads of
/// weight_ij x_i, leaving out what has a negative probability. `width` is that of a row.
__global__ void grad_keys_kernel(Problem p, RowChunk chunk, int width, const float* weight,
                                 const float* probability, const void* x, float factor,
                                 float* so_far, void* gradient) {
  const std::size_t n = element_index();
  if (n >= static_cast<std::size_t>(p.batch) * p.kv_heads * p.keys * width) return;
  const int d = static_cast<int>(n % width);
  const std::size_t key_row = n / width;
  const int key = static_cast<int>(key_row % p.keys);
  const int kv_head = static_cast<int>(key_row / p.keys % p.kv_heads);
  const int b = static_cast<int>(key_row / p.keys / p.kv_heads);
  const int group = p.heads / p.kv_heads;
  float sum = carried(chunk, so_far[n]);
  for (int row = chunk.first; row < chunk.end(); ++row) {
    for (int head = kv_head * group; head < (kv_head + 1) * group; ++head) {
      const std::size_t score = chunk.index(p, b, head, row) * p.keys + key;
      if (probability && probability[score] == kInvisible) continue;
      sum += weighted(weight[score], x, p.format, p.query_start(b, head, row, width) + d);
    }
  }
  so_far[n] = sum;
  if (chunk.is_last(p)) store_element(gradient, p.format, n, factor * sum);
}

/// A thread for each number of CoPE's table: dE_n = sum dz_n q over rows and sequences.
__global__ void grad_embedding_kernel(Problem p, RowChunk chunk, int head_dim, int positions,
                                      const float* grad_by_position, double* so_far,
                                      float* gradient, Gradient mode) {
  const std::size_t n = element_index();
  if (n >= static_cast<std::size_t>(p.heads) * positions * head_dim) return;
  const int d = static_cast<int>(n % head_dim);
  const std::size_t position = n / head_dim % positions;
  const int head = static_cast<int>(n / head_dim / positions);
  double sum = carried(chunk, so_far[n]);
  for (int row = chunk.first; row < chunk.end(); ++row)
    for (int b = 0; b < p.batch; ++b)
      if (const double weight =
              grad_by_position[chunk.index(p, b, head, row) * positions + position];
          weight != 0.0)
        sum += weight * load_element(p.q, p.format, p.query_start(b, head, row, head_dim) + d);
  so_far[n] = sum;
  if (!chunk.is_last(p)) return;
  if (mode == Gradient::accumulate) sum += gradient[n];
  gradient[n] = static_cast<float>(sum);
}

/// In a tensor with a row of `width` for each key.
std::size_t key_numbers(const Problem& p, int width) {
  return static_cast<std::size_t>(p.batch) * p.kv_heads * p.keys * width;
}

bool is_dape(const Task& task) { return task.bias.dape_taps > 0; }
bool is_cope(const Task& task) { return task.bias.method == PLUMBLINE_COPE; }
bool sums_increments(const Task& task) { return task.bias.method == PLUMBLINE_CABLE; }

/// Of DAPE's base: those with a number for each head and a gradient.
std::size_t parameters_of_heads(const Task& task) {
  const methods::Method& method = methods::row(task.bias.method);
  return is_dape(task) ? std::ranges::count_if(method.parameters,
                                               [](const methods::Parameter& p) {
                                                 return p.has_gradient && p.shape.size() == 1 &&
                                                        *p.shape.begin() == methods::Extent::heads;
                                               })
                       : 0;
}

void dape_gradients(const Stream& stream, const Task& task, const RowChunk& chunk,
                    const ScoreArrays& scores, const ScoreGradArrays& arrays,
                    const plumbline_gradients& gradients, Gradient mode) {
  float* const* of = gradients.grad_parameters;
  dape_backward(stream, dape_shape(task, chunk), dape_layers(task), scores.products, scores.bias,
                scores.hidden, arrays.logits,
                {arrays.products, arrays.bias, of[PLUMBLINE_HIDDEN_WEIGHT],
                 of[PLUMBLINE_HIDDEN_BIAS], of[PLUMBLINE_OUTPUT_WEIGHT], of[PLUMBLINE_OUTPUT_BIAS]},
                arrays.hidden, mode, {chunk.first, chunk.is_last(task.problem), arrays.network});
  unfused_bias_grad(stream, task, chunk, arrays, of, mode);
}

void cope_gradients(const Stream& stream, const Task& task, const RowChunk& chunk,
                    const ScoreArrays& scores, const ScoreGradArrays& arrays,
                    const plumbline_gradients& gradients, Gradient mode) {
  const Problem& p = task.problem;
  const int positions = task.bias.positions;
  cope_backward(stream, cope_shape(task, chunk), scores.products, scores.by_position, scores.counts,
                arrays.logits, arrays.products, arrays.by_position);
  if (float* gradient = gradients.grad_parameters[PLUMBLINE_POSITION_EMBEDDING])
    launch(stream, over_elements(static_cast<std::size_t>(p.heads) * positions * task.head_dim),
           grad_embedding_kernel, p, chunk, task.head_dim, positions,
           static_cast<const float*>(arrays.by_position), arrays.embedding, gradient, mode);
}

/// dq of the chunk's rows, and what they add to dk and dv.
void products_gradients(const Stream& stream, const Task& task, const RowChunk& chunk,
                        const ScoreArrays& scores, const ScoreGradArrays& arrays,
                        const plumbline_gradients& gradients) {
  const Problem& p = task.problem;
  const ByPosition by_position{arrays.by_position,
                               task.bias.parameters[PLUMBLINE_POSITION_EMBEDDING],
                               is_cope(task) ? task.bias.positions : 0};
  const float *d_products = arrays.products, *probability = scores.probability, *all = nullptr;
  if (gradients.grad_q)
    launch(stream, over_elements(chunk.rows(p) * task.head_dim), grad_q_kernel, p, chunk,
           task.head_dim, d_products, by_position, gradients.grad_q);
  if (gradients.grad_k)
    launch(stream, over_elements(key_numbers(p, task.head_dim)), grad_keys_kernel, p, chunk,
           task.head_dim, d_products, all, p.q, p.scale, arrays.k, gradients.grad_k);
  if (gradients.grad_v)
    launch(stream, over_elements(key_numbers(p, p.value_dim)), grad_keys_kernel, p, chunk,
           p.value_dim, probability, probability, gradients.grad_o, 1.0f, arrays.v,
           gradients.grad_v);
}

}  // namespace

ScoreGradBuffers::ScoreGradBuffers(const Stream& stream, const Task& task,
                                   const ScoreBuffers& scores, bool ssmax)
    : delta_(stream, row_count(task.problem)),
      logits_(stream, scores.scores()),
      products_(stream, scores.scores()),
      bias_(stream, is_dape(task) ? scores.scores() : 0),
      hidden_(stream, is_dape(task) ? scores.scores() / task.problem.heads * task.bias.hidden : 0),
      by_position_(stream, is_cope(task) ? scores.rows() * task.bias.positions : 0),
      k_(stream, key_numbers(task.problem, task.head_dim)),
      v_(stream, key_numbers(task.problem, task.problem.value_dim)),
      ssmax_(stream, ssmax ? row_count(task.problem) : 0),
      by_query_(stream, sums_increments(task) ? row_count(task.problem) : 0),
      sums_(stream, sums_increments(task) ? static_cast<std::size_t>(task.problem.batch) *
                                                task.problem.heads * task.problem.keys
                                          : 0),
      embedding_(stream, is_cope(task) ? static_cast<std::size_t>(task.problem.heads) *
                                             task.bias.positions * task.head_dim
                                       : 0),
      network_(stream, is_dape(task) ? dape_sums(dape_shape(task, {0, 1})) : 0),
      of_head_(stream, parameters_of_heads(task) * task.problem.heads * kScoreThreads),
      arrays_{delta_.data(),   logits_.data(),      products_.data(), bias_.data(),
              hidden_.data(),  by_position_.data(), ssmax_.data(),    by_query_.data(),
              sums_.data(),    k_.data(),           v_.data(),        embedding_.data(),
              network_.data(), of_head_.data()} {}

void unfused_backward(const Stream& stream, const Task& task, const ScoreBuffers& scores,
                      const ScoreGradArrays& arrays, const plumbline_gradients& gradients,
                      Gradient mode) {
  const Problem& p = task.problem;
  const ScoreArrays& of_chunk = scores.arrays();
  backward_delta(stream, task, gradients.o, gradients.grad_o, gradients.grad_lse, arrays.delta);
  for (RowChunk chunk{}; chunk.end() < p.queries;) {
    chunk = scores.chunk(task, chunk.end());
    unfused_logits(stream, task, chunk, {}, of_chunk);
    launch(stream, {dim3{static_cast<unsigned>(chunk.rows(p))}, dim3{kWarpSize}, 0},
           logits_grad_kernel, p, chunk, of_chunk, gradients.lse,
           static_cast<const float*>(arrays.delta), gradients.grad_o, arrays.logits,
           p.ssmax_scale ? arrays.ssmax : nullptr);
    (is_cope(task) ? cope_gradients : dape_gradients)(stream, task, chunk, of_chunk, arrays,
                                                      gradients, mode);
    products_gradients(stream, task, chunk, of_chunk, arrays, gradients);
  }
  if (p.ssmax_scale && gradients.grad_parameters[PLUMBLINE_SSMAX_SCALE])
    backward_reduce(stream, {arrays.ssmax, p.batch, p.heads, p.queries, 1, 0, 1, false},
                    gradients.grad_parameters[PLUMBLINE_SSMAX_SCALE], mode);
}

}  // namespace plumbline::gpu
