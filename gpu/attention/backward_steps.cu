// SPDX-License-Identifier: Apache-2.0
#include "attention/backward_kernels.cuh"
#include "ops/reduce.cuh"

namespace plumbline::gpu {

namespace {

constexpr int kStepThreads = 128;

unsigned blocks(std::size_t count) {
  return static_cast<unsigned>((count + kStepThreads - 1) / kStepThreads);
}

__device__ std::size_t global_thread() {
  return static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
}

/// One thread a query row.
__global__ void delta_kernel(Problem p, std::size_t rows, const void* o, const void* grad_o,
                             const float* grad_lse, float* delta) {
  const std::size_t n = global_thread();
  if (n >= rows) return;
  const auto row = static_cast<int>(n % p.queries);
  const auto head = static_cast<int>(n / p.queries % p.heads);
  const auto b = static_cast<int>(n / p.queries / p.heads);
  const bool sees = p.sees_any({b, head, row, row + p.first_position(b)});
  const std::size_t start = p.o_rows.start(b, head, row);
  double sum = 0.0;
  if (sees)  // else o = 0, and dO may be anything
    for (std::size_t d = start; d < start + p.value_dim; ++d)
      sum += static_cast<double>(load_element(o, p.output_format, d)) *
             load_element(grad_o, p.format, d);
  if (grad_lse && (sees || (p.sinks && p.lse_rows.has(b, row))))
    sum -= static_cast<double>(p.lse_scale) * grad_lse[p.lse_rows.start(b, head, row)];
  delta[n] = static_cast<float>(sum);
}

/// The rows of a gradient: `width` numbers each of head_dim.
struct GradientRows {
  RowPlaces to;
  int rows, heads, width, head_dim;  // rows of a head
  Rotation rotation;                 // of no components for dV
  Mask mask;
  bool of_queries;
};

/// One thread a component.
__global__ void store_kernel(Format format, GradientRows at, std::size_t count,
                             const float* gradient, void* stored) {
  const std::size_t n = global_thread();
  if (n >= count) return;
  const auto d = static_cast<int>(n % at.width);
  const std::size_t row = n / at.width;
  const auto of_head = static_cast<int>(row % at.rows);
  const auto head = static_cast<int>(row / at.rows % at.heads);
  const auto b = static_cast<int>(row / at.rows / at.heads);
  if (!at.to.has(b, of_head)) return;
  float x = gradient[row * at.head_dim + d];
  if (d < at.rotation.dim) {
    const RotatedComponent of(at.rotation, d);
    const int position = of_head + (at.of_queries ? first_position(at.mask, b) : 0);
    const std::size_t angle = of.angle(at.rotation, position);
    const float other = gradient[row * at.head_dim + of.other], sine = at.rotation.sine[angle];
    x = x * at.rotation.cosine[angle] + other * (of.first ? sine : -sine);
  }
  store_element(stored, format, at.to.start(b, head, of_head) + d, x);
}

/// One thread a parameter.
__global__ void reduce_kernel(HeadPartial from, int outputs, float* grad, Gradient mode) {
  const auto n = static_cast<int>(global_thread());
  if (n >= outputs) return;
  const int own_head = n / from.count, row = from.first + n % from.count;
  const int first_head = from.shared_by_heads ? 0 : own_head;
  const int last_head = from.shared_by_heads ? from.heads - 1 : own_head;
  double sum = 0.0;
  for (int b = 0; b < from.batch; ++b)
    for (int head = first_head; head <= last_head; ++head)
      for (int tile = 0; tile < from.tiles; ++tile)
        sum +=
            from.partial[((static_cast<std::size_t>(b) * from.heads + head) * from.tiles + tile) *
                             from.stride +
                         row];
  if (mode == Gradient::accumulate) sum += grad[n];
  grad[n] = static_cast<float>(sum);
}

/// One thread a number of the tensor.
__global__ void reduce_pairs_kernel(Problem p, PairsShape shape, std::size_t outputs,
                                    const float* pairs, float* grad, Gradient mode) {
  const std::size_t n = global_thread();
  if (n >= outputs) return;
  const auto key = static_cast<int>(n % p.keys);
  const auto row = static_cast<int>(n / p.keys % shape.queries);
  const auto head = static_cast<int>(n / p.keys / shape.queries % shape.heads);
  const auto b = static_cast<int>(n / p.keys / shape.queries / shape.heads);
  double sum = 0.0;
  for (int of_b = b; of_b < p.batch; of_b += shape.batch)
    for (int of_head = head; of_head < p.heads; of_head += shape.heads)
      for (int of_row = row; of_row < p.queries; of_row += shape.queries)
        sum += pairs[p.row_index(of_b, of_head, of_row) * p.keys + key];
  if (mode == Gradient::accumulate) sum += grad[n];
  grad[n] = static_cast<float>(sum);
}

/// One block a head.
__global__ void sinks_kernel(Problem p, const float* lse, const float* delta, float* grad,
                             Gradient mode) {
  SharedMemory shared;
  auto* per_warp = shared.take<double>(kStepThreads / kWarpSize);
  const auto head = static_cast<int>(blockIdx.x);
  double sum = 0.0;
  const std::size_t rows = static_cast<std::size_t>(p.batch) * p.queries;
  for (std::size_t n = threadIdx.x; n < rows; n += kStepThreads) {
    const auto b = static_cast<int>(n / p.queries), query = static_cast<int>(n % p.queries);
    if (!p.lse_rows.has(b, query)) continue;
    sum -= static_cast<double>(expf(p.sinks[head] - p.natural_lse(lse, b, head, query))) *
           delta[p.row_index(b, head, query)];
  }
  sum = block_reduce(sum, per_warp, Plus());
  if (threadIdx.x > 0) return;
  if (mode == Gradient::accumulate) sum += grad[head];
  grad[head] = static_cast<float>(sum);
}

}  // namespace

void backward_delta(const Stream& stream, const Task& task, const void* o, const void* grad_o,
                    const float* grad_lse, float* delta) {
  const Problem& p = task.problem;
  const std::size_t rows = static_cast<std::size_t>(p.batch) * p.heads * p.queries;
  launch(stream, {dim3{blocks(rows)}, dim3{kStepThreads}, 0}, delta_kernel, p, rows, o, grad_o,
         grad_lse, delta);
}

void backward_store(const Stream& stream, const Task& task, const float* gradient, void* stored,
                    RowsOf of) {
  const Problem& p = task.problem;
  const bool of_queries = of == RowsOf::queries;
  GradientRows at{p.k_rows,      p.keys,     p.kv_heads, task.head_dim,
                  task.head_dim, p.rotation, p.mask,     of_queries};
  if (of_queries) {
    at.to = p.q_rows;
    at.rows = p.queries;
    at.heads = p.heads;
  } else if (of == RowsOf::values) {
    at.to = p.v_rows;
    at.width = p.value_dim;
    at.rotation = {};
  }
  const std::size_t count = static_cast<std::size_t>(p.batch) * at.heads * at.rows * at.width;
  launch(stream, {dim3{blocks(count)}, dim3{kStepThreads}, 0}, store_kernel, p.output_format, at,
         count, gradient, stored);
}

void backward_reduce(const Stream& stream, const HeadPartial& from, float* grad, Gradient mode) {
  const int outputs = from.count * (from.shared_by_heads ? 1 : from.heads);
  launch(stream, {dim3{blocks(outputs)}, dim3{kStepThreads}, 0}, reduce_kernel, from, outputs, grad,
         mode);
}

void backward_sinks(const Stream& stream, const Task& task, const BackwardArrays& arrays,
                    float* grad, Gradient mode) {
  const Problem& p = task.problem;
  launch(stream,
         {dim3{static_cast<unsigned>(p.heads)}, dim3{kStepThreads},
          shared_bytes<double>(kStepThreads / kWarpSize)},
         sinks_kernel, p, arrays.lse, arrays.delta, grad, mode);
}

void backward_reduce_pairs(const Stream& stream, const Task& task, const float* pairs, float* grad,
                           Gradient mode) {
  const PairsShape& shape = task.bias.pairs;
  const std::size_t outputs =
      static_cast<std::size_t>(shape.batch) * shape.heads * shape.queries * task.problem.keys;
  launch(stream, {dim3{blocks(outputs)}, dim3{kStepThreads}, 0}, reduce_pairs_kernel, task.problem,
         shape, outputs, pairs, grad, mode);
}

}  // namespace plumbline::gpu
