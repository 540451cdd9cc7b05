// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <stdexcept>

#include "attention/score_index.cuh"
#include "attention/score_methods.cuh"
#include "attention/unfused.cuh"
#include "bias/distance.cuh"
#include "bias/prefix.cuh"

namespace plumbline::gpu {

namespace {

/// One thread a score; also of keys that the query does not see, which DAPE's network reads.
__global__ void products_kernel(Problem p, RowChunk chunk, Cache cache, int head_dim,
                                float* products) {
  const std::size_t n = element_index();
  if (n >= chunk.rows(p) * p.keys) return;
  const ScoreRow at(p, chunk, n / p.keys);
  const std::size_t q = p.query_start(at.b, at.head, at.row, head_dim);
  const std::size_t k =
      cache.key_start(p, at.b, kv_head_of(p, at.head), static_cast<int>(n % p.keys), head_dim);
  float sum = 0.0f;
  for (int d = 0; d < head_dim; ++d)
    sum += load_element(p.q, p.format, q + d) * load_element(p.k, p.format, k + d);
  products[n] = p.scale * sum;
}

template <class Bias>
__global__ void bias_kernel(Problem p, RowChunk chunk, typename Bias::Params params, float* bias) {
  const std::size_t n = element_index();
  if (n >= chunk.rows(p) * p.keys) return;
  const ScoreRow row(p, chunk, n / p.keys);
  const At at = row.at();
  const int key = static_cast<int>(n % p.keys);
  bias[n] =
      Bias::value(params, at.head, Bias::load_row(params, at), Bias::load_key(params, at, key),
                  Bias::entry(params, at.head, at.position - key));
}

/// One thread a query row and a row of its head's table.
__global__ void by_position_kernel(Problem p, RowChunk chunk, int head_dim, int positions,
                                   const float* embedding, float* by_position) {
  const std::size_t n = element_index();
  if (n >= chunk.rows(p) * positions) return;
  const ScoreRow at(p, chunk, n / positions);
  const std::size_t q = p.query_start(at.b, at.head, at.row, head_dim);
  const float* of_row =
      embedding + (static_cast<std::size_t>(at.head) * positions + n % positions) * head_dim;
  float sum = 0.0f;
  for (int d = 0; d < head_dim; ++d) sum += load_element(p.q, p.format, q + d) * of_row[d];
  by_position[n] = sum;
}

std::size_t scores_of(const Problem& p, const RowChunk& chunk) { return chunk.rows(p) * p.keys; }

void add_bias(const Stream& stream, const Task& task, const RowChunk& chunk, float* bias) {
  const BiasInputs& inputs = task.bias;
  const auto run = [&]<class Family>(Family) {
    launch(stream, over_elements(scores_of(task.problem, chunk)), bias_kernel<Family>, task.problem,
           chunk, Family::params(inputs), bias);
  };
  if (methods::row(inputs.method).kind == methods::Kind::prefix_sums)
    run(Prefix());
  else
    run(Distance());
}

/// Of every sequence and head: as many rows as have `most_scores` scores, at least one.
std::size_t rows_at_once(const Task& task, std::size_t most_scores) {
  const Problem& p = task.problem;
  const int wide = task.bias.method == PLUMBLINE_COPE ? task.bias.positions : task.bias.hidden;
  const auto of_a_row =
      static_cast<std::size_t>(row_scores(task.bias.method, p.batch, p.heads, p.keys, wide));
  return std::clamp<std::size_t>(most_scores / of_a_row, 1, p.queries);
}

}  // namespace

CopeShape cope_shape(const Task& task, const RowChunk& chunk) {
  const Problem& p = task.problem;
  return {p.batch,
          p.heads,
          chunk.count,
          p.keys,
          p.mask.query_offset + chunk.first,
          task.bias.positions};
}

DapeShape dape_shape(const Task& task, const RowChunk& chunk) {
  const Problem& p = task.problem;
  const int taps = task.bias.dape_taps;
  if (taps == 0) throw std::invalid_argument("dape must be 1 or 2");
  return {p.batch,     p.heads, task.bias.hidden,
          chunk.count, p.keys,  p.mask.query_offset + chunk.first,
          taps,        taps > 1};
}

DapeLayers dape_layers(const Task& task) {
  const float* const* of = task.bias.parameters;
  return {of[PLUMBLINE_HIDDEN_WEIGHT], of[PLUMBLINE_HIDDEN_BIAS], of[PLUMBLINE_OUTPUT_WEIGHT],
          of[PLUMBLINE_OUTPUT_BIAS]};
}

ScoreBuffers::ScoreBuffers(const Stream& stream, const Task& task, std::size_t most_scores)
    : rows_(task.problem.batch * task.problem.heads * rows_at_once(task, most_scores)),
      scores_(rows_ * task.problem.keys),
      products_(stream, scores_),
      bias_(stream, task.bias.dape_taps > 0 ? scores_ : 0),
      hidden_(stream,
              task.bias.dape_taps > 0 ? scores_ / task.problem.heads * task.bias.hidden : 0),
      by_position_(stream, task.bias.method == PLUMBLINE_COPE ? rows_ * task.bias.positions : 0),
      counts_(stream, task.bias.method == PLUMBLINE_COPE ? scores_ : 0),
      logits_(stream, scores_),
      probability_(stream, scores_),
      row_sum_(stream, rows_),
      arrays_{products_.data(), bias_.data(),   hidden_.data(),      by_position_.data(),
              counts_.data(),   logits_.data(), probability_.data(), row_sum_.data()} {}

RowChunk ScoreBuffers::chunk(const Task& task, int first) const {
  const Problem& p = task.problem;
  const std::size_t heads = static_cast<std::size_t>(p.batch) * p.heads;
  const std::size_t fit = std::min(rows_ / heads, scores_ / heads / p.keys);
  return {first, static_cast<int>(std::min<std::size_t>(fit, p.queries - first))};
}

void unfused_logits(const Stream& stream, const Task& task, const RowChunk& chunk,
                    const Cache& cache, const ScoreArrays& scores) {
  const Problem& p = task.problem;
  launch(stream, over_elements(scores_of(p, chunk)), products_kernel, p, chunk, cache,
         task.head_dim, scores.products);
  if (task.bias.method == PLUMBLINE_COPE) {
    const int positions = task.bias.positions;
    launch(stream, over_elements(chunk.rows(p) * positions), by_position_kernel, p, chunk,
           task.head_dim, positions, task.bias.parameters[PLUMBLINE_POSITION_EMBEDDING],
           scores.by_position);
    cope_forward(stream, cope_shape(task, chunk), p.mask, scores.products, scores.by_position,
                 scores.counts, scores.logits);
    return;
  }
  add_bias(stream, task, chunk, scores.bias);
  dape_forward(stream, dape_shape(task, chunk), dape_layers(task), scores.products, scores.bias,
               scores.hidden, scores.logits);
}

}  // namespace plumbline::gpu
