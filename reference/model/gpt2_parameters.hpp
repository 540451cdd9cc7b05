// SPDX-License-Identifier: Apache-2.0
// GPT-2's sizes and parameters. Source: Radford et al., "Language Models are Unsupervised Multitask
// Learners", 2019, section 2.3; CABLE, section 4.1 for the sizes; the names of Hugging Face.
#pragma once

#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "reference/attention/attention_layer.hpp"
#include "reference/model/layer_parameters.hpp"
#include "reference/model/position_embedding.hpp"
#include "reference/position/layer_position.hpp"

namespace plumbline::reference {

/// Position is the method in the attention layers (position/layer_position.hpp). With NopePosition
/// and learnable positions in the embeddings it is GPT-2 itself.
template <class Position = NopePosition>
struct Gpt2Configuration {
  int layers = 12, heads = 12, width = 768;
  int vocabulary = 50304;  ///< 50257 tokens, padded to a multiple of 128, as CABLE has it
  int positions = 1024;    ///< rows of the table of learnable positions
  double epsilon = 1e-5;   ///< of LayerNorm
  PositionEmbedding embedding = {};
  Position position = {};
  bool ssmax = false;

  HeadLayout layout() const { return {width, heads, heads}; }
};

/// GPT-2 of any size: learnable positions with NopePosition, else the layers' method alone. (For no
/// positions at all set `embedding.kind`.)
template <class Position = NopePosition>
Gpt2Configuration<Position> gpt2(int layers, int heads, int width, Position position = {}) {
  Gpt2Configuration<Position> c{
      .layers = layers, .heads = heads, .width = width, .position = std::move(position)};
  if (!std::is_same_v<Position, NopePosition>) c.embedding.kind = EmbeddedPositions::none;
  return c;
}

/// 6 layers, 8 heads, width 512: CABLE, section 4.1.
template <class Position = NopePosition>
Gpt2Configuration<Position> gpt2_tiny(Position position = {}) {
  return gpt2(6, 8, 512, position);
}

/// 12 layers, 12 heads, width 768, 124M parameters. (CABLE prints 10 heads, which do not divide
/// 768; its published code has 12.)
template <class Position = NopePosition>
Gpt2Configuration<Position> gpt2_small(Position position = {}) {
  return gpt2(12, 12, 768, position);
}

/// 24 layers, 16 heads, width 1024.
template <class Position = NopePosition>
Gpt2Configuration<Position> gpt2_medium(Position position = {}) {
  return gpt2(24, 16, 1024, position);
}

template <Real R, class Position = NopePosition>
struct Gpt2Block {
  NormParameters<R> ln_1;
  AttentionLayerParameters<R, FusedProjection<R>, Position> attention;
  NormParameters<R> ln_2;
  LinearParameters<R> c_fc;    ///< [4 width, width]
  LinearParameters<R> c_proj;  ///< [width, 4 width]
};

/// The head's weight is wte: the two are tied. Weights are [out, in], the transpose of what GPT-2's
/// files hold for c_attn, c_fc and c_proj.
template <Real R, class Position = NopePosition>
struct Gpt2Parameters {
  Matrix<R> wte;  ///< [vocabulary, width]
  Matrix<R> wpe;  ///< [positions, width]; empty without learnable positions
  std::vector<Gpt2Block<R, Position>> blocks;
  NormParameters<R> ln_f;

  /// All 0, of the right shapes. @throws std::invalid_argument for a size below 1, or heads that
  /// do not divide width.
  static Gpt2Parameters zero(const Gpt2Configuration<Position>& c) {
    require(c.layers >= 1, "layers", c.layers, "at least 1");
    require(c.vocabulary >= 1, "vocabulary", c.vocabulary, "at least 1");
    require(c.positions >= 1, "positions", c.positions, "at least 1");
    reference::check(c.layout());
    const Gpt2Block<R, Position> block{
        zero_norm<R>(c.width),
        AttentionLayerParameters<R, FusedProjection<R>, Position>::zero(c.layout(), c.position,
                                                                        true, c.ssmax),
        zero_norm<R>(c.width), zero_linear<R>(4 * c.width, c.width),
        zero_linear<R>(c.width, 4 * c.width)};
    return {zeros<R>(c.vocabulary, c.width),
            c.embedding.template zero_table<R>(c.positions, c.width),
            std::vector<Gpt2Block<R, Position>>(c.layers, block), zero_norm<R>(c.width)};
  }

  /// @throws std::invalid_argument unless there are the configuration's layers and their linear
  /// layers and SSMax's scales have the shapes of zero. Other shapes are for the layers to refuse.
  void check(const Gpt2Configuration<Position>& c) const {
    require(static_cast<int>(blocks.size()) == c.layers, "blocks", blocks.size(),
            "the configuration's layers");
    for (const auto& block : blocks) {
      block.attention.check(c.layout(), true, c.ssmax);
      check_linear(block.c_fc, "c_fc", 4 * c.width, c.width);
      check_linear(block.c_proj, "c_proj", c.width, 4 * c.width);
    }
  }

  /// For for_each_parameter.
  template <class Self, class Visit>
  static void each(Self& self, const Visit& visit) {
    visit(std::string("transformer.wte.weight"), self.wte);
    if (self.wpe.size() > 0) visit(std::string("transformer.wpe.weight"), self.wpe);
    for (std::size_t layer = 0; layer < self.blocks.size(); ++layer) {
      auto& block = self.blocks[layer];
      const std::string name = "transformer.h." + std::to_string(layer);
      visit_weight_and_bias(block.ln_1, name + ".ln_1", visit);
      visit_weight_and_bias(block.attention.projection.qkv, name + ".attn.c_attn", visit);
      visit_weight_and_bias(block.attention.output, name + ".attn.c_proj", visit);
      block.attention.each_of_position(block.attention, name + ".attn", visit);
      visit_weight_and_bias(block.ln_2, name + ".ln_2", visit);
      visit_weight_and_bias(block.c_fc, name + ".mlp.c_fc", visit);
      visit_weight_and_bias(block.c_proj, name + ".mlp.c_proj", visit);
    }
    visit_weight_and_bias(self.ln_f, "transformer.ln_f", visit);
  }
};

}  // namespace plumbline::reference
