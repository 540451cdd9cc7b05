// SPDX-License-Identifier: Apache-2.0
#include "attention/unfused_bias_grad.cuh"

#include "attention/score_index.cuh"
#include "attention/score_methods.cuh"
#include "bias/distance.cuh"
#include "bias/prefix.cuh"
#include "ops/prefix_sum.cuh"
#include "ops/reduce.cuh"

namespace plumbline::gpu {

namespace {

/// A block for each head: d p and d a.
__global__ void kerple_kernel(Problem p, RowChunk chunk, Distance::Params params,
                              const float* grad_bias, double* sums, float* grad_p, float* grad_a,
                              Gradient mode) {
  SharedMemory shared;
  auto* per_warp = shared.take<double>(kScoreThreads / kWarpSize);
  const int head = static_cast<int>(blockIdx.x);
  const auto kerple = Distance::form<KerpleLog>(params, head, 0);
  double& p_so_far = sums[static_cast<std::size_t>(head) * kScoreThreads + threadIdx.x];
  double& a_so_far = sums[(static_cast<std::size_t>(p.heads) + head) * kScoreThreads + threadIdx.x];
  double by_p = carried(chunk, p_so_far), by_a = carried(chunk, a_so_far);
  // All rows one after the other, of each all sequences.
  const std::size_t of_row = static_cast<std::size_t>(p.batch) * p.keys;
  const std::size_t end = chunk.end() * of_row;
  for (std::size_t n = first_of_thread(chunk.first * of_row, kScoreThreads); n < end;
       n += kScoreThreads) {
    const int row = static_cast<int>(n / of_row), b = static_cast<int>(n % of_row / p.keys);
    const int key = static_cast<int>(n % p.keys);
    float of[KerpleLog::kParameters];
    kerple.derivatives(static_cast<float>(row + p.mask.query_offset - key), of);
    const double grad = grad_bias[chunk.index(p, b, head, row) * p.keys + key];
    by_p += grad * of[0];
    by_a += grad * of[1];
  }
  p_so_far = by_p;
  a_so_far = by_a;
  if (!chunk.is_last(p)) return;
  by_p = block_reduce(by_p, per_warp, Plus());
  by_a = block_reduce(by_a, per_warp, Plus());
  if (threadIdx.x != 0) return;
  const auto store = [&](float* gradient, double sum) {
    if (!gradient) return;
    if (mode == Gradient::accumulate) sum += gradient[head];
    gradient[head] = static_cast<float>(sum);
  };
  store(grad_p, by_p);
  store(grad_a, by_a);
}

/// A warp for each query row: the gain, and dS of the query.
__global__ void query_kernel(Problem p, RowChunk chunk, Prefix::Params params,
                             const float* grad_bias, float* gain, double* by_query) {
  const std::size_t n = blockIdx.x;
  const ScoreRow row_at(p, chunk, n);
  const At at = row_at.at();
  const Prefix::Row row = Prefix::load_row(params, at);
  double by_gain = 0.0, by_difference = 0.0;
  for (unsigned key = lane_index(); key < static_cast<unsigned>(p.keys); key += kWarpSize) {
    const auto of =
        Prefix::derivatives(params, row, Prefix::load_key(params, at, static_cast<int>(key)));
    const double grad = grad_bias[n * p.keys + key];
    by_gain += grad * of.gain;
    by_difference += grad * of.difference;
  }
  by_gain = warp_sum(by_gain);
  by_difference = warp_sum(by_difference);
  if (lane_index() != 0) return;
  const std::size_t to = p.row_index(row_at.b, row_at.head, row_at.row);
  if (gain) gain[to] = static_cast<float>(by_gain);
  by_query[to] = by_difference;
}

/// A thread for each key: dS, as a key of all queries and as the query at its position.
__global__ void key_kernel(Problem p, RowChunk chunk, Prefix::Params params, const float* grad_bias,
                           const double* by_query, double* sums) {
  const std::size_t n = element_index();
  if (n >= static_cast<std::size_t>(p.batch) * p.heads * p.keys) return;
  const int key = static_cast<int>(n % p.keys);
  const int head = static_cast<int>(n / p.keys % p.heads);
  const int b = static_cast<int>(n / p.keys / p.heads);
  double sum = carried(chunk, sums[n]);
  for (int row = chunk.first; row < chunk.end(); ++row) {
    const At at{b, head, row, row + p.mask.query_offset};
    const auto of = Prefix::derivatives(params, Prefix::load_row(params, at),
                                        Prefix::load_key(params, at, key));
    sum -=
        static_cast<double>(grad_bias[chunk.index(p, b, head, row) * p.keys + key]) * of.difference;
  }
  const int own_row = key - p.mask.query_offset;
  if (chunk.is_last(p) && own_row >= 0 && own_row < p.queries)
    sum += by_query[p.row_index(b, head, own_row)];
  sums[n] = sum;
}

}  // namespace

void unfused_bias_grad(const Stream& stream, const Task& task, const RowChunk& chunk,
                       const ScoreGradArrays& arrays, float* const* parameters, Gradient mode) {
  const Problem& p = task.problem;
  const BiasInputs& inputs = task.bias;
  const float* grad_bias = arrays.bias;
  if (inputs.method == PLUMBLINE_KERPLE_LOG)
    launch(stream,
           {dim3{static_cast<unsigned>(p.heads)}, dim3{kScoreThreads},
            shared_bytes<double>(kScoreThreads / kWarpSize)},
           kerple_kernel, p, chunk, Distance::params(inputs), grad_bias, arrays.of_head,
           parameters[PLUMBLINE_P], parameters[PLUMBLINE_A], mode);
  if (inputs.method != PLUMBLINE_CABLE) return;
  const std::size_t keys = static_cast<std::size_t>(p.batch) * p.heads * p.keys;
  const auto params = Prefix::params(inputs);
  launch(stream, {dim3{static_cast<unsigned>(chunk.rows(p))}, dim3{kWarpSize}, 0}, query_kernel, p,
         chunk, params, grad_bias, parameters[PLUMBLINE_GAIN], arrays.by_query);
  float* gradient = parameters[PLUMBLINE_INCREMENTS];
  if (!gradient) return;
  launch(stream, over_elements(keys), key_kernel, p, chunk, params, grad_bias,
         static_cast<const double*>(arrays.by_query), arrays.sums);
  if (!chunk.is_last(p)) return;
  prefix_sum_grad(stream, static_cast<const double*>(arrays.sums), gradient, p.batch * p.heads,
                  p.keys);
}

}  // namespace plumbline::gpu
