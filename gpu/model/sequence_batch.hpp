// SPDX-License-Identifier: Apache-2.0
// What a model is given. Host code.
#pragma once

#include <cstdint>

namespace plumbline::gpu {

/// Sequences as rows of tokens, in host memory, row-major.
struct SequenceBatch {
  int batch = 0, length = 0;
  const int* ids = nullptr;        ///< [batch, length]
  const int* targets = nullptr;    ///< [batch, length]: the token to be predicted; -100: none
  const int* types = nullptr;      ///< [batch, length]: BERT's segments; null: all 0
  const int* lengths = nullptr;    ///< [batch]: tokens before the padding; null: all
  const int* documents = nullptr;  ///< [batch, length]: attention stays within one; null: one
  int position_offset = 0;         ///< of the first token, for positions in the embeddings
  std::uint64_t draw = 0;          ///< of dropout: another one in every step
};

/// How a model runs.
struct ModelRun {
  int batch, length;          ///< the most that a call has
  bool tensor_cores = true;   ///< in attention, where the format is not fp32
  bool deterministic = true;  ///< the same bits every run, at some cost
  std::uint64_t dropout_seed = 0;
};

}  // namespace plumbline::gpu
