// SPDX-License-Identifier: Apache-2.0
// The LLaMA-style decoder of BAM, forward. Source: BAM, section 3 and appendix C, and its published
// code (ArthurSBianchessi/BAM); Touvron et al., "LLaMA", arXiv:2302.13971, section 2.2: pre-RMSNorm
// layers, SwiGLU, no biases, a head of its own. One sequence at a time; a batch is several calls.
#pragma once

#include <utility>
#include <vector>

#include "reference/model/embedding.hpp"
#include "reference/model/layers.hpp"
#include "reference/model/llama_style_parameters.hpp"
#include "reference/model/swiglu.hpp"
#include "reference/model/tier.hpp"

namespace plumbline::reference {

/// What the backward pass needs of a layer's forward pass.
template <Real R, class AttentionState>
struct LlamaStyleLayerState {
  Matrix<R> input;           ///< [T, C]
  AttentionState attention;  ///< of RMSNorm(input)
  Matrix<R> middle;          ///< [T, C]: input + attention
  Matrix<R> gate, up;        ///< [T, hidden]
};

/// What the backward pass needs of the forward pass, and the last hidden state.
template <Real R, class AttentionState>
struct LlamaStyleState {
  std::vector<LlamaStyleLayerState<R, AttentionState>> layers;
  Matrix<R> output;  ///< [T, C]: of the last layer
  Matrix<R> hidden;  ///< [T, C]: RMSNorm(output), which the head reads
};

/// silu(gate) up, element by element. @throws std::invalid_argument if the shapes differ.
template <Real R>
Matrix<R> swiglu(const Matrix<R>& gate, const Matrix<R>& up) {
  require(up.rows() == gate.rows(), "up.rows()", up.rows(), "the rows of gate");
  require(up.cols() == gate.cols(), "up.cols()", up.cols(), "the columns of gate");
  Matrix<R> Y(gate.rows(), gate.cols());
  for (Eigen::Index n = 0; n < Y.size(); ++n) Y.data()[n] = swiglu(gate.data()[n], up.data()[n]);
  return Y;
}

/// The layers on the embeddings X [T, C]; `attend(layer, X)` is the attention layer of a layer, and
/// returns an AttentionLayerState.
///   m = x + attend(RMSNorm(x)),  y = m + W_down (silu(W_gate n) (W_up n)), n = RMSNorm(m),
///   hidden = RMSNorm(y of the last).
template <class Tier, class Position, class Attend, Real R = typename Tier::Scalar>
auto llama_style_layers(const LlamaStyleConfiguration<Position>& c,
                        const LlamaStyleParameters<R, Position>& p, Matrix<R> X,
                        const Attend& attend) {
  LlamaStyleState<R, decltype(attend(0, X))> state;
  for (std::size_t n = 0; n < p.layers.size(); ++n) {
    const LlamaStyleLayer<R, Position>& layer = p.layers[n];
    auto& kept = state.layers.emplace_back();
    kept.attention = attend(static_cast<int>(n), rmsnorm(layer.attention_norm, X, c.epsilon));
    kept.middle = residual(X, kept.attention.result);
    kept.input = std::move(X);
    const Matrix<R> normed = rmsnorm(layer.mlp_norm, kept.middle, c.epsilon);
    kept.gate = linear<Tier>(layer.gate, normed);
    kept.up = linear<Tier>(layer.up, normed);
    X = residual(kept.middle, linear<Tier>(layer.down, swiglu(kept.gate, kept.up)));
  }
  state.hidden = rmsnorm(p.norm, X, c.epsilon);
  state.output = std::move(X);
  return state;
}

/// embedding[ids] plus the positions in the embeddings, if any; the first token is at `offset`.
template <class Position, Real R>
Matrix<R> llama_style_embedding(const LlamaStyleConfiguration<Position>& c,
                                const LlamaStyleParameters<R, Position>& p,
                                const std::vector<int>& ids, int offset) {
  Matrix<R> X = embedding(p.embedding, ids);
  c.embedding.add(X, p.positions, offset);
  return X;
}

/// The forward pass of one sequence: `hidden` is what the head reads.
/// Shapes: ids [T]; hidden [T, C]. `mask` may name documents of the sequence, as BAM's training
/// does; it is causal whatever it says.
/// @throws std::invalid_argument if there are no ids, an id is not in the vocabulary, a sequence is
/// longer than a table of learnable positions, or shapes do not agree.
template <class Tier, class Position, Real R = typename Tier::Scalar>
auto llama_style_forward(const LlamaStyleConfiguration<Position>& c,
                         const LlamaStyleParameters<R, Position>& p, const std::vector<int>& ids,
                         Mask mask = {}) {
  require(!ids.empty(), "ids.size()", ids.size(), "at least 1");
  p.check(c);
  mask.causal = true;
  const auto attend = [&](int n, const Matrix<R>& X) {
    return attention_layer<Tier>(p.layers[n].attention, c.layout(), c.position, X, mask);
  };
  return llama_style_layers<Tier>(c, p, llama_style_embedding(c, p, ids, 0), attend);
}

/// logits_tv = hidden_t . head_v. Shapes: hidden [T, C], result [T, vocabulary].
template <class Tier, class Position, Real R = typename Tier::Scalar>
Matrix<R> llama_style_logits(const LlamaStyleParameters<R, Position>& p, const Matrix<R>& hidden) {
  return Tier::linear(hidden, p.head, Vector<R>());
}

}  // namespace plumbline::reference
