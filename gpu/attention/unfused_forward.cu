// SPDX-License-Identifier: Apache-2.0
#include "attention/bias_tile.cuh"
#include "attention/score_index.cuh"
#include "attention/unfused.cuh"
#include "ops/reduce.cuh"

namespace plumbline::gpu {

namespace {

/// A warp for each query row: exp(s - max), its sum, and lse.
__global__ void softmax_kernel(Problem p, RowChunk chunk, ScoreArrays scores, float* lse) {
  const std::size_t n = blockIdx.x;
  const ScoreRow at(p, chunk, n);
  const int lane = static_cast<int>(lane_index());
  const KeyRange range = key_range(p.mask, at.b, at.position);
  const float factor = p.logit_factor(at.b, at.head, at.row);
  const float* logits = scores.logits + n * p.keys;
  float* probability = scores.probability + n * p.keys;
  const auto sees = [&](int key) { return visible(p.mask, range, at.b, at.position, key); };

  float maximum = -INFINITY;
  for (int key = lane; key < p.keys; key += kLanes)
    if (sees(key)) maximum = fmaxf(maximum, rounded_product(factor, logits[key]));
  maximum = warp_reduce(maximum, Larger());
  const float shift = finite_shift(maximum);

  float sum = 0.0f;
  for (int key = lane; key < p.keys; key += kLanes) {
    probability[key] = kInvisible;
    if (!sees(key)) continue;
    probability[key] = expf(rounded_product(factor, logits[key]) - shift);
    sum += probability[key];
  }
  sum = warp_sum(sum);
  if (lane != 0) return;
  scores.row_sum[n] = sum;
  lse[p.row_index(at.b, at.head, at.row)] = sum == 0.0f ? -INFINITY : maximum + logf(sum);
}

/// A thread for each number of o.
__global__ void output_kernel(Problem p, RowChunk chunk, Cache cache, ScoreArrays scores, void* o) {
  const std::size_t n = element_index();
  const int width = p.value_dim;
  if (n >= chunk.rows(p) * width) return;
  const std::size_t row = n / width;
  const int d = static_cast<int>(n % width);
  const ScoreRow at(p, chunk, row);
  const int kv_head = kv_head_of(p, at.head);
  float sum = 0.0f;
  for (int key = 0; key < p.keys; ++key) {
    const float weight = scores.probability[row * p.keys + key];
    if (weight == kInvisible) continue;
    sum += weight * load_element(p.v, p.format, cache.key_start(p, at.b, kv_head, key, width) + d);
  }
  const float total = scores.row_sum[row];
  store_element(o, p.format, p.query_start(at.b, at.head, at.row, width) + d,
                total == 0.0f ? 0.0f : sum / total);
}

}  // namespace

void unfused_forward(const Stream& stream, const Task& task, const Cache& cache,
                     const ScoreBuffers& scores, const Outputs& outputs) {
  const Problem& p = task.problem;
  const ScoreArrays& arrays = scores.arrays();
  for (RowChunk chunk{}; chunk.end() < p.queries;) {
    chunk = scores.chunk(task, chunk.end());
    unfused_logits(stream, task, chunk, cache, arrays);
    launch(stream, {dim3{static_cast<unsigned>(chunk.rows(p))}, dim3{kWarpSize}, 0}, softmax_kernel,
           p, chunk, arrays, outputs.lse);
    launch(stream, over_elements(chunk.rows(p) * p.value_dim), output_kernel, p, chunk, cache,
           arrays, outputs.o);
  }
}

}  // namespace plumbline::gpu
