// SPDX-License-Identifier: Apache-2.0
#ifndef PLUMBLINE_GPU_OPS_EMBEDDING_CHECKS_CUH
#define PLUMBLINE_GPU_OPS_EMBEDDING_CHECKS_CUH

#include <climits>

#include "ops/check_ids.cuh"
#include "ops/embedding.cuh"
#include "ops/require.cuh"

namespace plumbline::gpu {

/// @throws std::invalid_argument as embedding_forward and embedding_backward tell.
template <class Number>
void check_embedding(const Stream& stream, const EmbeddingTables<Number>& tables,
                     const TokenBatch& tokens) {
  require(tables.width >= 1, "width", tables.width, "at least 1");
  require(tokens.batch >= 1, "batch", tokens.batch, "at least 1");
  require(tokens.length >= 1 && tokens.length <= INT_MAX / tokens.batch, "length", tokens.length,
          "at least 1, and batch x length below 2^31");
  require(tokens.position_offset >= 0, "position_offset", tokens.position_offset, "at least 0");
  if (tables.position.rows > 0)
    require(tokens.length <= tables.position.rows - tokens.position_offset, "length", tokens.length,
            "at most the table's positions from the offset on");
  if (tokens.checked) return;
  const int count = tokens.batch * tokens.length;
  check_ids(stream, "ids", tokens.ids, count, tables.word.rows);
  if (tables.type.rows > 0) check_ids(stream, "types", tokens.types, count, tables.type.rows);
}

}  // namespace plumbline::gpu

#endif
