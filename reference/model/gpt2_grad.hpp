// SPDX-License-Identifier: Apache-2.0
// GPT-2's backward pass by hand, to every parameter, and its loss.
#pragma once

#include <utility>
#include <vector>

#include "reference/model/gpt2.hpp"
#include "reference/model/loss.hpp"

namespace plumbline::reference {

/// The adjoint of gpt2_forward: adds to `grad` what a loss with dL/d hidden = grad_hidden does to
/// the parameters. Norms and GELU are computed once more from what the state keeps.
/// Shapes: grad_hidden [T, C]. Arguments as for gpt2_forward, and the state that it returned.
/// @throws std::invalid_argument if shapes do not agree.
template <class Tier, class Position, class State, Real R = typename Tier::Scalar>
void gpt2_grad(const Gpt2Configuration<Position>& c, const Gpt2Parameters<R, Position>& p,
               const std::vector<int>& ids, const State& state, const Matrix<R>& grad_hidden,
               Gpt2Parameters<R, Position>& grad) {
  require(grad.blocks.size() == p.blocks.size(), "grad.blocks", grad.blocks.size(),
          "as many as there are parameters of");
  require(state.blocks.size() == p.blocks.size(), "state.blocks", state.blocks.size(),
          "as many as there are parameters of");
  Matrix<R> grad_x = layernorm_grad(p.ln_f, state.output, c.epsilon, grad_hidden, grad.ln_f);
  for (std::size_t layer = p.blocks.size(); layer-- > 0;) {
    const Gpt2Block<R, Position>& block = p.blocks[layer];
    Gpt2Block<R, Position>& to = grad.blocks[layer];
    const auto& kept = state.blocks[layer];

    // y = m + c_proj(GELU(c_fc(LN2(m))))
    Matrix<R> back =
        linear_grad<Tier>(block.c_proj, elementwise(kept.hidden, gelu_tanh<R>), grad_x, to.c_proj);
    back = elementwise_grad(kept.hidden, gelu_tanh_derivative<R>, back);
    back =
        linear_grad<Tier>(block.c_fc, layernorm(block.ln_2, kept.middle, c.epsilon), back, to.c_fc);
    add_to(grad_x, layernorm_grad(block.ln_2, kept.middle, c.epsilon, back, to.ln_2));

    // m = x + attention(LN1(x))
    back = attention_layer_grad<Tier>(block.attention, c.layout(), c.position,
                                      layernorm(block.ln_1, kept.input, c.epsilon), kept.attention,
                                      grad_x, to.attention);
    add_to(grad_x, layernorm_grad(block.ln_1, kept.input, c.epsilon, back, to.ln_1));
  }
  c.embedding.add_grad(grad_x, grad.wpe);
  add_to(grad.wte, embedding_grad(static_cast<int>(p.wte.rows()), ids, grad_x));
}

/// Targets of a language model: the token after each, none after the last.
inline Targets next_tokens(const std::vector<int>& ids) {
  Targets targets(ids.size());
  for (std::size_t t = 0; t + 1 < ids.size(); ++t) targets[t] = ids[t + 1];
  return targets;
}

/// The mean cross-entropy of the targets (model/loss.hpp), in nats; adds grad_loss times its
/// gradient to `grad`. For the mean over several sequences, grad_loss is a sequence's share of all
/// targets. Arguments and throws as for gpt2_forward and cross_entropy.
template <class Tier, class Position, Real R = typename Tier::Scalar>
R gpt2_loss_grad(const Gpt2Configuration<Position>& c, const Gpt2Parameters<R, Position>& p,
                 const std::vector<int>& ids, const Targets& targets, const Mask& mask,
                 const R& grad_loss, Gpt2Parameters<R, Position>& grad) {
  const auto state = gpt2_forward<Tier>(c, p, ids, mask);
  Matrix<R> logits = gpt2_logits<Tier>(p, state.hidden);
  const R loss = cross_entropy(logits, targets);
  logits = cross_entropy_grad(logits, targets, grad_loss);
  gpt2_grad<Tier>(c, p, ids, state, gpt2_logits_grad<Tier>(p, state.hidden, logits, grad), grad);
  return loss;
}

}  // namespace plumbline::reference
