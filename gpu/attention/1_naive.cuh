// SPDX-License-Identifier: Apache-2.0
// Rung 1, naive: one thread computes one query row from global memory. It looks at every key once
// for the maximum of the logits and once more for each chunk of the output, recomputing the logit;
// nothing is stored between.
#ifndef PLUMBLINE_GPU_ATTENTION_1_NAIVE_CUH
#define PLUMBLINE_GPU_ATTENTION_1_NAIVE_CUH

#include "attention/dispatch.cuh"
#include "attention/rungs.cuh"

namespace plumbline::gpu {

namespace naive {

inline constexpr int kThreads = 64;

/// Blocks that a multiprocessor shall hold: leaves 128 registers to a thread. Without it ptxas aims
/// for more blocks and spills.
inline constexpr int kBlocks = 8;

/// Columns of the output that a thread holds at once; more would not fit the registers.
template <int D>
inline constexpr int kChunk = D < 64 ? D : 64;

template <int D, class Element>
__device__ float dot(const Element* a, const Element* b) {
  float sum = 0.0f;
  for (int d = 0; d < D; ++d) sum += to_float(a[d]) * to_float(b[d]);
  return sum;
}

template <int D, class Element, class Bias>
__global__ void __launch_bounds__(kThreads, kBlocks)
    forward_kernel(Problem<Element> problem, typename Bias::Params params) {
  const int row = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  const int head = static_cast<int>(blockIdx.y);
  const int b = static_cast<int>(blockIdx.z);
  if (row >= problem.queries) return;

  const int position = row + problem.query_offset;
  const KeyRange range = key_range(problem.mask, b, position);
  const auto is_visible = [&](int key) { return visible(problem.mask, range, b, position, key); };

  const Element* q = problem.q + problem.query_start(b, head, row, D);
  At at{b, head, row, position, 0};
  const typename Bias::Row bias_row = Bias::load_row(params, at);
  const float factor = problem.logit_factor(b, head, row);
  const auto logit = [&](int key) {
    at.key = key;
    const float score = dot<D>(q, problem.k + problem.key_start(b, head, key, D));
    return rounded_product(factor, Bias::add(params, bias_row, problem.scale * score, at));
  };

  float maximum = -INFINITY;
  for (int key = range.begin; key < range.end; ++key)
    if (is_visible(key)) maximum = fmaxf(maximum, logit(key));
  const float shift = finite_shift(maximum);

  Element* o = problem.o + problem.query_start(b, head, row, D);
  float sum = 0.0f;
  for (int column = 0; column < D; column += kChunk<D>) {
    float output[kChunk<D>] = {};
    sum = 0.0f;
    for (int key = range.begin; key < range.end; ++key) {
      if (!is_visible(key)) continue;
      const float p = expf(logit(key) - shift);
      const Element* v = problem.v + problem.key_start(b, head, key, D) + column;
      sum += p;
#pragma unroll
      for (int d = 0; d < kChunk<D>; ++d) output[d] += p * to_float(v[d]);
    }
#pragma unroll
    for (int d = 0; d < kChunk<D>; ++d)
      o[column + d] = from_float<Element>(sum == 0.0f ? 0.0f : output[d] / sum);
  }
  problem.lse[problem.lse_index(b, head, row)] = sum == 0.0f ? -INFINITY : maximum + logf(sum);
}

struct Rung {
  template <int D, class Bias, class Element>
  static void run(const Stream& stream, const Forward<Element>& forward) {
    const Problem<Element>& problem = forward.problem;
    const dim3 grid{static_cast<unsigned>((problem.queries + kThreads - 1) / kThreads),
                    static_cast<unsigned>(problem.heads), static_cast<unsigned>(problem.batch)};
    launch(stream, {grid, dim3{kThreads}, 0}, forward_kernel<D, Element, Bias>, problem,
           Bias::params(forward.bias_inputs));
  }
};

}  // namespace naive

template <class Element>
void naive_forward(const Stream& stream, const Forward<Element>& forward) {
  dispatch<naive::Rung>(stream, forward);
}

}  // namespace plumbline::gpu

#endif
