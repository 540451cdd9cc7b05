// SPDX-License-Identifier: Apache-2.0
#include "core/bfloat16.cuh"
#include "core/float16.cuh"
#include "ops/embedding.cuh"
#include "ops/embedding_checks.cuh"

namespace plumbline::gpu {

namespace {

constexpr int kEmbeddingThreads = 128;

/// A block a token.
template <class Element>
__global__ void embedding_forward_kernel(EmbeddingTables<const float> tables, TokenBatch tokens,
                                         Element* x) {
  const std::size_t token = blockIdx.x, width = tables.width;
  const int first = tokens.first_position ? *tokens.first_position : tokens.position_offset;
  const int t = static_cast<int>(token) % tokens.length + first;
  const float* word = tables.word.values + tokens.ids[token] * width;
  const float* position = tables.position.rows > 0 ? tables.position.values + t * width : nullptr;
  const float* type =
      tables.type.rows > 0 ? tables.type.values + tokens.types[token] * width : nullptr;
  for (std::size_t c = threadIdx.x; c < width; c += kEmbeddingThreads) {
    float sum = word[c];
    if (position) sum += position[c];
    if (type) sum += type[c];
    x[token * width + c] = from_float<Element>(sum);
  }
}

}  // namespace

template <class Element>
void embedding_forward(const Stream& stream, const EmbeddingTables<const float>& tables,
                       const TokenBatch& tokens, Element* x) {
  check_embedding(stream, tables, tokens);
  launch(stream,
         {dim3{static_cast<unsigned>(tokens.batch * tokens.length)}, dim3{kEmbeddingThreads}},
         embedding_forward_kernel<Element>, tables, tokens, x);
}

template void embedding_forward(const Stream&, const EmbeddingTables<const float>&,
                                const TokenBatch&, float*);
template void embedding_forward(const Stream&, const EmbeddingTables<const float>&,
                                const TokenBatch&, bfloat16*);
template void embedding_forward(const Stream&, const EmbeddingTables<const float>&,
                                const TokenBatch&, float16*);

}  // namespace plumbline::gpu
