// SPDX-License-Identifier: Apache-2.0
// The backward pass of the LLaMA-style decoder by hand, to every parameter.
#pragma once

#include <utility>
#include <vector>

#include "reference/model/llama_style.hpp"

namespace plumbline::reference {

/// The adjoint of llama_style_logits: adds to `grad` and returns d hidden.
template <class Tier, class Position, Real R = typename Tier::Scalar>
Matrix<R> llama_style_logits_grad(const LlamaStyleParameters<R, Position>& p,
                                  const Matrix<R>& hidden, const Matrix<R>& grad_logits,
                                  LlamaStyleParameters<R, Position>& grad) {
  LinearLayerGrad<R> by = Tier::linear_grad(hidden, p.head, grad_logits);
  add_to(grad.head, by.w);
  return std::move(by.x);
}

/// The adjoint of y = W_down (silu(gate) up) with gate = W_gate n, up = W_up n: adds to `grad` and
/// returns dn. Shapes: normed [T, C], gate and up [T, hidden], grad_y [T, C].
template <class Tier, class Position, Real R = typename Tier::Scalar>
Matrix<R> swiglu_mlp_grad(const LlamaStyleLayer<R, Position>& p, const Matrix<R>& normed,
                          const Matrix<R>& gate, const Matrix<R>& up, const Matrix<R>& grad_y,
                          LlamaStyleLayer<R, Position>& grad) {
  Matrix<R> grad_gate = linear_grad<Tier>(p.down, swiglu(gate, up), grad_y, grad.down);
  Matrix<R> grad_up(grad_gate.rows(), grad_gate.cols());
  for (Eigen::Index n = 0; n < grad_gate.size(); ++n) {
    const SwigluGrad<R> by = swiglu_grad(gate.data()[n], up.data()[n], grad_gate.data()[n]);
    grad_gate.data()[n] = by.a;
    grad_up.data()[n] = by.b;
  }
  return residual(linear_grad<Tier>(p.gate, normed, grad_gate, grad.gate),
                  linear_grad<Tier>(p.up, normed, grad_up, grad.up));
}

/// The adjoint of llama_style_forward: adds to `grad` what a loss with dL/d hidden = grad_hidden
/// does to the parameters. Arguments as for llama_style_forward, and the state that it returned.
/// @throws std::invalid_argument if shapes do not agree.
template <class Tier, class Position, class State, Real R = typename Tier::Scalar>
void llama_style_grad(const LlamaStyleConfiguration<Position>& c,
                      const LlamaStyleParameters<R, Position>& p, const std::vector<int>& ids,
                      const State& state, const Matrix<R>& grad_hidden,
                      LlamaStyleParameters<R, Position>& grad) {
  require(grad.layers.size() == p.layers.size(), "grad.layers", grad.layers.size(),
          "as many as there are parameters of");
  require(state.layers.size() == p.layers.size(), "state.layers", state.layers.size(),
          "as many as there are parameters of");
  Matrix<R> grad_x = rmsnorm_grad(p.norm, state.output, c.epsilon, grad_hidden, grad.norm);
  for (std::size_t n = p.layers.size(); n-- > 0;) {
    const LlamaStyleLayer<R, Position>& layer = p.layers[n];
    LlamaStyleLayer<R, Position>& to = grad.layers[n];
    const auto& kept = state.layers[n];

    Matrix<R> back = swiglu_mlp_grad<Tier>(layer, rmsnorm(layer.mlp_norm, kept.middle, c.epsilon),
                                           kept.gate, kept.up, grad_x, to);
    add_to(grad_x, rmsnorm_grad(layer.mlp_norm, kept.middle, c.epsilon, back, to.mlp_norm));

    back = attention_layer_grad<Tier>(layer.attention, c.layout(), c.position,
                                      rmsnorm(layer.attention_norm, kept.input, c.epsilon),
                                      kept.attention, grad_x, to.attention);
    add_to(grad_x,
           rmsnorm_grad(layer.attention_norm, kept.input, c.epsilon, back, to.attention_norm));
  }
  c.embedding.add_grad(grad_x, grad.positions);
  add_to(grad.embedding, embedding_grad(static_cast<int>(p.embedding.rows()), ids, grad_x));
}

}  // namespace plumbline::reference
