// SPDX-License-Identifier: Apache-2.0
// BERT, forward. Source: Devlin et al., "BERT", arXiv:1810.04805, section 3, and its published code
// (google-research/bert): post-LN layers, erf GELU, an MLM head tied to the word embeddings. One
// sequence at a time; a batch is several calls.
#pragma once

#include <utility>
#include <vector>

#include "reference/model/bert_parameters.hpp"
#include "reference/model/embedding.hpp"
#include "reference/model/gelu.hpp"
#include "reference/model/layers.hpp"
#include "reference/model/tier.hpp"

namespace plumbline::reference {

/// What the backward pass needs of a layer's forward pass.
template <Real R, class AttentionState>
struct BertLayerState {
  Matrix<R> input;           ///< [T, C]
  AttentionState attention;  ///< of input
  Matrix<R> attention_sum;   ///< [T, C]: input + attention, before its LayerNorm
  Matrix<R> hidden;          ///< [T, intermediate]: before GELU
  Matrix<R> output_sum;      ///< [T, C]: before the last LayerNorm
};

/// What the backward pass needs of the forward pass, and the last hidden state, which heads and
/// pooled embeddings (model/pooling.hpp) read.
template <Real R, class AttentionState>
struct BertState {
  Matrix<R> embedding_sum;  ///< [T, C]: before its LayerNorm
  std::vector<BertLayerState<R, AttentionState>> layers;
  Matrix<R> hidden;  ///< [T, C]
};

/// x = LN(word[ids] + type[token_types] + position), then for every layer
///   a = LN(x + attention(x)),  x = LN(a + W_2 GELU(W_1 a + b_1) + b_2).
/// Shapes: ids, token_types [T]; hidden [T, C]. `mask` is of a batch of one: lengths = {n} hides
/// the padding from position n on, whose own rows attend to nothing.
/// @throws std::invalid_argument if there are no ids, the sizes differ, an id or a type has no
/// embedding, the sequence is longer than the table of learnable positions, the mask is not of one
/// sequence of T tokens, the position method is for causal models alone, or shapes do not agree.
template <class Tier, class Position, Real R = typename Tier::Scalar>
auto bert_forward(const BertConfiguration<Position>& c, const BertParameters<R, Position>& p,
                  const std::vector<int>& ids, const std::vector<int>& token_types,
                  const Mask& mask = {}) {
  require(!ids.empty(), "ids.size()", ids.size(), "at least 1");
  require(token_types.size() == ids.size(), "token_types.size()", token_types.size(),
          "the number of ids");
  p.check(c);
  const auto attend = [&](const BertLayer<R, Position>& layer, const Matrix<R>& X) {
    return attention_layer<Tier>(layer.attention, c.layout(), c.position, X, mask);
  };
  BertState<R, decltype(attend(p.layers[0], p.word))> state;
  state.embedding_sum = residual(embedding(p.word, ids), embedding(p.token_type, token_types));
  c.embedding.add(state.embedding_sum, p.positions, 0);
  Matrix<R> X = layernorm(p.embedding_norm, state.embedding_sum, c.epsilon);
  for (const BertLayer<R, Position>& layer : p.layers) {
    auto& kept = state.layers.emplace_back();
    kept.attention = attend(layer, X);
    kept.attention_sum = residual(X, kept.attention.result);
    kept.input = std::move(X);
    const Matrix<R> a = layernorm(layer.attention_norm, kept.attention_sum, c.epsilon);
    kept.hidden = linear<Tier>(layer.intermediate, a);
    kept.output_sum =
        residual(a, linear<Tier>(layer.output, elementwise(kept.hidden, gelu_erf<R>)));
    X = layernorm(layer.output_norm, kept.output_sum, c.epsilon);
  }
  state.hidden = std::move(X);
  return state;
}

/// What the backward pass needs of the MLM head's forward pass, and the logits.
template <Real R>
struct BertMlmState {
  Matrix<R> dense;   ///< [n, C]: before GELU
  Matrix<R> active;  ///< [n, C]: after GELU, before LayerNorm
  Matrix<R> logits;  ///< [n, vocabulary]
};

/// logits = LN(GELU(W x + b)) word^T + bias, for any rows x of the hidden state: all of them, or
/// those that have a target. Shapes: hidden [n, C].
template <class Tier, class Position, Real R = typename Tier::Scalar>
BertMlmState<R> bert_mlm(const BertConfiguration<Position>& c, const BertParameters<R, Position>& p,
                         const Matrix<R>& hidden) {
  BertMlmState<R> state;
  state.dense = linear<Tier>(p.transform, hidden);
  state.active = elementwise(state.dense, gelu_erf<R>);
  state.logits =
      Tier::linear(layernorm(p.transform_norm, state.active, c.epsilon), p.word, p.decoder_bias);
  return state;
}

}  // namespace plumbline::reference
