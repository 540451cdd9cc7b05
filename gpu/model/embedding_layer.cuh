// SPDX-License-Identifier: Apache-2.0
#ifndef PLUMBLINE_GPU_MODEL_EMBEDDING_LAYER_CUH
#define PLUMBLINE_GPU_MODEL_EMBEDDING_LAYER_CUH

#include <algorithm>
#include <memory>
#include <vector>

#include "model/layers.cuh"
#include "model/position_method.hpp"
#include "model/upload.cuh"
#include "ops/embedding.cuh"
#include "ops/sinusoidal.cuh"

namespace plumbline::gpu {

/// Rows of the word table, plus positions and token types where the model has them; in BERT their
/// LayerNorm; dropout.
template <class Element>
class EmbeddingLayer {
 public:
  EmbeddingLayer(Step<Element>& step, Arena& arena) : step_(step), dropout_(step, 0) {
    const ModelConfiguration& c = step.configuration;
    const bool bert = c.architecture == Architecture::bert;
    const std::size_t rows = step.max_rows();
    word_ = bert                                          ? "bert.embeddings.word_embeddings.weight"
            : c.architecture == Architecture::llama_style ? "model.embed_tokens.weight"
                                                          : "transformer.wte.weight";
    position_ = bert ? "bert.embeddings.position_embeddings.weight"
                : c.architecture == Architecture::llama_style ? "model.position_embeddings.weight"
                                                              : "transformer.wpe.weight";
    type_ = "bert.embeddings.token_type_embeddings.weight";
    switch (position_method(c.position).embedded) {
      case EmbeddedPositions::sinusoidal:
        set_sinusoidal(arena, CosineFrequency::shared);
        break;
      case EmbeddedPositions::sinusoidal_own_frequency:
        set_sinusoidal(arena, CosineFrequency::own);
        break;
      default:
        break;
    }
    x_ = arena.take<Element>(rows * c.width);
    if (bert) {
      norm_ = std::make_unique<Norm<Element>>(step, arena, "bert.embeddings.LayerNorm");
      normed_ = arena.take<Element>(rows * c.width);
    }
    const EmbeddingWorkspace workspace = embedding_workspace(static_cast<int>(rows), c.width);
    ints_ = arena.take<int>(workspace.ints);
    floats_ = arena.take<float>(workspace.floats);
  }

  const Element* forward(const Tokens& tokens) {
    const ModelConfiguration& c = step_.configuration;
    EmbeddingTables<const float> tables{
        .word = {step_.value(word_), c.vocabulary}, .position = {}, .type = {}, .width = c.width};
    if (sinusoidal_) tables.position = {sinusoidal_, sinusoidal_rows_};
    if (step_.layout.has(position_)) tables.position = {step_.value(position_), c.context};
    if (norm_) tables.type = {step_.value(type_), c.token_types};
    embedding_forward(step_.stream, tables, batch(tokens), x_);
    Element* x = x_;
    if (norm_) {
      norm_->forward(tokens.rows(), x_, normed_);
      x = normed_;
    }
    if (dropout_.on()) dropout_.apply(tokens, x);
    return x;
  }

  /// grad_x [rows, width] is overwritten.
  void backward(const Tokens& tokens, Element* grad_x, Element* workspace, float* norm_workspace) {
    const ModelConfiguration& c = step_.configuration;
    if (dropout_.on()) dropout_.apply(tokens, grad_x);
    if (norm_) norm_->backward(tokens.rows(), x_, grad_x, workspace, norm_workspace);
    EmbeddingTables<float> grads{.word = {step_.gradient(word_), c.vocabulary},
                                 .position = {},
                                 .type = {},
                                 .width = c.width};
    if (step_.layout.has(position_)) grads.position = {step_.gradient(position_), c.context};
    if (norm_) grads.type = {step_.gradient(type_), c.token_types};
    embedding_backward(step_.stream, grads, batch(tokens), norm_ ? workspace : grad_x,
                       Gradient::accumulate, ints_, floats_);
  }

 private:
  void set_sinusoidal(Arena& arena, CosineFrequency cosine) {
    const ModelConfiguration& c = step_.configuration;
    sinusoidal_rows_ = std::max(c.context, step_.max_length);
    float* table = arena.take<float>(static_cast<std::size_t>(sinusoidal_rows_) * c.width);
    sinusoidal_ = table;
    if (!table) return;
    upload(step_.stream,
           sinusoidal_table(sinusoidal_rows_, c.width, c.options.base, cosine, c.options.amplitude),
           table);
  }
  static TokenBatch batch(const Tokens& tokens) {
    return {tokens.ids, tokens.types, tokens.batch, tokens.length, tokens.position_offset, true};
  }

  Step<Element>& step_;
  DropoutLayer<Element> dropout_;
  std::string word_, position_, type_;
  std::unique_ptr<Norm<Element>> norm_;  ///< BERT's
  const float* sinusoidal_ = nullptr;
  int sinusoidal_rows_ = 0;
  Element *x_, *normed_ = nullptr;
  int* ints_;
  float* floats_;
};

}  // namespace plumbline::gpu

#endif
