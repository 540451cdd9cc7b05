// SPDX-License-Identifier: Apache-2.0
#include <stdexcept>

#include "attention/score_index.cuh"
#include "attention/score_methods.cuh"
#include "attention/unfused.cuh"
#include "bias/distance.cuh"
#include "bias/prefix.cuh"

namespace plumbline::gpu {

namespace {

std::size_t scores_of(const Problem& p) { return row_count(p) * p.keys; }

/// One thread a score; also of keys that the query does not see, which DAPE's network reads.
__global__ void products_kernel(Problem p, Cache cache, int head_dim, float* products) {
  const std::size_t n = element_index();
  if (n >= row_count(p) * p.keys) return;
  const ScoreRow at(p, n / p.keys);
  const std::size_t q = p.query_start(at.b, at.head, at.row, head_dim);
  const std::size_t k =
      cache.key_start(p, at.b, kv_head_of(p, at.head), static_cast<int>(n % p.keys), head_dim);
  float sum = 0.0f;
  for (int d = 0; d < head_dim; ++d)
    sum += load_element(p.q, p.format, q + d) * load_element(p.k, p.format, k + d);
  products[n] = p.scale * sum;
}

template <class Bias>
__global__ void bias_kernel(Problem p, typename Bias::Params params, float* bias) {
  const std::size_t n = element_index();
  if (n >= row_count(p) * p.keys) return;
  const ScoreRow row(p, n / p.keys);
  const At at = row.at();
  const int key = static_cast<int>(n % p.keys);
  bias[n] =
      Bias::value(params, at.head, Bias::load_row(params, at), Bias::load_key(params, at, key),
                  Bias::entry(params, at.head, at.position - key));
}

/// One thread a query row and a row of its head's table.
__global__ void by_position_kernel(Problem p, int head_dim, int positions, const float* embedding,
                                   float* by_position) {
  const std::size_t n = element_index();
  if (n >= row_count(p) * positions) return;
  const ScoreRow at(p, n / positions);
  const std::size_t q = p.query_start(at.b, at.head, at.row, head_dim);
  const float* of_row =
      embedding + (static_cast<std::size_t>(at.head) * positions + n % positions) * head_dim;
  float sum = 0.0f;
  for (int d = 0; d < head_dim; ++d) sum += load_element(p.q, p.format, q + d) * of_row[d];
  by_position[n] = sum;
}

void add_bias(const Stream& stream, const Task& task, float* bias) {
  BiasInputs inputs = task.bias;
  inputs.method = additive_part(inputs.method);
  const auto run = [&]<class Family>(Family) {
    launch(stream, over_elements(scores_of(task.problem)), bias_kernel<Family>, task.problem,
           Family::params(inputs), bias);
  };
  if (inputs.method == PLUMBLINE_CABLE)
    run(Prefix());
  else
    run(Distance());
}

}  // namespace

CopeShape cope_shape(const Task& task) {
  const Problem& p = task.problem;
  return {p.batch, p.heads, p.queries, p.keys, p.query_offset, task.bias.positions};
}

DapeShape dape_shape(const Task& task) {
  const Problem& p = task.problem;
  const int taps = dape_taps(task.bias.method);
  if (taps == 0) throw std::invalid_argument("bias must be a method with DAPE");
  return {p.batch, p.heads, task.bias.hidden, p.queries, p.keys, p.query_offset, taps, taps > 1};
}

DapeLayers dape_layers(const Task& task) {
  const float* const* of = task.bias.parameters;
  return {of[PLUMBLINE_HIDDEN_WEIGHT], of[PLUMBLINE_HIDDEN_BIAS], of[PLUMBLINE_OUTPUT_WEIGHT],
          of[PLUMBLINE_OUTPUT_BIAS]};
}

ScoreBuffers::ScoreBuffers(const Stream& stream, const Task& task)
    : products_(stream, scores_of(task.problem)),
      bias_(stream, dape_taps(task.bias.method) > 0 ? scores_of(task.problem) : 0),
      hidden_(stream, dape_taps(task.bias.method) > 0
                          ? scores_of(task.problem) / task.problem.heads * task.bias.hidden
                          : 0),
      by_position_(stream, task.bias.method == PLUMBLINE_COPE
                               ? row_count(task.problem) * task.bias.positions
                               : 0),
      counts_(stream, task.bias.method == PLUMBLINE_COPE ? scores_of(task.problem) : 0),
      logits_(stream, scores_of(task.problem)),
      probability_(stream, scores_of(task.problem)),
      row_sum_(stream, row_count(task.problem)),
      arrays_{products_.data(), bias_.data(),   hidden_.data(),      by_position_.data(),
              counts_.data(),   logits_.data(), probability_.data(), row_sum_.data()} {}

void unfused_logits(const Stream& stream, const Task& task, const Cache& cache,
                    const ScoreArrays& scores) {
  const Problem& p = task.problem;
  launch(stream, over_elements(scores_of(p)), products_kernel, p, cache, task.head_dim,
         scores.products);
  if (task.bias.method == PLUMBLINE_COPE) {
    const int positions = task.bias.positions;
    launch(stream, over_elements(row_count(p) * positions), by_position_kernel, p, task.head_dim,
           positions, task.bias.parameters[PLUMBLINE_POSITION_EMBEDDING], scores.by_position);
    cope_forward(stream, cope_shape(task), p.mask, scores.products, scores.by_position,
                 scores.counts, scores.logits);
    return;
  }
  add_bias(stream, task, scores.bias);
  dape_forward(stream, dape_shape(task), dape_layers(task), scores.products, scores.bias,
               scores.hidden, scores.logits);
}

}  // namespace plumbline::gpu
