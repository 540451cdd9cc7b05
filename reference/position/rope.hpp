// SPDX-License-Identifier: Apache-2.0
// RoPE: queries and keys rotated by their position. Source: Su et al., "RoFormer",
// arXiv:2104.09864, equations 15 and 34.
#pragma once

#include <type_traits>
#include <vector>

#include "reference/core/linear_algebra.hpp"
#include "reference/core/preconditions.hpp"
#include "reference/core/primitives.hpp"

namespace plumbline::reference {

/// Which components of a head rotate together as pair k of D/2.
enum class RopePairs {
  interleaved,  ///< 2k and 2k + 1: the article
  half_split,   ///< k and k + D/2: GPT-NeoX and Hugging Face's rotate_half
};

/// Where pair k stands: its first component, and its second.
struct RopePair {
  int first, second;
};

inline RopePair rope_pair(RopePairs pairs, int k, int head_dim) {
  if (pairs == RopePairs::interleaved) return {2 * k, 2 * k + 1};
  return {k, k + head_dim / 2};
}

/// theta_k = base^(-2k/D), the angle by which a step of one position rotates pair k.
/// Source: RoFormer, section 3.2.2, base 10000; BAM's baseline has base 500000.
/// Domain: base > 0. @throws std::invalid_argument unless base > 0, D is even and above 0 and
/// 0 <= k < D/2.
template <Real R>
R rope_frequency(const R& base, int k, int head_dim) {
  require(representative(base) > 0, "base", representative(base), "above 0");
  require(head_dim > 0 && head_dim % 2 == 0, "head_dim", head_dim, "even and above 0");
  require(0 <= k && k < head_dim / 2, "k", k, "a pair of components");
  return power(base, R(-2 * k) / R(head_dim));
}

/// How many components are rotated, the first ones. @throws std::invalid_argument unless that is
/// even and above 0 and at most head_dim.
inline int rotary_width(int rotary_dim, int head_dim) {
  const int width = rotary_dim != 0 ? rotary_dim : head_dim;
  require(width > 0 && width % 2 == 0, rotary_dim != 0 ? "rotary_dim" : "head_dim", width,
          "even and above 0");
  require(width <= head_dim, "rotary_dim", width, "at most head_dim");
  return width;
}

/// Every row of X rotated by its position, row t at position t + offset, with (a, b) a pair's
/// components and phi = (t + offset) theta_k:
///   a' = a cos phi - b sin phi,  b' = a sin phi + b cos phi.
/// Of rotary_dim components, the first, where it is not 0, with theta_k and pairs as those of a
/// head of that size; the others stay (Black et al., "GPT-NeoX-20B", arXiv:2204.06745,
/// section 2.1). Source: RoFormer, equations 15 and 34. The product of a query at i and a key at j
/// depends on their positions through i - j alone (equation 16). The base is not learned: no
/// gradient. Shapes: X [T, D] -> [T, D], one head. Domain: base > 0; any offset, negative ones too.
/// Error: that of phi, which grows with the position, is an absolute error of the rotation.
/// @throws std::invalid_argument unless base > 0 and D, or rotary_dim <= D, is even and above 0.
template <Real R>
Matrix<R> rope(const Matrix<R>& X, int offset, const std::type_identity_t<R>& base, RopePairs pairs,
               int rotary_dim = 0) {
  const int width = rotary_width(rotary_dim, static_cast<int>(X.cols()));
  Matrix<R> rotated = X;
  for (int k = 0; k < width / 2; ++k) {
    const auto [first, second] = rope_pair(pairs, k, width);
    const R frequency = rope_frequency<R>(base, k, width);
    for (int t = 0; t < X.rows(); ++t) {
      const R phi = R(t + offset) * frequency;
      const R cosine = cos(phi), sine = sin(phi);
      rotated(t, first) = X(t, first) * cosine - X(t, second) * sine;
      rotated(t, second) = X(t, first) * sine + X(t, second) * cosine;
    }
  }
  return rotated;
}

/// The adjoint: the transpose of a rotation is the rotation back,
///   da = da' cos phi + db' sin phi,  db = db' cos phi - da' sin phi.
/// Shapes, domain and throws as for rope.
template <Real R>
Matrix<R> rope_grad(const Matrix<R>& grad_rotated, int offset, const std::type_identity_t<R>& base,
                    RopePairs pairs, int rotary_dim = 0) {
  const int width = rotary_width(rotary_dim, static_cast<int>(grad_rotated.cols()));
  Matrix<R> grad = grad_rotated;
  for (int k = 0; k < width / 2; ++k) {
    const auto [first, second] = rope_pair(pairs, k, width);
    const R frequency = rope_frequency<R>(base, k, width);
    for (int t = 0; t < grad.rows(); ++t) {
      const R phi = R(t + offset) * frequency;
      const R cosine = cos(phi), sine = sin(phi);
      grad(t, first) = grad_rotated(t, first) * cosine + grad_rotated(t, second) * sine;
      grad(t, second) = grad_rotated(t, second) * cosine - grad_rotated(t, first) * sine;
    }
  }
  return grad;
}

/// The component of an interleaved head that stands at each component of a half-split one:
/// 0, 2, .., D-2, 1, 3, .., D-1. With the rows of W_q and W_k in this order, half-split rotation
/// gives the logits of interleaved rotation; so weights move from one to the other.
/// @throws std::invalid_argument unless D is even and above 0.
inline std::vector<int> half_split_order(int head_dim) {
  require(head_dim > 0 && head_dim % 2 == 0, "head_dim", head_dim, "even and above 0");
  std::vector<int> order(head_dim);
  for (int k = 0; k < head_dim / 2; ++k) {
    const RopePair from = rope_pair(RopePairs::interleaved, k, head_dim);
    const RopePair to = rope_pair(RopePairs::half_split, k, head_dim);
    order[to.first] = from.first;
    order[to.second] = from.second;
  }
  return order;
}

}  // namespace plumbline::reference
