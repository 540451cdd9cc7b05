// SPDX-License-Identifier: Apache-2.0
// Variant 1, naive: one thread computes one query row from global memory. It looks at every key
// once for the maximum of the logits and once more for each chunk of the output, recomputing the
// logit; nothing is stored between. The widths of q, k and v are whatever the problem says.
#ifndef PLUMBLINE_GPU_ATTENTION_1_NAIVE_CUH
#define PLUMBLINE_GPU_ATTENTION_1_NAIVE_CUH

#include "attention/dispatch.cuh"
#include "attention/variants.cuh"

namespace plumbline::gpu {

namespace naive {

inline constexpr int kThreads = 64;

/// Blocks that a multiprocessor shall hold: leaves 168 registers to a thread. Without it ptxas aims
/// for more blocks and spills.
inline constexpr int kBlocks = 6;

/// Columns of the output that a thread holds at once; more would not fit the registers.
inline constexpr int kChunk = 64;

/// In place of one that a kernel is compiled for.
inline constexpr int kAnyHeadDim = 0;

/// Scaled by nothing, rotated where the problem has RoPE.
__device__ inline float dot(const Problem& problem, int head_dim, std::size_t q, int position,
                            std::size_t k, int key) {
  float sum = 0.0f;
  for (int d = 0; d < head_dim; ++d) sum += problem.query(q, d, position) * problem.key(k, d, key);
  return sum;
}

/// Whether dropout keeps a pair.
__device__ inline bool is_kept(const Problem& problem, const At& at, int key) {
  const PairDropout& dropout = problem.dropout;
  const std::size_t pair = problem.pair_index(at, key);
  return dropout.generated ? dropout.generates(pair) : dropout.keeps(pair);
}

template <class Bias>
__global__ void __launch_bounds__(kThreads, kBlocks)
    forward_kernel(Problem problem, int head_dim, Outputs outputs, typename Bias::Params params) {
  const int row = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  const int head = static_cast<int>(blockIdx.y);
  const int b = static_cast<int>(blockIdx.z);
  if (row >= problem.queries || !problem.q_rows.has(b, row)) return;

  const int position = row + problem.first_position(b);
  const KeyRange range = key_range(problem.mask, b, position);
  const At at{b, head, row, position};
  const auto is_visible = [&](int key) { return problem.sees(range, at, key); };

  const std::size_t q = problem.q_rows.start(b, head, row);
  const std::size_t o = problem.o_rows.start(b, head, row);
  const int kv_head = problem.kv_head_of(head);
  const typename Bias::Row bias_row = Bias::load_row(params, at);
  const float factor = problem.logit_factor(b, head, row);
  const auto logit = [&](int key) {
    const std::size_t k = problem.k_rows.start(b, kv_head, key);
    const float score = dot(problem, head_dim, q, position, k, key);
    const float bias =
        Bias::value(params, head, bias_row, Bias::load_key(params, at, key),
                    Bias::entry(params, place_of_head<Bias>(params, b, head), position - key));
    return rounded_product(factor, problem.capped(problem.scale * score) + bias);
  };

  float maximum = problem.first_maximum(head);
  for (int key = range.begin; key < range.end; ++key)
    if (is_visible(key)) maximum = fmaxf(maximum, logit(key));
  const float shift = finite_shift(maximum);

  const float of_sink = problem.sinks ? expf(problem.sinks[head] - shift) : 0.0f;
  float sum = 0.0f;
  for (int column = 0; column < problem.value_dim; column += kChunk) {
    const int columns = min(kChunk, problem.value_dim - column);
    float output[kChunk] = {};
    sum = of_sink;
    for (int key = range.begin; key < range.end; ++key) {
      if (!is_visible(key)) continue;
      const float p = expf(logit(key) - shift);
      sum += p;
      if (!is_kept(problem, at, key)) continue;
      const float weight = problem.dropout.factor * p;
      const std::size_t v = problem.v_rows.start(b, kv_head, key) + column;
#pragma unroll
      for (int d = 0; d < kChunk; ++d)
        if (d < columns) output[d] += weight * load_element(problem.v, problem.format, v + d);
    }
#pragma unroll
    for (int d = 0; d < kChunk; ++d)
      if (d < columns)
        store_element(outputs.o, problem.output_format, o + column + d,
                      sum == 0.0f ? 0.0f : output[d] / sum);
  }
  outputs.lse[problem.lse_rows.start(b, head, row)] =
      sum == 0.0f ? -INFINITY : problem.lse_scale * (maximum + logf(sum));
}

/// One thread a query row.
inline LaunchShape shape(const Problem& problem,
                         std::source_location where = std::source_location::current()) {
  const dim3 grid{static_cast<unsigned>((problem.queries + kThreads - 1) / kThreads),
                  static_cast<unsigned>(problem.heads), static_cast<unsigned>(problem.batch)};
  return {grid, dim3{kThreads}, 0, where};
}

struct Variant {
  template <int, class Bias>
  static void run(const Stream& stream, const Task& task, const Outputs& outputs) {
    launch(stream, shape(task.problem), forward_kernel<Bias>, task.problem, task.head_dim, outputs,
           Bias::params(task.bias));
  }
};

}  // namespace naive

}  // namespace plumbline::gpu

#endif
