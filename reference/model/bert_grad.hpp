// SPDX-License-Identifier: Apache-2.0
// BERT's backward pass by hand, to every parameter.
#pragma once

#include <vector>

#include "reference/model/bert.hpp"

namespace plumbline::reference {

/// The adjoint of bert_mlm: adds to `grad` and returns dL/d hidden, for dL/d logits = grad_logits.
/// Arguments as for bert_mlm, and the state that it returned.
template <class Tier, class Position, Real R = typename Tier::Scalar>
Matrix<R> bert_mlm_grad(const BertConfiguration<Position>& c, const BertParameters<R, Position>& p,
                        const Matrix<R>& hidden, const BertMlmState<R>& state,
                        const Matrix<R>& grad_logits, BertParameters<R, Position>& grad) {
  const Matrix<R> normed = layernorm(p.transform_norm, state.active, c.epsilon);
  const LinearLayerGrad<R> by = Tier::linear_grad(normed, p.word, grad_logits);
  add_to(grad.word, by.w);
  add_to(grad.decoder_bias, by.b);
  Matrix<R> back =
      layernorm_grad(p.transform_norm, state.active, c.epsilon, by.x, grad.transform_norm);
  back = elementwise_grad(state.dense, gelu_erf_derivative<R>, back);
  return linear_grad<Tier>(p.transform, hidden, back, grad.transform);
}

/// The adjoint of bert_forward: adds to `grad` what a loss with dL/d hidden = grad_hidden does to
/// the parameters. Arguments as for bert_forward, and the state that it returned.
/// @throws std::invalid_argument if shapes do not agree.
template <class Tier, class Position, class State, Real R = typename Tier::Scalar>
void bert_grad(const BertConfiguration<Position>& c, const BertParameters<R, Position>& p,
               const std::vector<int>& ids, const std::vector<int>& token_types, const State& state,
               const Matrix<R>& grad_hidden, BertParameters<R, Position>& grad) {
  require(grad.layers.size() == p.layers.size(), "grad.layers", grad.layers.size(),
          "as many as there are parameters of");
  require(state.layers.size() == p.layers.size(), "state.layers", state.layers.size(),
          "as many as there are parameters of");
  Matrix<R> grad_x = grad_hidden;
  for (std::size_t n = p.layers.size(); n-- > 0;) {
    const BertLayer<R, Position>& layer = p.layers[n];
    BertLayer<R, Position>& to = grad.layers[n];
    const auto& kept = state.layers[n];

    // x = LN(a + W_2 GELU(W_1 a + b_1) + b_2)
    Matrix<R> grad_sum =
        layernorm_grad(layer.output_norm, kept.output_sum, c.epsilon, grad_x, to.output_norm);
    Matrix<R> back =
        linear_grad<Tier>(layer.output, elementwise(kept.hidden, gelu_erf<R>), grad_sum, to.output);
    back = elementwise_grad(kept.hidden, gelu_erf_derivative<R>, back);
    const Matrix<R> a = layernorm(layer.attention_norm, kept.attention_sum, c.epsilon);
    add_to(grad_sum, linear_grad<Tier>(layer.intermediate, a, back, to.intermediate));

    // a = LN(x + attention(x))
    grad_x = layernorm_grad(layer.attention_norm, kept.attention_sum, c.epsilon, grad_sum,
                            to.attention_norm);
    back = attention_layer_grad<Tier>(layer.attention, c.layout(), c.position, kept.input,
                                      kept.attention, grad_x, to.attention);
    add_to(grad_x, back);
  }
  const Matrix<R> grad_sum =
      layernorm_grad(p.embedding_norm, state.embedding_sum, c.epsilon, grad_x, grad.embedding_norm);
  add_to(grad.word, embedding_grad(static_cast<int>(p.word.rows()), ids, grad_sum));
  add_to(grad.token_type,
         embedding_grad(static_cast<int>(p.token_type.rows()), token_types, grad_sum));
  c.embedding.add_grad(grad_sum, grad.positions);
}

}  // namespace plumbline::reference
