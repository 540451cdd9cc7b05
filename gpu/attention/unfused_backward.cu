// SPDX-License-Identifier: Apache-2.0
#include "attention/backward_kernels.cuh"
#include "attention/bias_tile.cuh"
#include "attention/score_index.cuh"
#include "attention/score_methods.cuh"
#include "attention/unfused.cuh"
#include "attention/unfused_bias_grad.cuh"
#include "ops/reduce.cuh"

namespace plumbline::gpu {

namespace {

constexpr int kLanes = static_cast<int>(kWarpSize);

/// A warp for each query row: P = exp(s - lse), dz, and the row's part of SSMax's gradient.
__global__ void logits_grad_kernel(Problem p, int head_dim, ScoreArrays scores, const float* lse,
                                   const float* delta, const void* grad_o, float* dz,
                                   double* ssmax) {
  const std::size_t n = blockIdx.x;
  const ScoreRow at(p, n);
  const KeyRange range = key_range(p.mask, at.b, at.position);
  const float factor = p.logit_factor(at.b, at.head, at.row);
  double by_ssmax = 0.0;
  for (int key = static_cast<int>(lane_index()); key < p.keys; key += kLanes) {
    const std::size_t score = n * p.keys + key;
    scores.probability[score] = kInvisible;
    dz[score] = 0.0f;
    if (!visible(p.mask, range, at.b, at.position, key)) continue;
    const std::size_t v = p.key_start(at.b, at.head, key, head_dim);
    float dp = 0.0f;
    for (int d = 0; d < head_dim; ++d)
      dp += load_element(grad_o, p.format, n * head_dim + d) * load_element(p.v, p.format, v + d);
    const float z = scores.logits[score];
    const ScoreGrad grad = score_grad(z, factor, lse[n], dp, delta[n]);
    scores.probability[score] = grad.p;
    dz[score] = grad.dz;
    if (ssmax) by_ssmax += static_cast<double>(grad.ds) * z;
  }
  if (!ssmax) return;
  by_ssmax = warp_sum(by_ssmax);
  if (lane_index() == 0)
    ssmax[n] = range.end > range.begin ? by_ssmax * p.log_visible(at.b, at.row) : 0.0;
}

/// CoPE's share of dq: sum_n dz_n E_n.
struct ByPosition {
  const float *gradient, *embedding;  // null where the method has none
  int positions;
};

/// A thread for each number of dq = scale sum_j dA_j k_j + sum_n dz_n E_n.
__global__ void grad_q_kernel(Problem p, int head_dim, const float* grad_products,
                              ByPosition by_position, void* grad_q) {
  const std::size_t n = element_index();
  if (n >= row_count(p) * head_dim) return;
  const std::size_t row = n / head_dim;
  const int d = static_cast<int>(n % head_dim);
  const ScoreRow at(p, row);
  float sum = 0.0f;
  for (int key = 0; key < p.keys; ++key)
    sum += grad_products[row * p.keys + key] *
           load_element(p.k, p.format, p.key_start(at.b, at.head, key, head_dim) + d);
  sum *= p.scale;
  for (int m = 0; m < by_position.positions; ++m) {
    const std::size_t embedding = static_cast<std::size_t>(at.head) * by_position.positions + m;
    sum += by_position.gradient[row * by_position.positions + m] *
           by_position.embedding[embedding * head_dim + d];
  }
  store_element(grad_q, p.format, n, sum);
}

/// A thread for each number of a gradient like k: factor sum over the query heads and rows of
/// weight_ij x_i, leaving out what has a negative probability.
__global__ void grad_keys_kernel(Problem p, int head_dim, const float* weight,
                                 const float* probability, const void* x, float factor,
                                 void* gradient) {
  const std::size_t n = element_index();
  if (n >= static_cast<std::size_t>(p.batch) * p.kv_heads * p.keys * head_dim) return;
  const int d = static_cast<int>(n % head_dim);
  const std::size_t key_row = n / head_dim;
  const int key = static_cast<int>(key_row % p.keys);
  const int kv_head = static_cast<int>(key_row / p.keys % p.kv_heads);
  const int b = static_cast<int>(key_row / p.keys / p.kv_heads);
  const int group = p.heads / p.kv_heads;
  float sum = 0.0f;
  for (int head = kv_head * group; head < (kv_head + 1) * group; ++head) {
    for (int row = 0; row < p.queries; ++row) {
      const std::size_t score = p.lse_index(b, head, row) * p.keys + key;
      if (probability && probability[score] == kInvisible) continue;
      sum += weight[score] * load_element(x, p.format, p.query_start(b, head, row, head_dim) + d);
    }
  }
  store_element(gradient, p.format, n, factor * sum);
}

/// A thread for each number of CoPE's table: dE_n = sum dz_n q over sequences and rows.
__global__ void grad_embedding_kernel(Problem p, int head_dim, int positions,
                                      const float* grad_by_position, float* gradient,
                                      Gradient mode) {
  const std::size_t n = element_index();
  if (n >= static_cast<std::size_t>(p.heads) * positions * head_dim) return;
  const int d = static_cast<int>(n % head_dim);
  const std::size_t position = n / head_dim % positions;
  const int head = static_cast<int>(n / head_dim / positions);
  double sum = 0.0;
  for (int b = 0; b < p.batch; ++b)
    for (int row = 0; row < p.queries; ++row)
      sum +=
          static_cast<double>(grad_by_position[p.lse_index(b, head, row) * positions + position]) *
          load_element(p.q, p.format, p.query_start(b, head, row, head_dim) + d);
  if (mode == Gradient::accumulate) sum += gradient[n];
  gradient[n] = static_cast<float>(sum);
}

std::size_t scores_if(bool used, const Task& task) {
  return used ? row_count(task.problem) * task.problem.keys : 0;
}

bool is_dape(const Task& task) { return dape_taps(task.bias.method) > 0; }
bool is_cope(const Task& task) { return task.bias.method == PLUMBLINE_COPE; }
bool sums_increments(const Task& task) {
  return additive_part(task.bias.method) == PLUMBLINE_CABLE;
}

void dape_gradients(const Stream& stream, const Task& task, const ScoreArrays& scores,
                    const ScoreGradArrays& arrays, const plumbline_gradients& gradients,
                    Gradient mode) {
  float* const* of = gradients.grad_parameters;
  dape_backward(stream, dape_shape(task), dape_layers(task), scores.products, scores.bias,
                scores.hidden, arrays.logits,
                {arrays.products, arrays.bias, of[PLUMBLINE_HIDDEN_WEIGHT],
                 of[PLUMBLINE_HIDDEN_BIAS], of[PLUMBLINE_OUTPUT_WEIGHT], of[PLUMBLINE_OUTPUT_BIAS]},
                arrays.hidden, mode);
  unfused_bias_grad(stream, task, arrays, of, mode);
}

void cope_gradients(const Stream& stream, const Task& task, const ScoreArrays& scores,
                    const ScoreGradArrays& arrays, const plumbline_gradients& gradients,
                    Gradient mode) {
  const Problem& p = task.problem;
  const int positions = task.bias.positions;
  cope_backward(stream, cope_shape(task), scores.products, scores.by_position, scores.counts,
                arrays.logits, arrays.products, arrays.by_position);
  if (float* gradient = gradients.grad_parameters[PLUMBLINE_POSITION_EMBEDDING])
    launch(stream, over_elements(static_cast<std::size_t>(p.heads) * positions * task.head_dim),
           grad_embedding_kernel, p, task.head_dim, positions,
           static_cast<const float*>(arrays.by_position), gradient, mode);
}

}  // namespace

ScoreGradBuffers::ScoreGradBuffers(const Stream& stream, const Task& largest, bool ssmax)
    : delta_(stream, row_count(largest.problem)),
      logits_(stream, scores_if(true, largest)),
      products_(stream, scores_if(true, largest)),
      bias_(stream, scores_if(is_dape(largest), largest)),
      hidden_(stream,
              scores_if(is_dape(largest), largest) / largest.problem.heads * largest.bias.hidden),
      by_position_(stream,
                   is_cope(largest) ? row_count(largest.problem) * largest.bias.positions : 0),
      ssmax_(stream, ssmax ? row_count(largest.problem) : 0),
      by_query_(stream, sums_increments(largest) ? row_count(largest.problem) : 0),
      sums_(stream, sums_increments(largest) ? static_cast<std::size_t>(largest.problem.batch) *
                                                   largest.problem.heads * largest.problem.keys
                                             : 0),
      arrays_{delta_.data(),       logits_.data(), products_.data(), bias_.data(), hidden_.data(),
              by_position_.data(), ssmax_.data(),  by_query_.data(), sums_.data()} {}

void unfused_backward(const Stream& stream, const Task& task, const ScoreArrays& scores,
                      const ScoreGradArrays& arrays, const plumbline_gradients& gradients,
                      Gradient mode) {
  const Problem& p = task.problem;
  const std::size_t rows = row_count(p);
  unfused_logits(stream, task, {}, scores);
  backward_delta(stream, task, gradients.o, gradients.grad_o, arrays.delta);
  launch(stream, {dim3{static_cast<unsigned>(rows)}, dim3{kWarpSize}, 0}, logits_grad_kernel, p,
         task.head_dim, scores, gradients.lse, static_cast<const float*>(arrays.delta),
         gradients.grad_o, arrays.logits, p.ssmax_scale ? arrays.ssmax : nullptr);
  if (p.ssmax_scale && gradients.grad_parameters[PLUMBLINE_SSMAX_SCALE])
    backward_reduce(stream, {arrays.ssmax, p.batch, p.heads, p.queries, 1, 0, 1, false},
                    gradients.grad_parameters[PLUMBLINE_SSMAX_SCALE], mode);
  (is_cope(task) ? cope_gradients : dape_gradients)(stream, task, scores, arrays, gradients, mode);

  const ByPosition by_position{arrays.by_position,
                               task.bias.parameters[PLUMBLINE_POSITION_EMBEDDING],
                               is_cope(task) ? task.bias.positions : 0};
  const std::size_t keys = static_cast<std::size_t>(p.batch) * p.kv_heads * p.keys * task.head_dim;
  const float *d_products = arrays.products, *probability = scores.probability, *all = nullptr;
  if (gradients.grad_q)
    launch(stream, over_elements(rows * task.head_dim), grad_q_kernel, p, task.head_dim, d_products,
           by_position, gradients.grad_q);
  if (gradients.grad_k)
    launch(stream, over_elements(keys), grad_keys_kernel, p, task.head_dim, d_products, all, p.q,
           p.scale, gradients.grad_k);
  if (gradients.grad_v)
    launch(stream, over_elements(keys), grad_keys_kernel, p, task.head_dim, probability,
           probability, gradients.grad_o, 1.0f, gradients.grad_v);
}

}  // namespace plumbline::gpu
