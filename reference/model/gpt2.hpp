// SPDX-License-Identifier: Apache-2.0
// GPT-2, forward and backward. Source: Radford et al., "Language Models are Unsupervised Multitask
// Learners", 2019, section 2.3: pre-LN blocks, a last LayerNorm, tanh GELU, the head tied to the
// embedding and without bias. One sequence at a time; a batch is several calls whose gradients add.
#pragma once

#include <utility>
#include <vector>

#include "reference/model/embedding.hpp"
#include "reference/model/gelu.hpp"
#include "reference/model/gpt2_parameters.hpp"
#include "reference/model/layers.hpp"
#include "reference/model/tier.hpp"

namespace plumbline::reference {

/// What the backward pass needs of a block's forward pass.
template <Real R, class AttentionState>
struct Gpt2BlockState {
  Matrix<R> input;           ///< [T, C]
  AttentionState attention;  ///< of LN1(input)
  Matrix<R> middle;          ///< [T, C]: input + attention
  Matrix<R> hidden;          ///< [T, 4C]: c_fc's output, before GELU
};

/// What the backward pass needs of the forward pass, and the last hidden state.
template <Real R, class AttentionState>
struct Gpt2State {
  std::vector<Gpt2BlockState<R, AttentionState>> blocks;
  Matrix<R> output;  ///< [T, C]: of the last block
  Matrix<R> hidden;  ///< [T, C]: LN(output), which the head reads

  /// The residual stream before block `layer`, or, for layer = layers, after the last.
  const Matrix<R>& stream(std::size_t layer) const {
    return layer < blocks.size() ? blocks[layer].input : output;
  }
};

/// The blocks on the embeddings X [T, C]; `attend(layer, X)` is the attention layer of a block, and
/// returns an AttentionLayerState.
///   m = x + attend(LN1(x)),  y = m + c_proj(GELU(c_fc(LN2(m)))),  hidden = LN_f(y of the last).
template <class Tier, class Position, class Attend, Real R = typename Tier::Scalar>
auto gpt2_blocks(const Gpt2Configuration<Position>& c, const Gpt2Parameters<R, Position>& p,
                 Matrix<R> X, const Attend& attend) {
  using AttentionState = decltype(attend(0, X));
  Gpt2State<R, AttentionState> state;
  for (std::size_t layer = 0; layer < p.blocks.size(); ++layer) {
    const Gpt2Block<R, Position>& block = p.blocks[layer];
    Gpt2BlockState<R, AttentionState> kept;
    kept.attention = attend(static_cast<int>(layer), layernorm(block.ln_1, X, c.epsilon));
    kept.middle = residual(X, kept.attention.result);
    kept.hidden = linear<Tier>(block.c_fc, layernorm(block.ln_2, kept.middle, c.epsilon));
    const Matrix<R> active = elementwise(kept.hidden, gelu_tanh<R>);
    kept.input = std::move(X);
    X = residual(kept.middle, linear<Tier>(block.c_proj, active));
    state.blocks.push_back(std::move(kept));
  }
  state.hidden = layernorm(p.ln_f, X, c.epsilon);
  state.output = std::move(X);
  return state;
}

/// wte[ids] plus the positions in the embeddings, if any; the first token is at position `offset`.
template <class Position, Real R>
Matrix<R> gpt2_embedding(const Gpt2Configuration<Position>& c, const Gpt2Parameters<R, Position>& p,
                         const std::vector<int>& ids, int offset) {
  Matrix<R> X = embedding(p.wte, ids);
  c.embedding.add(X, p.wpe, offset);
  return X;
}

/// The forward pass of one sequence: `hidden` is what the head reads.
/// Shapes: ids [T]; hidden [T, C]. `mask` may name documents of the sequence (end-of-text tokens
/// do not end what a token sees, unless it does); it is causal whatever it says.
/// @throws std::invalid_argument if there are no ids, an id is not in the vocabulary, the sequence
/// is longer than the table of learnable positions, or shapes do not agree.
template <class Tier, class Position, Real R = typename Tier::Scalar>
auto gpt2_forward(const Gpt2Configuration<Position>& c, const Gpt2Parameters<R, Position>& p,
                  const std::vector<int>& ids, Mask mask = {}) {
  require(!ids.empty(), "ids.size()", ids.size(), "at least 1");
  p.check(c);
  mask.causal = true;
  const auto attend = [&](int layer, const Matrix<R>& X) {
    return attention_layer<Tier>(p.blocks[layer].attention, c.layout(), c.position, X, mask);
  };
  return gpt2_blocks<Tier>(c, p, gpt2_embedding(c, p, ids, 0), attend);
}

/// logits_tv = hidden_t . wte_v, the scores of the token after token t. Shapes: hidden [T, C],
/// result [T, vocabulary].
template <class Tier, class Position, Real R = typename Tier::Scalar>
Matrix<R> gpt2_logits(const Gpt2Parameters<R, Position>& p, const Matrix<R>& hidden) {
  return Tier::linear(hidden, p.wte, Vector<R>());
}

/// The adjoint of gpt2_logits: adds to `grad` and returns d hidden.
template <class Tier, class Position, Real R = typename Tier::Scalar>
Matrix<R> gpt2_logits_grad(const Gpt2Parameters<R, Position>& p, const Matrix<R>& hidden,
                           const Matrix<R>& grad_logits, Gpt2Parameters<R, Position>& grad) {
  LinearLayerGrad<R> by = Tier::linear_grad(hidden, p.wte, grad_logits);
  add_to(grad.wte, by.w);
  return std::move(by.x);
}

}  // namespace plumbline::reference
