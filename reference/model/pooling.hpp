// SPDX-License-Identifier: Apache-2.0
// One embedding for a text, from those of its tokens. Source: Reimers, Gurevych, "Sentence-BERT",
// arXiv:1908.10084, section 3 (mean and CLS); the framework that CABLE's section 5.5 fine-tunes its
// BERT models with. The paper does not say which pooling; the framework's default is the mean.
#pragma once

#include <vector>

#include "reference/core/linear_algebra.hpp"
#include "reference/core/preconditions.hpp"

namespace plumbline::reference {

/// mean: of the visible tokens. cls: the first of them, BERT's [CLS]. last: the last of them, for
/// causal models, where it alone has seen all others.
enum class Pooling { mean, cls, last };

/// The tokens that count (no padding): positions in [0, T), ascending, at least one.
/// @throws std::invalid_argument otherwise.
inline void check_visible(const std::vector<int>& visible, int tokens) {
  require(!visible.empty(), "visible.size()", visible.size(), "at least 1");
  int previous = -1;
  for (int t : visible) {
    require(0 <= t && t < tokens, "visible", t, "the position of a token");
    require(t > previous, "visible", t, "a position above the one before");
    previous = t;
  }
}

/// e = 1/n sum_(t visible) x_t, or x_(first visible), or x_(last visible); the sum from left to
/// right. Shapes: X [T, C], visible [n], result [C].
/// @throws std::invalid_argument as check_visible does.
template <Real R>
Vector<R> pooled(const Matrix<R>& X, const std::vector<int>& visible, Pooling pooling) {
  check_visible(visible, static_cast<int>(X.rows()));
  if (pooling == Pooling::cls) return X.row(visible.front());
  if (pooling == Pooling::last) return X.row(visible.back());
  Vector<R> mean = zeros<R>(static_cast<int>(X.cols()));
  for (int t : visible) {
    for (Eigen::Index c = 0; c < X.cols(); ++c) mean[c] += X(t, c);
  }
  const R count(static_cast<int>(visible.size()));
  for (R& element : mean) element = element / count;
  return mean;
}

/// The adjoint: dx_t = de / n at every visible token for the mean, dx_t = de at the chosen one for
/// the others; 0 elsewhere. Shapes: de [C], result [tokens, C].
/// @throws std::invalid_argument as check_visible does.
template <Real R>
Matrix<R> pooled_grad(int tokens, const std::vector<int>& visible, Pooling pooling,
                      const Vector<R>& grad_embedding) {
  check_visible(visible, tokens);
  Matrix<R> grad = zeros<R>(tokens, static_cast<int>(grad_embedding.size()));
  if (pooling == Pooling::cls) {
    grad.row(visible.front()) = grad_embedding;
  } else if (pooling == Pooling::last) {
    grad.row(visible.back()) = grad_embedding;
  } else {
    const R count(static_cast<int>(visible.size()));
    for (int t : visible) {
      for (Eigen::Index c = 0; c < grad.cols(); ++c) grad(t, c) = grad_embedding[c] / count;
    }
  }
  return grad;
}

}  // namespace plumbline::reference
