// SPDX-License-Identifier: Apache-2.0
// A token's vector: its row of the word table, and of the tables of positions and of token types
// where a model has them. Source: Vaswani et al., arXiv:1706.03762, section 3.4, without the factor
// sqrt(C), which GPT-2 and BERT do not have; token types: Devlin et al., arXiv:1810.04805,
// section 3.
//
// The tables are fp32 master copies: only the rows that the batch names are read.
#ifndef PLUMBLINE_GPU_OPS_EMBEDDING_CUH
#define PLUMBLINE_GPU_OPS_EMBEDDING_CUH

#include <cstddef>

#include "core/launch.cuh"
#include "ops/column_sums.cuh"

namespace plumbline::gpu {

/// A table of vectors, [rows, C], in device memory; of no rows: the model does not have it.
template <class Number>
struct Table {
  Number* values = nullptr;
  int rows = 0;
};

template <class Number>
struct EmbeddingTables {
  Table<Number> word;
  Table<Number> position;  ///< learnable, or sinusoidal (ops/sinusoidal.cuh), which has no gradient
  Table<Number> type;
  int width;  ///< C
};

/// batch x length tokens, row-major, in device memory. Token t of every sequence stands at position
/// t + position_offset, or t + *first_position, in device memory, where there is one: then the
/// table has these positions, as the host has seen.
struct TokenBatch {
  const int* ids;
  const int* types;  ///< read where there is a table of types
  int batch, length;
  int position_offset = 0;
  bool checked = false;  ///< the tables have all ids and types, as the host has seen
  const int* first_position = nullptr;
};

/// x_bt = word[ids_bt] + position[t + offset] + type[types_bt]: summed in fp32 in that order,
/// rounded once to Element (float, bfloat16, float16); of a word alone in fp32 exact. Shape: x
/// [batch, length, C], in device memory. @throws std::invalid_argument for an empty batch or width,
/// an id or a type that its table does not have, or positions beyond the table.
template <class Element>
void embedding_forward(const Stream& stream, const EmbeddingTables<const float>& tables,
                       const TokenBatch& tokens, Element* x);

/// Numbers of workspace that the backward pass needs.
struct EmbeddingWorkspace {
  std::size_t ints, floats;
};
EmbeddingWorkspace embedding_workspace(int tokens, int width);

/// The adjoint: d word_r = sum of dx_bt over the tokens with id r, d type likewise, d position_p =
/// sum over the batch of dx_b(p - offset); 0 for rows that no token names, or what was there where
/// `mode` accumulates. Without atomics: tokens are sorted by id, runs of 64 summed in their order,
/// and the runs of an id likewise: the same bits every run. Shapes as forward; a table of no rows
/// gets no gradient. ints, floats: embedding_workspace(batch * length, C).
/// @throws std::invalid_argument as forward.
template <class Element>
void embedding_backward(const Stream& stream, const EmbeddingTables<float>& grads,
                        const TokenBatch& tokens, const Element* grad_x, Gradient mode, int* ints,
                        float* floats);

inline constexpr int kEmbeddingRun = 64;  ///< tokens in sorted order that one block sums

/// The longest chain of additions in the gradient of a row that `count` tokens name: a run, the
/// runs, and what was there.
__host__ __device__ constexpr int embedding_chain(int count) {
  return (count < kEmbeddingRun ? count : kEmbeddingRun) + (count / kEmbeddingRun + 1) + 1;
}

}  // namespace plumbline::gpu

#endif
