// SPDX-License-Identifier: Apache-2.0
// From a layer's input to the queries, keys and values of its heads. Source: Vaswani et al.,
// "Attention Is All You Need", arXiv:1706.03762, section 3.2.2; grouped keys and values: Ainslie
// et al., "GQA", arXiv:2305.13245.
#pragma once

#include <string>
#include <vector>

#include "reference/core/preconditions.hpp"
#include "reference/model/layer_parameters.hpp"
#include "reference/model/layers.hpp"

namespace plumbline::reference {

/// How a layer's width divides into heads. Head h has the columns h D .. (h + 1) D - 1.
struct HeadLayout {
  int width = 1, heads = 1, kv_heads = 1;

  int head_dim() const { return width / heads; }
  int kv_width() const { return kv_heads * head_dim(); }
};

/// @throws std::invalid_argument unless kv_heads >= 1 divides heads and heads divides width.
inline void check(const HeadLayout& layout) {
  require(layout.kv_heads >= 1, "kv_heads", layout.kv_heads, "at least 1");
  require(layout.heads >= 1 && layout.heads % layout.kv_heads == 0, "heads", layout.heads,
          "a multiple of kv_heads");
  require(layout.width >= 1 && layout.width % layout.heads == 0, "width", layout.width,
          "a multiple of heads");
}

/// The heads' columns, from column `first` on. Shapes: X [T, any], result [heads] of [T, head_dim].
/// @throws std::invalid_argument if X has not as many columns.
template <Real R>
std::vector<Matrix<R>> split_heads(const Matrix<R>& X, int first, int heads, int head_dim) {
  require(first + heads * head_dim <= X.cols(), "X.cols()", X.cols(), "the columns of all heads");
  std::vector<Matrix<R>> split;
  for (int h = 0; h < heads; ++h) {
    split.push_back(X.middleCols(first + h * head_dim, head_dim));
  }
  return split;
}

/// The inverse: writes the heads into the columns of X from `first` on.
/// @throws std::invalid_argument if X has not as many columns, or another number of rows.
template <Real R>
void merge_heads(const std::vector<Matrix<R>>& split, Matrix<R>& X, int first) {
  Eigen::Index column = first;
  for (const Matrix<R>& head : split) {
    require(head.rows() == X.rows(), "head.rows()", head.rows(), "the rows of X");
    require(column + head.cols() <= X.cols(), "X.cols()", X.cols(), "the columns of all heads");
    X.middleCols(column, head.cols()) = head;
    column += head.cols();
  }
}

/// linear, then split_heads. @throws std::invalid_argument unless the layer has one output for each
/// column of the heads.
template <class Tier, Real R>
std::vector<Matrix<R>> linear_heads(const LinearParameters<R>& p, const Matrix<R>& X, int heads,
                                    int head_dim) {
  require(p.weight.rows() == heads * head_dim, "weight.rows()", p.weight.rows(),
          "the columns of all heads");
  return split_heads(linear<Tier>(p, X), 0, heads, head_dim);
}

/// Queries, keys and values, each one [T, head_dim] a head; or their gradients.
template <Real R>
struct Heads {
  std::vector<Matrix<R>> q, k, v;  ///< [heads], [kv_heads], [kv_heads]
};

/// One linear layer for all three, its outputs q | k | v: GPT-2's c_attn.
template <Real R>
struct FusedProjection {
  LinearParameters<R> qkv;  ///< [width + 2 kv_width, width]

  static FusedProjection zero(const HeadLayout& layout, bool with_bias) {
    return {zero_linear<R>(layout.width + 2 * layout.kv_width(), layout.width, with_bias)};
  }
  void check(const HeadLayout& layout, bool with_bias) const {
    check_linear(qkv, "qkv", layout.width + 2 * layout.kv_width(), layout.width, with_bias);
  }

  template <class Tier>
  Heads<R> heads(const HeadLayout& layout, const Matrix<R>& X) const {
    const int D = layout.head_dim(), C = layout.width, kv = layout.kv_width();
    require(qkv.weight.rows() == C + 2 * kv, "qkv.weight.rows()", qkv.weight.rows(),
            "the columns of all queries, keys and values");
    const Matrix<R> Y = linear<Tier>(qkv, X);
    return {split_heads(Y, 0, layout.heads, D), split_heads(Y, C, layout.kv_heads, D),
            split_heads(Y, C + kv, layout.kv_heads, D)};
  }

  /// Adds the gradients of the parameters to `grad` and returns dX.
  template <class Tier>
  Matrix<R> heads_grad(const HeadLayout& layout, const Matrix<R>& X, const Heads<R>& grad_heads,
                       FusedProjection& grad) const {
    Matrix<R> grad_y(X.rows(), qkv.weight.rows());
    merge_heads(grad_heads.q, grad_y, 0);
    merge_heads(grad_heads.k, grad_y, layout.width);
    merge_heads(grad_heads.v, grad_y, layout.width + layout.kv_width());
    return linear_grad<Tier>(qkv, X, grad_y, grad.qkv);
  }
};

/// A linear layer for each: BERT and LLaMA.
template <Real R>
struct SeparateProjections {
  LinearParameters<R> query, key, value;  ///< [width, width], [kv_width, width], likewise

  static SeparateProjections zero(const HeadLayout& layout, bool with_bias) {
    const LinearParameters<R> kv = zero_linear<R>(layout.kv_width(), layout.width, with_bias);
    return {zero_linear<R>(layout.width, layout.width, with_bias), kv, kv};
  }
  void check(const HeadLayout& layout, bool with_bias) const {
    check_linear(query, "query", layout.width, layout.width, with_bias);
    check_linear(key, "key", layout.kv_width(), layout.width, with_bias);
    check_linear(value, "value", layout.kv_width(), layout.width, with_bias);
  }

  template <class Tier>
  Heads<R> heads(const HeadLayout& layout, const Matrix<R>& X) const {
    const int D = layout.head_dim();
    return {linear_heads<Tier>(query, X, layout.heads, D),
            linear_heads<Tier>(key, X, layout.kv_heads, D),
            linear_heads<Tier>(value, X, layout.kv_heads, D)};
  }

  /// Adds the gradients of the parameters to `grad` and returns dX.
  template <class Tier>
  Matrix<R> heads_grad(const HeadLayout&, const Matrix<R>& X, const Heads<R>& grad_heads,
                       SeparateProjections& grad) const {
    const auto back = [&](const LinearParameters<R>& p, const std::vector<Matrix<R>>& grad_split,
                          LinearParameters<R>& grad_p) {
      Matrix<R> grad_y(X.rows(), p.weight.rows());
      merge_heads(grad_split, grad_y, 0);
      return linear_grad<Tier>(p, X, grad_y, grad_p);
    };
    Matrix<R> grad_x = back(query, grad_heads.q, grad.query);
    add_to(grad_x, back(key, grad_heads.k, grad.key));
    add_to(grad_x, back(value, grad_heads.v, grad.value));
    return grad_x;
  }
};

}  // namespace plumbline::reference
