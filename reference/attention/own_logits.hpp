// SPDX-License-Identifier: Apache-2.0
// Attention over logits that a method has made of the products and more (CoPE, DAPE): as attention
// with a bias that is all of the logit, and products that are 0.
#pragma once

#include <vector>

#include "reference/attention/attention.hpp"

namespace plumbline::reference {

/// A bias, or logits, written out as numbers: b_ij for every query row and key.
template <Real R>
struct TabulatedBias {
  Matrix<R> values;  ///< [queries, keys]
  int query_offset = 0;

  using Grad = Matrix<R>;  ///< dL/db_ij

  R operator()(int i, int j) const { return values(i - query_offset, j); }
  Grad zero_grad() const {
    return zeros<R>(static_cast<int>(values.rows()), static_cast<int>(values.cols()));
  }
  void accumulate_grad(Grad& grad, int i, int j, const R& grad_bias) const {
    grad(i - query_offset, j) += grad_bias;
  }
};

/// The biases [batch * heads] as attention takes them.
template <Real R>
auto biases_of(const AttentionShape& s, const std::vector<Matrix<R>>& tables) {
  return [&s, &tables](int b, int h) {
    return TabulatedBias<R>{tables[b * s.heads + h], s.first_position(b)};
  };
}

/// The same inputs with queries and keys 0. The gradients of attention in them are 0.
/// @throws std::invalid_argument if there is a softcap, which is one of products alone, or sinks,
/// which no paper has with such logits.
template <Real R>
AttentionInputs<R> without_products(AttentionInputs<R> x) {
  require(!x.softcap, "softcap", 1, "none: the logits are more than products and a bias");
  require(x.sinks.empty(), "sinks", 1, "none: the logits are more than products and a bias");
  for (Matrix<R>& q : x.q) q = zeros<R>(x.shape.queries, x.shape.head_dim);
  for (Matrix<R>& k : x.k) k = zeros<R>(x.shape.keys, x.shape.head_dim);
  return x;
}

}  // namespace plumbline::reference
