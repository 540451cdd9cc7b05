// SPDX-License-Identifier: Apache-2.0
// The LLaMA-style decoder's sizes and parameters. Source: BAM, section 3 and table 1; Touvron et
// al., "LLaMA", arXiv:2302.13971, section 2.2; the names of Hugging Face's LlamaForCausalLM.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "reference/attention/attention_layer.hpp"
#include "reference/model/layer_parameters.hpp"
#include "reference/model/position_embedding.hpp"
#include "reference/position/layer_position.hpp"

namespace plumbline::reference {

/// Position is the method in the attention layers (position/layer_position.hpp): GgdPosition for
/// BAM. No linear layer has a bias, and the head is not tied. BAM's sinusoidal baseline has
/// `embedding` instead.
template <class Position>
struct LlamaStyleConfiguration {
  int layers = 12, heads = 16, kv_heads = 16, width = 768;
  int hidden = 1536;       ///< of SwiGLU
  int vocabulary = 32768;  ///< Mistral-7B v0.3's tokenizer
  int positions = 512;     ///< rows of a table of learnable positions, if `embedding` is that
  double epsilon = 1e-5;   ///< of RMSNorm
  PositionEmbedding embedding = {.kind = EmbeddedPositions::none};
  Position position = {};
  bool ssmax = false;

  HeadLayout layout() const { return {width, heads, kv_heads}; }
};

/// 12 layers, 16 heads, width 768, hidden 2 * 768: BAM, table 1.
template <class Position>
LlamaStyleConfiguration<Position> bam_120m(Position position) {
  return {.position = std::move(position)};
}

/// 14 layers, 24 heads, width 1536, hidden 2 * 1536.
template <class Position>
LlamaStyleConfiguration<Position> bam_432m(Position position) {
  return {.layers = 14,
          .heads = 24,
          .kv_heads = 24,
          .width = 1536,
          .hidden = 2 * 1536,
          .position = std::move(position)};
}

/// 15 layers, 32 heads, width 2048, hidden 4 * 2048.
template <class Position>
LlamaStyleConfiguration<Position> bam_1b(Position position) {
  return {.layers = 15,
          .heads = 32,
          .kv_heads = 32,
          .width = 2048,
          .hidden = 4 * 2048,
          .position = std::move(position)};
}

template <Real R, class Position>
struct LlamaStyleLayer {
  NormParameters<R> attention_norm;
  AttentionLayerParameters<R, SeparateProjections<R>, Position> attention;
  NormParameters<R> mlp_norm;
  LinearParameters<R> gate, up;  ///< [hidden, width]
  LinearParameters<R> down;      ///< [width, hidden]
};

template <Real R, class Position>
struct LlamaStyleParameters {
  Matrix<R> embedding;  ///< [vocabulary, width]
  Matrix<R> positions;  ///< [positions, width]; empty without learnable positions
  std::vector<LlamaStyleLayer<R, Position>> layers;
  NormParameters<R> norm;
  Matrix<R> head;  ///< [vocabulary, width]

  /// All 0, of the right shapes. @throws std::invalid_argument for a size below 1, heads that do
  /// not divide width, or kv_heads that do not divide heads.
  static LlamaStyleParameters zero(const LlamaStyleConfiguration<Position>& c) {
    require(c.layers >= 1, "layers", c.layers, "at least 1");
    require(c.hidden >= 1, "hidden", c.hidden, "at least 1");
    require(c.vocabulary >= 1, "vocabulary", c.vocabulary, "at least 1");
    require(c.positions >= 1, "positions", c.positions, "at least 1");
    reference::check(c.layout());
    const LinearParameters<R> in = zero_linear<R>(c.hidden, c.width, false);
    const LlamaStyleLayer<R, Position> layer{
        zero_norm<R>(c.width, false),
        AttentionLayerParameters<R, SeparateProjections<R>, Position>::zero(c.layout(), c.position,
                                                                            false, c.ssmax),
        zero_norm<R>(c.width, false),
        in,
        in,
        zero_linear<R>(c.width, c.hidden, false)};
    return {zeros<R>(c.vocabulary, c.width),
            c.embedding.template zero_table<R>(c.positions, c.width),
            std::vector<LlamaStyleLayer<R, Position>>(c.layers, layer),
            zero_norm<R>(c.width, false), zeros<R>(c.vocabulary, c.width)};
  }

  /// @throws std::invalid_argument unless there are the configuration's layers and their linear
  /// layers and SSMax's scales have the shapes of zero. Other shapes are for the layers to refuse.
  void check(const LlamaStyleConfiguration<Position>& c) const {
    require(static_cast<int>(layers.size()) == c.layers, "layers", layers.size(),
            "the configuration's layers");
    for (const auto& layer : layers) {
      layer.attention.check(c.layout(), false, c.ssmax);
      check_linear(layer.gate, "gate", c.hidden, c.width, false);
      check_linear(layer.up, "up", c.hidden, c.width, false);
      check_linear(layer.down, "down", c.width, c.hidden, false);
    }
  }

  /// For for_each_parameter.
  template <class Self, class Visit>
  static void each(Self& self, const Visit& visit) {
    visit(std::string("model.embed_tokens.weight"), self.embedding);
    if (self.positions.size() > 0) {
      visit(std::string("model.position_embeddings.weight"), self.positions);
    }
    for (std::size_t n = 0; n < self.layers.size(); ++n) {
      auto& layer = self.layers[n];
      const std::string name = "model.layers." + std::to_string(n);
      const std::string attention = name + ".self_attn";
      visit_weight_and_bias(layer.attention_norm, name + ".input_layernorm", visit);
      visit_weight_and_bias(layer.attention.projection.query, attention + ".q_proj", visit);
      visit_weight_and_bias(layer.attention.projection.key, attention + ".k_proj", visit);
      visit_weight_and_bias(layer.attention.projection.value, attention + ".v_proj", visit);
      visit_weight_and_bias(layer.attention.output, attention + ".o_proj", visit);
      layer.attention.each_of_position(layer.attention, attention, visit);
      visit_weight_and_bias(layer.mlp_norm, name + ".post_attention_layernorm", visit);
      visit_weight_and_bias(layer.gate, name + ".mlp.gate_proj", visit);
      visit_weight_and_bias(layer.up, name + ".mlp.up_proj", visit);
      visit_weight_and_bias(layer.down, name + ".mlp.down_proj", visit);
    }
    visit_weight_and_bias(self.norm, "model.norm", visit);
    visit(std::string("lm_head.weight"), self.head);
  }
};

}  // namespace plumbline::reference
