// SPDX-License-Identifier: Apache-2.0
// A self-attention layer: projections to the heads, a position method, attention, the output's
// linear layer. Source: Vaswani et al., arXiv:1706.03762, section 3.2.2; the position methods as in
// CABLE, section 3, and BAM, section 2.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "reference/attention/own_logits.hpp"
#include "reference/attention/projections.hpp"
#include "reference/core/mask.hpp"
#include "reference/model/layer_parameters.hpp"
#include "reference/model/layers.hpp"
#include "reference/model/tier.hpp"
#include "reference/position/layer_position.hpp"

namespace plumbline::reference {

/// What a layer learns. Projection is FusedProjection<R> or SeparateProjections<R>, Position a
/// layer position (position/layer_position.hpp).
template <Real R, class Projection, class Position>
struct AttentionLayerParameters {
  Projection projection;
  LinearParameters<R> output;  ///< [width, width]
  typename Position::template Parameters<R> position;
  Vector<R> ssmax_scale;  ///< [heads], 1 at first; or empty: no SSMax

  static AttentionLayerParameters zero(const HeadLayout& layout, const Position& position,
                                       bool with_bias, bool with_ssmax) {
    reference::check(layout);
    return {Projection::zero(layout, with_bias),
            zero_linear<R>(layout.width, layout.width, with_bias),
            position.template zero_parameters<R>(layout.heads, layout.width),
            zeros<R>(with_ssmax ? layout.heads : 0)};
  }

  /// @throws std::invalid_argument unless the linear layers and SSMax's scale have the shapes of
  /// zero. (What the position method learns is for check_position_parameters.)
  void check(const HeadLayout& layout, bool with_bias, bool with_ssmax) const {
    reference::check(layout);
    projection.check(layout, with_bias);
    check_linear(output, "output", layout.width, layout.width, with_bias);
    require(ssmax_scale.size() == (with_ssmax ? layout.heads : 0), "ssmax_scale.size()",
            ssmax_scale.size(), "heads with SSMax, else 0");
  }

  /// Of the parameters that Hugging Face's models do not have: the position method's, and SSMax's.
  template <class Self, class Visit>
  static void each_of_position(Self& self, const std::string& name, const Visit& visit) {
    Position::template Parameters<R>::each(self.position, name + ".position", visit);
    if (self.ssmax_scale.size() > 0) visit(name + ".ssmax.scale", self.ssmax_scale);
  }
};

/// @throws std::invalid_argument if a parameter of the position method, or SSMax's scale where
/// there is one, has another shape than the layer's heads and width ask for.
template <Real R, class Projection, class Position>
void check_position_parameters(const AttentionLayerParameters<R, Projection, Position>& p,
                               const HeadLayout& layout, const Position& position) {
  struct Shape {
    std::string name;
    Eigen::Index rows, columns;
  };
  const auto shapes_of = [](const typename Position::template Parameters<R>& learned) {
    std::vector<Shape> shapes;
    learned.each(learned, "position", [&](const std::string& name, const auto& tensor) {
      shapes.push_back({name, tensor.rows(), tensor.cols()});
    });
    return shapes;
  };
  const std::vector<Shape> given = shapes_of(p.position);
  const std::vector<Shape> right =
      shapes_of(position.template zero_parameters<R>(layout.heads, layout.width));
  require(given.size() == right.size(), "parameters of position", given.size(),
          "as many as the method has");
  for (std::size_t n = 0; n < given.size(); ++n) {
    require(given[n].rows == right[n].rows, (given[n].name + ".rows()").c_str(), given[n].rows,
            "what the layer's heads and width ask for");
    require(given[n].columns == right[n].columns, (given[n].name + ".cols()").c_str(),
            given[n].columns, "what the layer's heads and width ask for");
  }
  require(p.ssmax_scale.size() == 0 || p.ssmax_scale.size() == layout.heads, "ssmax_scale.size()",
          p.ssmax_scale.size(), "heads, or 0");
}

/// @throws std::invalid_argument unless the mask is of one sequence of that many tokens.
inline void check_mask_of_one(const Mask& mask, int tokens) {
  require(mask.lengths.size() <= 1, "lengths.size()", mask.lengths.size(), "1, or 0");
  for (int length : mask.lengths) {
    require(0 <= length && length <= tokens, "lengths", length, "from 0 to the number of tokens");
  }
  require(mask.documents.empty() || static_cast<int>(mask.documents.size()) == tokens,
          "documents.size()", mask.documents.size(), "the number of tokens, or 0");
}

/// What the backward pass needs of a forward pass, and the layer's result.
template <Real R, class Bias>
struct AttentionLayerState {
  AttentionInputs<R> inputs;      ///< one sequence; queries and keys after they are rotated
  std::vector<Bias> biases;       ///< [heads]
  std::vector<Matrix<R>> logits;  ///< [heads], of a method with logits of its own
  Matrix<R> merged;               ///< [T, width]: the heads' outputs side by side
  Matrix<R> result;               ///< [T, width]
};

/// Queries, keys and values of the tokens X [T, width], the first of them at position `offset`.
template <class Tier, class Parameters, class Position, Real R = typename Tier::Scalar>
Heads<R> rotated_heads(const Parameters& p, const HeadLayout& layout, const Position& position,
                       const Matrix<R>& X, int offset) {
  Heads<R> heads = p.projection.template heads<Tier>(layout, X);
  for (Matrix<R>& q : heads.q) q = Matrix<R>(position.rotated(q, offset));
  for (Matrix<R>& k : heads.k) k = Matrix<R>(position.rotated(k, offset));
  return heads;
}

/// The rest of a layer, from the heads on: queries [n, head_dim] are the last of the keys.
/// The scale is 1/sqrt(head_dim).
template <class Tier, class Parameters, class Position, class Bias, Real R = typename Tier::Scalar>
AttentionLayerState<R, Bias> attended(const Parameters& p, const HeadLayout& layout,
                                      const Position& position, Heads<R> heads,
                                      std::vector<Bias> biases, const Mask& mask) {
  AttentionLayerState<R, Bias> state;
  const int queries = static_cast<int>(heads.q[0].rows());
  const int keys = static_cast<int>(heads.k[0].rows());
  state.inputs = {
      {1, layout.heads, layout.kv_heads, queries, keys, layout.head_dim(), keys - queries},
      std::move(heads.q),
      std::move(heads.k),
      std::move(heads.v),
      R(1.0) / sqrt(R(layout.head_dim())),
      position.mask(mask),
      std::vector<R>(p.ssmax_scale.begin(), p.ssmax_scale.end())};
  state.biases = std::move(biases);
  state.merged = Matrix<R>(queries, layout.width);
  if constexpr (HasOwnLogits<Position>) {
    state.logits = position.logits(p.position, state.inputs, state.biases);
    merge_heads(
        Tier::attention(without_products(state.inputs), biases_of(state.inputs.shape, state.logits))
            .output,
        state.merged, 0);
  } else {
    const auto bias_of = [&](int, int h) { return state.biases[h]; };
    merge_heads(Tier::attention(state.inputs, bias_of).output, state.merged, 0);
  }
  state.result = linear<Tier>(p.output, state.merged);
  return state;
}

/// Y = concat_h(attention of head h) W_o + b_o. Shapes: X [T, width], one sequence; result of the
/// same shape. @throws std::invalid_argument if shapes do not agree, heads does not divide width,
/// the mask is not of one sequence of T tokens, or a parameter of the position method is outside of
/// its domain.
template <class Tier, class Parameters, class Position, Real R = typename Tier::Scalar>
auto attention_layer(const Parameters& p, const HeadLayout& layout, const Position& position,
                     const Matrix<R>& X, const Mask& mask) {
  check(layout);
  check_position_parameters(p, layout, position);
  check_mask_of_one(mask, static_cast<int>(X.rows()));
  typename Position::template Cache<R> nothing_before{};
  auto biases = position.biases(p.position, X, layout.heads, nothing_before);
  return attended<Tier>(p, layout, position, rotated_heads<Tier>(p, layout, position, X, 0),
                        std::move(biases), mask);
}

/// The adjoint of the attention in a layer: adds the gradients of what the method reads beside the
/// biases to `grad`.
template <class Tier, class Parameters, class Position, class State, Real R = typename Tier::Scalar>
auto attended_grad(const Parameters& p, const Position& position, const State& state,
                   const AttentionUpstream<R>& upstream, Parameters& grad) {
  if constexpr (HasOwnLogits<Position>) {
    auto by = Tier::attention_grad(without_products(state.inputs),
                                   biases_of(state.inputs.shape, state.logits), upstream);
    auto by_biases = position.logits_grad(p.position, state.inputs, state.biases, by.bias,
                                          grad.position, by.q, by.k);
    return AttentionGrad<R, typename decltype(by_biases)::value_type>{
        std::move(by.q), std::move(by.k), std::move(by.v), std::move(by_biases),
        std::move(by.ssmax_scale)};
  } else {
    const auto bias_of = [&](int, int h) { return state.biases[h]; };
    return Tier::attention_grad(state.inputs, bias_of, upstream);
  }
}

/// The adjoint: adds the gradients of the parameters to `grad` and returns dX. Arguments as for
/// attention_layer, and the state that it returned.
/// @throws std::invalid_argument if shapes do not agree.
template <class Tier, class Parameters, class Position, class State, Real R = typename Tier::Scalar>
Matrix<R> attention_layer_grad(const Parameters& p, const HeadLayout& layout,
                               const Position& position, const Matrix<R>& X, const State& state,
                               const Matrix<R>& grad_result, Parameters& grad) {
  check_position_parameters(grad, layout, position);
  require(grad.ssmax_scale.size() == p.ssmax_scale.size(), "grad.ssmax_scale.size()",
          grad.ssmax_scale.size(), "that of the parameters");
  const Matrix<R> grad_merged = linear_grad<Tier>(p.output, state.merged, grad_result, grad.output);
  auto by = attended_grad<Tier>(
      p, position, state,
      AttentionUpstream<R>{split_heads(grad_merged, 0, layout.heads, layout.head_dim()), {}}, grad);

  for (Matrix<R>& q : by.q) q = Matrix<R>(position.rotated_grad(q, 0));
  for (Matrix<R>& k : by.k) k = Matrix<R>(position.rotated_grad(k, 0));
  Matrix<R> grad_x = p.projection.template heads_grad<Tier>(
      layout, X, {std::move(by.q), std::move(by.k), std::move(by.v)}, grad.projection);
  const Matrix<R> by_bias = position.biases_grad(p.position, X, by.bias, grad.position);
  if (by_bias.size() > 0) add_to(grad_x, by_bias);
  for (std::size_t h = 0; h < by.ssmax_scale.size(); ++h) {
    grad.ssmax_scale[static_cast<Eigen::Index>(h)] += by.ssmax_scale[h];
  }
  return grad_x;
}

}  // namespace plumbline::reference
