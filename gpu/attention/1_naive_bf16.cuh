// SPDX-License-Identifier: Apache-2.0
// Variant 1 as a framework's operations in bf16 would do it, one after another: scores, P and the
// sum of o are rounded to bf16, and e^s is taken without a maximum. So it is right for scores up to
// 64 alone, has NaN for a row that sees no key, and gives no lse: its contract says all of that.
#ifndef PLUMBLINE_GPU_ATTENTION_1_NAIVE_BF16_CUH
#define PLUMBLINE_GPU_ATTENTION_1_NAIVE_BF16_CUH

#include "attention/1_naive.cuh"
#include "core/bfloat16.cuh"

namespace plumbline::gpu {

namespace naive_bf16 {

/// Columns of the output that a thread holds at once, twice.
inline constexpr int kChunk = 32;

__device__ inline float rounded(float x) { return to_float(from_float<bfloat16>(x)); }

template <class Bias>
__global__ void __launch_bounds__(naive::kThreads, naive::kBlocks)
    forward_kernel(Problem problem, int head_dim, Outputs outputs, typename Bias::Params params) {
  const int row = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  const int head = static_cast<int>(blockIdx.y);
  const int b = static_cast<int>(blockIdx.z);
  if (row >= problem.queries || !problem.q_rows.has(b, row)) return;

  const int position = row + problem.first_position(b);
  const KeyRange range = key_range(problem.mask, b, position);
  const At at{b, head, row, position};
  const std::size_t q = problem.q_rows.start(b, head, row);
  const std::size_t o = problem.o_rows.start(b, head, row);
  const int kv_head = problem.kv_head_of(head);
  const typename Bias::Row bias_row = Bias::load_row(params, at);
  const float factor = problem.logit_factor(b, head, row);
  const auto exponential = [&](int key) {
    const std::size_t k = problem.k_rows.start(b, kv_head, key);
    const float product = rounded(naive::dot(problem, head_dim, q, position, k, key));
    const float bias =
        Bias::value(params, head, bias_row, Bias::load_key(params, at, key),
                    Bias::entry(params, place_of_head<Bias>(params, b, head), position - key));
    const float score = rounded(problem.capped(rounded(problem.scale * product)) + bias);
    return rounded(expf(rounded(factor * score)));
  };

  for (int column = 0; column < problem.value_dim; column += kChunk) {
    const int columns = min(kChunk, problem.value_dim - column);
    float output[kChunk] = {}, block[kChunk] = {};
    float sum = problem.sinks ? expf(problem.sinks[head]) : 0.0f;
    for (int key = range.begin; key < range.end; ++key) {
      if (problem.sees(range, at, key)) {
        const float p = exponential(key);
        sum += p;
        const bool is_kept = naive::is_kept(problem, at, key);
        const float weight = is_kept ? rounded(problem.dropout.factor * p) : 0.0f;
        const std::size_t v = problem.v_rows.start(b, kv_head, key) + column;
#pragma unroll
        for (int d = 0; d < kChunk; ++d)
          if (is_kept && d < columns)
            block[d] += weight * load_element(problem.v, problem.format, v + d);
      }
      if (key % kNaiveSumBlock < kNaiveSumBlock - 1 && key < range.end - 1) continue;
#pragma unroll
      for (int d = 0; d < kChunk; ++d) {
        output[d] = rounded(output[d] + rounded(block[d]));
        block[d] = 0.0f;
      }
    }
#pragma unroll
    for (int d = 0; d < kChunk; ++d)
      if (d < columns)
        store_element(outputs.o, problem.output_format, o + column + d, output[d] / sum);
  }
}

struct Variant {
  template <int, class Bias>
  static void run(const Stream& stream, const Task& task, const Outputs& outputs) {
    launch(stream, naive::shape(task.problem), forward_kernel<Bias>, task.problem, task.head_dim,
           outputs, Bias::params(task.bias));
  }
};

}  // namespace naive_bf16

}  // namespace plumbline::gpu

#endif
