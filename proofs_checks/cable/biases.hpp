// SPDX-License-Identifier: Apache-2.0
// CABLE's bias of one head, as printed and as published code computes it.
#pragma once

#include "proofs_checks/cable/source.hpp"
#include "reference/bias/cable.hpp"

namespace plumbline::proofs_checks::cable {

/// The same gain for every one of n queries.
template <class R>
Vector<R> same_gain(const R& gain, Eigen::Index n) {
  return Vector<R>::Constant(n, gain);
}

/// Eq. 7 with the printed sign, B_ij = g (S_i - S_j).
template <class R>
reference::CablePaper<R> printed_bias(const Vector<R>& increments, const R& gain) {
  return {reference::prefix_sum(increments), same_gain(gain, increments.size())};
}

/// The oracle's default, with the sign of the published code: B_ij = -g |S_i - S_j|.
template <class R>
reference::Cable<R> published_bias(const Vector<R>& increments, const R& gain) {
  return {reference::prefix_sum(increments), same_gain(gain, increments.size())};
}

/// The position of the last token.
template <class R>
int last_of(const Vector<R>& tokens) {
  return static_cast<int>(tokens.size()) - 1;
}

/// The biases of all keys for a query.
template <class Bias>
auto row_of(const Bias& bias, int query) {
  auto row = bias.prefix_sum;
  for (int j = 0; j < row.size(); ++j) row[j] = bias(query, j);
  return row;
}

/// B_i,j+1 - B_ij with the published sign, for the last query i and every key j < i.
template <class R>
std::vector<R> nearer_less_farther(const R& gain, const Vector<R>& increments) {
  const auto bias = published_bias<R>(increments, gain);
  const int last = last_of(increments);
  std::vector<R> residuals;
  for (int j = 0; j < last; ++j) residuals.push_back(bias(last, j + 1) - bias(last, j));
  return residuals;
}

/// f(i, j) for every pair of so many tokens.
template <class F>
auto every_pair(int tokens, const F& f) {
  std::vector<decltype(f(0, 0))> residuals;
  for (int i = 0; i < tokens; ++i) {
    for (int j = 0; j < tokens; ++j) residuals.push_back(f(i, j));
  }
  return residuals;
}

}  // namespace plumbline::proofs_checks::cable
