// SPDX-License-Identifier: Apache-2.0
#include "core/bfloat16.cuh"
#include "core/float16.cuh"
#include "ops/chunked_cross_entropy.cuh"
#include "ops/embedding.cuh"
#include "ops/head_gate.cuh"
#include "ops/layernorm.cuh"
#include "ops/pooling.cuh"
#include "ops/prefix_sum.cuh"
#include "ops/rmsnorm.cuh"
#include "tests/gpu/ops_runner.hpp"

namespace plumbline::ops_runner {

namespace {

using namespace gpu;

// Around the rows of a block and of a chunk, and the columns of a warp.
constexpr RowShape kShapes[] = {{1, 1}, {5, 33}, {130, 64}};

template <class Element>
void run_norms() {
  for (const RowShape shape : kShapes) {
    const std::size_t count = static_cast<std::size_t>(shape.rows) * shape.width;
    const Array<Element> x(count), y(count), grad_x(count);
    const Array<float> gamma(shape.width), beta(shape.width), grad_gamma(shape.width);
    const Array<float> grad_beta(shape.width), mean(shape.rows), rstd(shape.rows);
    const Array<float> workspace(norm_workspace(shape));
    layernorm_forward<Element>(stream(), shape, x, gamma, beta, 1e-5f, y, mean, rstd);
    layernorm_backward<Element>(stream(), shape, x, gamma, mean, rstd, y, grad_x, grad_gamma,
                                grad_beta, Gradient::accumulate, workspace);
    rmsnorm_forward<Element>(stream(), shape, x, gamma, 1e-5f, y, rstd);
    rmsnorm_backward<Element>(stream(), shape, x, gamma, rstd, y, grad_x, grad_gamma,
                              Gradient::overwrite, workspace);
  }
}

template <class Element>
void run_embedding() {
  // The same word again and again, over three runs of 64; words that differ.
  for (const int words : {1, 40}) {
    constexpr int batch = 3, length = 50, width = 130, tokens = batch * length;
    const Array<float> word(words * width), position(length * width), type(2 * width);
    const Ids ids(tokens, words), types(tokens, 2);
    const Array<Element> x(tokens * width);
    const EmbeddingWorkspace workspace = embedding_workspace(tokens, width);
    const DeviceBuffer<int> ints(stream(), workspace.ints);
    const DeviceBuffer<float> floats(stream(), workspace.floats);
    const TokenBatch batch_of_tokens{ids, types, batch, length};
    embedding_forward<Element>(stream(), {{word, words}, {position, length}, {type, 2}, width},
                               batch_of_tokens, x);
    embedding_backward<Element>(stream(), {{word, words}, {position, length}, {type, 2}, width},
                                batch_of_tokens, x, Gradient::overwrite, ints.data(),
                                floats.data());
  }
}

template <class Element>
void run_cross_entropy() {
  for (const int vocabulary : {1, 300}) {
    const LogitShape shape{5, vocabulary, vocabulary + 3};
    const Array<Element> logits(2 * shape.stride);
    const Array<float> losses(shape.rows);
    const Ids targets(shape.rows, vocabulary);
    chunked_cross_entropy<Element>(stream(), shape, {targets}, {[](int, int, Element*) {}, {}}, 2,
                                   logits, losses);
  }
}

void run_prefix_sum() {
  for (const int length : {1, 1100}) {
    const Array<float> increments(2 * length);
    const DeviceBuffer<double> sums(stream(), 2 * length);
    prefix_sum(stream(), increments, sums.data(), 2, length);
    prefix_sum_grad(stream(), sums.data(), increments, 2, length);
  }
}

template <class Element>
void run_head_gate() {
  for (const HeadGateShape shape : {HeadGateShape{1, 1, 1, 1}, {2, 65, 40, 5}}) {
    const std::size_t rows = static_cast<std::size_t>(shape.batch) * shape.length;
    const Array<Element> x(rows * shape.width), grad_x(rows * shape.width);
    const Array<float> W(shape.heads * shape.width), b(shape.heads);
    const Array<float> grad_W(shape.heads * shape.width), grad_b(shape.heads);
    const Array<float> values(rows * shape.heads), grad_values(rows * shape.heads);
    const Array<float> workspace(head_gate_workspace(shape));
    for (const HeadGate gate : {HeadGate::increment, HeadGate::gain, HeadGate::log_forget}) {
      head_gate_forward<Element>(stream(), gate, shape, x, W, b, values);
      head_gate_backward<Element>(
          stream(), gate, shape, x, W, values, grad_values,
          {grad_x, Gradient::overwrite, grad_W, grad_b, Gradient::overwrite}, workspace);
    }
  }
}

template <class Element>
void run_pooling() {
  const std::vector<int> lengths{7, 1, 3};
  DeviceBuffer<int> tokens(stream(), lengths.size());
  tokens.copy_from_host(stream(), lengths.data(), 0, lengths.size());
  for (const Pooling pooling : {Pooling::mean, Pooling::cls})
    for (const int width : {33, 300}) {
      const PoolingShape shape{pooling, 3, 7, width};
      const Array<Element> x(3 * 7 * width), grad_x(3 * 7 * width);
      const Array<float> e(3 * width), grad_e(3 * width), norms(3);
      pooled_forward<Element>(stream(), shape, x, tokens.data(), e, norms);
      pooled_backward<Element>(stream(), shape, tokens.data(), e, norms, grad_e, grad_x);
    }
}

}  // namespace

std::vector<Operation> row_operations() {
  return {
      {"norms", [] { run_norms<float>(), run_norms<bfloat16>(), run_norms<float16>(); }},
      {"embedding",
       [] { run_embedding<float>(), run_embedding<bfloat16>(), run_embedding<float16>(); }},
      {"cross_entropy",
       [] {
         run_cross_entropy<float>(), run_cross_entropy<bfloat16>(), run_cross_entropy<float16>();
       }},
      {"pooling", [] { run_pooling<float>(), run_pooling<bfloat16>(), run_pooling<float16>(); }},
      {"prefix_sum", run_prefix_sum},
      {"head_gate",
       [] { run_head_gate<float>(), run_head_gate<bfloat16>(), run_head_gate<float16>(); }},
  };
}

}  // namespace plumbline::ops_runner
