// SPDX-License-Identifier: Apache-2.0
#ifndef PLUMBLINE_GPU_INFERENCE_CACHED_EMBEDDING_CUH
#define PLUMBLINE_GPU_INFERENCE_CACHED_EMBEDDING_CUH

#include <vector>

#include "inference/cached_attention.cuh"
#include "model/position_method.hpp"
#include "model/upload.cuh"
#include "ops/embedding.cuh"
#include "ops/sinusoidal.cuh"

namespace plumbline::gpu {

/// The vectors that tokens enter the layers with.
template <class Element>
class CachedEmbedding {
 public:
  CachedEmbedding(const Step<Element>& step, Arena& arena, int capacity) : step_(step) {
    const ModelConfiguration& c = step.configuration;
    const bool llama = c.architecture == Architecture::llama_style;
    tables_.word = {step.value(llama ? "model.embed_tokens.weight" : "transformer.wte.weight"),
                    c.vocabulary};
    tables_.width = c.width;
    switch (position_method(c.position).embedded) {
      case EmbeddedPositions::none:
        break;
      case EmbeddedPositions::learnable:
        tables_.position = {
            step.value(llama ? "model.position_embeddings.weight" : "transformer.wpe.weight"),
            c.context};
        break;
      case EmbeddedPositions::sinusoidal:
        set_sinusoidal(arena, capacity, CosineFrequency::shared);
        break;
      case EmbeddedPositions::sinusoidal_own_frequency:
        set_sinusoidal(arena, capacity, CosineFrequency::own);
        break;
    }
  }

  /// x [width] of one token, whose id and position are in device memory.
  void forward_one(const int* id, const int* position, Element* x) const {
    embedding_forward(step_.stream, tables_,
                      {.ids = id,
                       .types = nullptr,
                       .batch = 1,
                       .length = 1,
                       .checked = true,
                       .first_position = position},
                      x);
  }

  /// x [rows, width] of the tokens ids [rows], which are in the vocabulary.
  void forward(const std::vector<Chunk>& chunks, const int* ids, Element* x) const {
    for (const Chunk& chunk : chunks)
      embedding_forward(step_.stream, tables_,
                        {.ids = ids + chunk.first_row,
                         .types = nullptr,
                         .batch = 1,
                         .length = chunk.count,
                         .position_offset = chunk.before,
                         .checked = true},
                        x + static_cast<std::size_t>(chunk.first_row) * tables_.width);
  }

 private:
  void set_sinusoidal(Arena& arena, int rows, CosineFrequency cosine) {
    const ModelConfiguration& c = step_.configuration;
    float* const table = arena.take<float>(static_cast<std::size_t>(rows) * c.width);
    tables_.position = {table, rows};
    if (table)
      upload(step_.stream,
             sinusoidal_table(rows, c.width, c.options.base, cosine, c.options.amplitude), table);
  }

  const Step<Element>& step_;
  EmbeddingTables<const float> tables_{};
};

}  // namespace plumbline::gpu

#endif
