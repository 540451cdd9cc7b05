// SPDX-License-Identifier: Apache-2.0
// Which functions do the heavy products of a model. The models are written once, over a tier; what
// costs less than a product (norms, activations, embeddings, losses) is read from its equation in
// every tier.
#pragma once

#include <concepts>
#include <utility>
#include <vector>

#include "reference/attention/attention.hpp"
#include "reference/attention/attention_grad.hpp"
#include "reference/model/linear_layer.hpp"

namespace plumbline::reference {

template <Real R>
struct AttentionResult {
  std::vector<Matrix<R>> output;  ///< [batch * heads], each [queries, head_dim]
  std::vector<Vector<R>> lse;     ///< [batch * heads], each [queries]; 0 where a row sees no key
};

/// The tier of the equations: any scalar, the order of sums of core/sum.hpp.
template <Real R>
struct Equations {
  using Scalar = R;

  /// Shapes and throws of linear_layer: X [T, in], W [out, in], b [out] or empty.
  static Matrix<R> linear(const Matrix<R>& X, const Matrix<R>& W, const Vector<R>& b) {
    return linear_layer(X, W, b);
  }

  /// Shapes and throws of linear_layer_grad.
  static LinearLayerGrad<R> linear_grad(const Matrix<R>& X, const Matrix<R>& W,
                                        const Matrix<R>& grad_y) {
    return linear_layer_grad(X, W, grad_y);
  }

  /// Arguments and throws of reference::attention; `bias_of(b, h)` is the bias of a head.
  template <class BiasOf>
  static AttentionResult<R> attention(const AttentionInputs<R>& x, const BiasOf& bias_of) {
    const std::vector<AttentionRow<R>> rows = reference::attention(x, bias_of);
    const AttentionShape& s = x.shape;
    AttentionResult<R> result;
    for (int head = 0; head < s.batch * s.heads; ++head) {
      Matrix<R> output(s.queries, s.head_dim);
      Vector<R> lse(s.queries);
      for (int r = 0; r < s.queries; ++r) {
        const AttentionRow<R>& of = rows[static_cast<std::size_t>(head) * s.queries + r];
        output.row(r) = of.output.transpose();
        lse[r] = of.lse;
      }
      result.output.push_back(std::move(output));
      result.lse.push_back(std::move(lse));
    }
    return result;
  }

  /// Arguments and throws of reference::attention_grad.
  template <class BiasOf>
  static auto attention_grad(const AttentionInputs<R>& x, const BiasOf& bias_of,
                             const AttentionUpstream<R>& upstream) {
    return reference::attention_grad(x, bias_of, upstream);
  }
};

/// What a model asks of its tier; the two functions of attention are templates over the bias.
template <class T>
concept Tier = Real<typename T::Scalar> &&
    requires(const Matrix<typename T::Scalar>& X, const Vector<typename T::Scalar>& b) {
  { T::linear(X, X, b) } -> std::same_as<Matrix<typename T::Scalar>>;
  { T::linear_grad(X, X, X) } -> std::same_as<LinearLayerGrad<typename T::Scalar>>;
};

}  // namespace plumbline::reference
