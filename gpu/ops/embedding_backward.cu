// SPDX-License-Identifier: Apache-2.0
#include "core/bfloat16.cuh"
#include "core/float16.cuh"
#include "ops/embedding.cuh"
#include "ops/embedding_checks.cuh"
#include "ops/sort_ids.cuh"

namespace plumbline::gpu {

namespace {

constexpr int kEmbeddingGradThreads = 128;  // columns of a block

/// The tokens in the order of their ids.
struct SortedTokens {
  const int* ids;
  const int* order;
  int count;

  /// The id at place n of the order, or -1 beyond either end.
  __device__ int id(int n) const { return n < 0 || n >= count ? -1 : ids[order[n]]; }
};

/// Sums of runs' parts of ids that other runs have tokens of, too: of the run's first id, when that
/// began before it, and of its last one, when that goes on after it. Both [runs, C].
struct Partial {
  float *first, *last;
};

__global__ void zero_kernel(float* values, std::size_t count) {
  const std::size_t n = static_cast<std::size_t>(blockIdx.x) * kEmbeddingGradThreads + threadIdx.x;
  if (n < count) values[n] = 0.0f;
}

/// Block (run, tile of columns): sums the run's tokens id by id. Ids that lie within the run are
/// finished: no other block writes their rows.
template <class Element>
__global__ void sum_runs_kernel(SortedTokens tokens, const Element* grad_x, int width,
                                float* grad_table, Partial partial) {
  const int run = static_cast<int>(blockIdx.x);
  const int c =
      static_cast<int>(blockIdx.y) * kEmbeddingGradThreads + static_cast<int>(threadIdx.x);
  if (c >= width) return;
  const int begin = run * kEmbeddingRun, end = min(tokens.count, begin + kEmbeddingRun);
  const int before = tokens.id(begin - 1), after = tokens.id(end);
  float sum = 0.0f;
  bool is_first = true;
  for (int n = begin; n < end; ++n) {
    const int token = tokens.order[n], id = tokens.ids[token];
    sum += to_float(grad_x[static_cast<std::size_t>(token) * width + c]);
    if (n + 1 < end && tokens.id(n + 1) == id) continue;
    const bool goes_on = n + 1 == end && after == id;
    if (is_first && before == id)
      partial.first[static_cast<std::size_t>(run) * width + c] = sum;
    else if (goes_on)
      partial.last[static_cast<std::size_t>(run) * width + c] = sum;
    else
      grad_table[static_cast<std::size_t>(id) * width + c] += sum;
    sum = 0.0f;
    is_first = false;
  }
}

/// Block (run, tile of columns): where an id begins in the run and goes on after it, its parts are
/// summed, run after run.
__global__ void join_runs_kernel(SortedTokens tokens, int width, float* grad_table,
                                 Partial partial) {
  const int run = static_cast<int>(blockIdx.x);
  const int c =
      static_cast<int>(blockIdx.y) * kEmbeddingGradThreads + static_cast<int>(threadIdx.x);
  const int begin = run * kEmbeddingRun, end = min(tokens.count, begin + kEmbeddingRun);
  const int id = tokens.id(end - 1);
  const bool began_before = tokens.id(begin) == id && tokens.id(begin - 1) == id;
  if (c >= width || tokens.id(end) != id || began_before) return;
  float sum = partial.last[static_cast<std::size_t>(run) * width + c];
  for (int next = run + 1; tokens.id(next * kEmbeddingRun) == id; ++next)
    sum += partial.first[static_cast<std::size_t>(next) * width + c];
  grad_table[static_cast<std::size_t>(id) * width + c] += sum;
}

/// d position_(t + offset) += sum over the batch. Block (t, tile of columns).
template <class Element>
__global__ void sum_batch_kernel(TokenBatch tokens, const Element* grad_x, int width,
                                 float* grad_table) {
  const int t = static_cast<int>(blockIdx.x);
  const int c =
      static_cast<int>(blockIdx.y) * kEmbeddingGradThreads + static_cast<int>(threadIdx.x);
  if (c >= width) return;
  float sum = 0.0f;
  for (int b = 0; b < tokens.batch; ++b)
    sum += to_float(grad_x[(static_cast<std::size_t>(b) * tokens.length + t) * width + c]);
  grad_table[static_cast<std::size_t>(t + tokens.position_offset) * width + c] += sum;
}

void zero(const Stream& stream, const Table<float>& table, int width) {
  const std::size_t count = static_cast<std::size_t>(table.rows) * width;
  launch(stream,
         {dim3{static_cast<unsigned>((count - 1) / kEmbeddingGradThreads + 1)},
          dim3{kEmbeddingGradThreads}},
         zero_kernel, table.values, count);
}

int run_count(int tokens) { return (tokens - 1) / kEmbeddingRun + 1; }

template <class Element>
void add_rows(const Stream& stream, const Table<float>& grad, const int* ids, int count, int width,
              const Element* grad_x, int* ints, float* floats) {
  const auto runs = static_cast<unsigned>(run_count(count));
  const auto tiles = static_cast<unsigned>((width - 1) / kEmbeddingGradThreads + 1);
  const Partial partial{floats, floats + static_cast<std::size_t>(runs) * width};
  sort_ids(stream, ids, count, grad.rows, ints, ints + count);
  const SortedTokens tokens{ids, ints, count};
  launch(stream, {dim3{runs, tiles}, dim3{kEmbeddingGradThreads}}, sum_runs_kernel<Element>, tokens,
         grad_x, width, grad.values, partial);
  launch(stream, {dim3{runs, tiles}, dim3{kEmbeddingGradThreads}}, join_runs_kernel, tokens, width,
         grad.values, partial);
}

}  // namespace

EmbeddingWorkspace embedding_workspace(int tokens, int width) {
  require(tokens >= 1, "tokens", tokens, "at least 1");
  require(width >= 1, "width", width, "at least 1");
  return {std::size_t{2} * tokens, std::size_t{2} * run_count(tokens) * width};
}

template <class Element>
void embedding_backward(const Stream& stream, const EmbeddingTables<float>& grads,
                        const TokenBatch& tokens, const Element* grad_x, Gradient mode, int* ints,
                        float* floats) {
  check_embedding(stream, grads, tokens);
  const int count = tokens.batch * tokens.length, width = grads.width;
  if (mode == Gradient::overwrite)
    for (const auto* grad : {&grads.word, &grads.position, &grads.type})
      if (grad->rows > 0) zero(stream, *grad, width);
  add_rows(stream, grads.word, tokens.ids, count, width, grad_x, ints, floats);
  if (grads.type.rows > 0)
    add_rows(stream, grads.type, tokens.types, count, width, grad_x, ints, floats);
  if (grads.position.rows > 0) {
    const auto tiles = static_cast<unsigned>((width - 1) / kEmbeddingGradThreads + 1);
    launch(stream, {dim3{static_cast<unsigned>(tokens.length), tiles}, dim3{kEmbeddingGradThreads}},
           sum_batch_kernel<Element>, tokens, grad_x, width, grads.position.values);
  }
}

#define PLUMBLINE_INSTANTIATE(E)                                                 \
  template void embedding_backward(const Stream&, const EmbeddingTables<float>&, \
                                   const TokenBatch&, const E*, Gradient, int*, float*);
PLUMBLINE_INSTANTIATE(float)
PLUMBLINE_INSTANTIATE(bfloat16)
PLUMBLINE_INSTANTIATE(float16)
#undef PLUMBLINE_INSTANTIATE

}  // namespace plumbline::gpu
