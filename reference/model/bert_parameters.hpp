// SPDX-License-Identifier: Apache-2.0
// BERT's sizes and parameters. Source: Devlin et al., "BERT", arXiv:1810.04805, section 3; the
// names of Hugging Face's BertForMaskedLM.
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

/// Position is the method in the attention layers (position/layer_position.hpp), which has to be
/// one for both directions. With NopePosition and learnable positions it is BERT itself.
template <class Position = NopePosition>
struct BertConfiguration {
  int layers = 12, heads = 12, width = 768, intermediate = 3072;
  int vocabulary = 30522, positions = 512, token_types = 2;
  double epsilon = 1e-12;  ///< of LayerNorm
  PositionEmbedding embedding = {};
  Position position = {};
  bool ssmax = false;

  HeadLayout layout() const { return {width, heads, heads}; }
  /// @throws std::invalid_argument if the method is for causal models alone.
  void check_directions() const {
    require(!position.causal_only(), "position.causal_only()", 1, "0: keys are on both sides");
  }
};

/// BERT base: 12 layers, 12 heads, width 768, 110M parameters. Learnable positions with
/// NopePosition, else the layers' method alone.
template <class Position = NopePosition>
BertConfiguration<Position> bert_base(Position position = {}) {
  BertConfiguration<Position> c{.position = std::move(position)};
  if (!std::is_same_v<Position, NopePosition>) c.embedding.kind = EmbeddedPositions::none;
  return c;
}

template <Real R, class Position = NopePosition>
struct BertLayer {
  AttentionLayerParameters<R, SeparateProjections<R>, Position> attention;
  NormParameters<R> attention_norm;
  LinearParameters<R> intermediate;  ///< [intermediate, width]
  LinearParameters<R> output;        ///< [width, intermediate]
  NormParameters<R> output_norm;
};

/// The decoder's weight is that of the word embeddings: the two are tied.
template <Real R, class Position = NopePosition>
struct BertParameters {
  Matrix<R> word;        ///< [vocabulary, width]
  Matrix<R> positions;   ///< [positions, width]; empty without learnable positions
  Matrix<R> token_type;  ///< [token_types, width]
  NormParameters<R> embedding_norm;
  std::vector<BertLayer<R, Position>> layers;
  LinearParameters<R> transform;  ///< [width, width]: of the MLM head
  NormParameters<R> transform_norm;
  Vector<R> decoder_bias;  ///< [vocabulary]

  /// All 0, of the right shapes. @throws std::invalid_argument for a size below 1, heads that do
  /// not divide width, or a position method for causal models alone.
  static BertParameters zero(const BertConfiguration<Position>& c) {
    require(c.layers >= 1, "layers", c.layers, "at least 1");
    require(c.intermediate >= 1, "intermediate", c.intermediate, "at least 1");
    require(c.vocabulary >= 1, "vocabulary", c.vocabulary, "at least 1");
    require(c.positions >= 1, "positions", c.positions, "at least 1");
    require(c.token_types >= 1, "token_types", c.token_types, "at least 1");
    reference::check(c.layout());
    c.check_directions();
    const BertLayer<R, Position> layer{
        AttentionLayerParameters<R, SeparateProjections<R>, Position>::zero(c.layout(), c.position,
                                                                            true, c.ssmax),
        zero_norm<R>(c.width), zero_linear<R>(c.intermediate, c.width),
        zero_linear<R>(c.width, c.intermediate), zero_norm<R>(c.width)};
    return {zeros<R>(c.vocabulary, c.width),
            c.embedding.template zero_table<R>(c.positions, c.width),
            zeros<R>(c.token_types, c.width),
            zero_norm<R>(c.width),
            std::vector<BertLayer<R, Position>>(c.layers, layer),
            zero_linear<R>(c.width, c.width),
            zero_norm<R>(c.width),
            zeros<R>(c.vocabulary)};
  }

  /// @throws std::invalid_argument if the position method is for causal models alone, or unless
  /// there are the configuration's layers and their linear layers and SSMax's scales have the
  /// shapes of zero. Other shapes are for the layers to refuse.
  void check(const BertConfiguration<Position>& c) const {
    c.check_directions();
    require(static_cast<int>(layers.size()) == c.layers, "layers", layers.size(),
            "the configuration's layers");
    for (const auto& layer : layers) {
      layer.attention.check(c.layout(), true, c.ssmax);
      check_linear(layer.intermediate, "intermediate", c.intermediate, c.width);
      check_linear(layer.output, "output", c.width, c.intermediate);
    }
  }

  /// For for_each_parameter.
  template <class Self, class Visit>
  static void each(Self& self, const Visit& visit) {
    const std::string embeddings = "bert.embeddings.", head = "cls.predictions.";
    visit(embeddings + "word_embeddings.weight", self.word);
    if (self.positions.size() > 0) {
      visit(embeddings + "position_embeddings.weight", self.positions);
    }
    visit(embeddings + "token_type_embeddings.weight", self.token_type);
    visit_weight_and_bias(self.embedding_norm, embeddings + "LayerNorm", visit);
    for (std::size_t n = 0; n < self.layers.size(); ++n) {
      auto& layer = self.layers[n];
      const std::string name = "bert.encoder.layer." + std::to_string(n);
      const std::string attention = name + ".attention.";
      visit_weight_and_bias(layer.attention.projection.query, attention + "self.query", visit);
      visit_weight_and_bias(layer.attention.projection.key, attention + "self.key", visit);
      visit_weight_and_bias(layer.attention.projection.value, attention + "self.value", visit);
      layer.attention.each_of_position(layer.attention, attention + "self", visit);
      visit_weight_and_bias(layer.attention.output, attention + "output.dense", visit);
      visit_weight_and_bias(layer.attention_norm, attention + "output.LayerNorm", visit);
      visit_weight_and_bias(layer.intermediate, name + ".intermediate.dense", visit);
      visit_weight_and_bias(layer.output, name + ".output.dense", visit);
      visit_weight_and_bias(layer.output_norm, name + ".output.LayerNorm", visit);
    }
    visit_weight_and_bias(self.transform, head + "transform.dense", visit);
    visit_weight_and_bias(self.transform_norm, head + "transform.LayerNorm", visit);
    visit(head + "bias", self.decoder_bias);
  }
};

}  // namespace plumbline::reference
