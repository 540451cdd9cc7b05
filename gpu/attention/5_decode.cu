// SPDX-License-Identifier: Apache-2.0
#include "attention/5_decode.cuh"

namespace plumbline::gpu {

namespace decode {

/// A block for each row, a thread for each column. The maxima are merged as they are, not through
/// rounded logarithms of the sums: the split with the largest keeps its weights exactly.
static __global__ void merge_kernel(Problem problem, Partials partials, Outputs outputs) {
  const std::size_t row = blockIdx.x, first = row * partials.splits;
  const auto d = static_cast<std::size_t>(threadIdx.x);
  const std::size_t value_dim = blockDim.x;
  float maximum = -INFINITY;
  for (int split = 0; split < partials.splits; ++split)
    maximum = fmaxf(maximum, partials.maximum[first + split]);
  const float shift = finite_shift(maximum);
  float sum = 0.0f, o = 0.0f;
  for (int split = 0; split < partials.splits; ++split) {
    const std::size_t at = first + split;
    const float weight = expf(partials.maximum[at] - shift);  // 0 where no key was seen
    sum += weight * partials.sum[at];
    o += weight * partials.o[at * value_dim + d];
  }
  const bool empty = sum == 0.0f;
  const auto of_head = static_cast<int>(row % problem.queries);
  const auto head = static_cast<int>(row / problem.queries % problem.heads);
  const auto b = static_cast<int>(row / problem.queries / problem.heads);
  store_element(outputs.o, problem.format, problem.o_rows.start(b, head, of_head) + d,
                empty ? 0.0f : o / sum);
  if (d == 0) outputs.lse[row] = empty ? -INFINITY : maximum + logf(sum);
}

}  // namespace decode

void split_kv_decode(const Stream& stream, const Task& task, const Cache& cache,
                     const Partials& partials, const Outputs& outputs) {
  const Problem& problem = task.problem;
  dispatch<decode::Split>(stream, task, cache, partials);
  const auto rows = static_cast<unsigned>(problem.batch * problem.heads * problem.queries);
  launch(stream, {dim3{rows}, dim3{static_cast<unsigned>(problem.value_dim)}, 0},
         decode::merge_kernel, problem, partials, outputs);
}

}  // namespace plumbline::gpu
