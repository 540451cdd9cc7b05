// SPDX-License-Identifier: Apache-2.0
// ALiBi: a penalty linear in the distance.
// Source: Press, Smith, Lewis, "Train Short, Test Long"; code
// ofirpress/attention_with_linear_biases.
#pragma once

#include <bit>
#include <cstdlib>
#include <vector>

#include "reference/core/preconditions.hpp"
#include "reference/core/primitives.hpp"

namespace plumbline::reference {

/// b_ij = -m |i - j|, symmetric; under a causal mask it is -m (i - j).
/// Source: the ALiBi article, "bias_ij = -m_h |i - j|". Domain: any slope m. The slope is not
/// learned: there is no gradient.
template <Real R>
struct Alibi {
  R slope;

  struct Grad {};

  R operator()(int i, int j) const { return -(slope * R(std::abs(i - j))); }
  Grad zero_grad() const { return {}; }
  void accumulate_grad(Grad&, int, int, const R&) const {}
};

/// b_ij = m (j - i): as the article's code computes it (`slopes * relative_positions`). It equals
/// Alibi for j <= i; beyond, it rewards distance, so it is a penalty under a causal mask only.
template <Real R>
struct AlibiSigned {
  R slope;

  R operator()(int i, int j) const { return slope * R(j - i); }
};

/// b_ij = m j: as the original code adds it. It equals AlibiSigned up to m i, a constant of the
/// row: same probabilities and outputs, another LSE. No gradient, as Alibi.
template <Real R>
struct AlibiKeyPosition {
  R slope;

  struct Grad {};

  R operator()(int, int j) const { return slope * R(j); }
  Grad zero_grad() const { return {}; }
  void accumulate_grad(Grad&, int, int, const R&) const {}
};

/// The article's schedule: m_k = 2^(-8 (k+1) / H), k = 0..H-1, for every H.
/// Source: the ALiBi article, get_alibi_slopes. @throws std::invalid_argument if heads < 1.
template <Real R>
std::vector<R> alibi_slopes_geometric(int heads) {
  require(heads >= 1, "heads", heads, "at least 1");
  std::vector<R> slopes;
  for (int k = 0; k < heads; ++k) {
    slopes.push_back(power(R(2.0), R(-8.0 * (k + 1)) / R(heads)));
  }
  return slopes;
}

/// The official schedule: with p the largest power of two that is <= H, the geometric slopes of p
/// heads, then every second of the slopes of 2p heads, from the first, until there are H.
/// H = 12 gives exponents -1..-8, -0.5, -1.5, -2.5, -3.5.
/// Source: ofirpress/attention_with_linear_biases, get_slopes.
/// @throws std::invalid_argument if heads < 1.
template <Real R>
std::vector<R> alibi_slopes(int heads) {
  require(heads >= 1, "heads", heads, "at least 1");
  const int p = static_cast<int>(std::bit_floor(static_cast<unsigned>(heads)));
  std::vector<R> slopes = alibi_slopes_geometric<R>(p);
  if (heads == p) return slopes;
  const std::vector<R> finer = alibi_slopes_geometric<R>(2 * p);
  for (int k = 0; static_cast<int>(slopes.size()) < heads; k += 2) slopes.push_back(finer[k]);
  return slopes;
}

}  // namespace plumbline::reference
