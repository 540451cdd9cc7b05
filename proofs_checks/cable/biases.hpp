// SPDX-License-Identifier: Apache-2.0
// CABLE's bias of one head, as printed and as published code computes it, from a sample.
#pragma once

#include "proofs_checks/cable/source.hpp"
#include "proofs_checks/statement.hpp"
#include "reference/bias/cable.hpp"
#include "reference/core/linear_algebra.hpp"

namespace plumbline::proofs_checks::cable {

/// The same gain for every one of n queries.
template <class R>
reference::Vector<R> same_gain(const R& gain, Eigen::Index n) {
  return reference::Vector<R>::Constant(n, gain);
}

/// Eq. 7 with the printed sign, B_ij = g (S_i - S_j).
template <class R>
reference::CablePaper<R> printed_bias(const reference::Vector<R>& increments, const R& gain) {
  return {reference::prefix_sum(increments), same_gain(gain, increments.size())};
}

/// The oracle's default, with the sign of the published code: B_ij = -g |S_i - S_j|.
template <class R>
reference::Cable<R> published_bias(const reference::Vector<R>& increments, const R& gain) {
  return {reference::prefix_sum(increments), same_gain(gain, increments.size())};
}

}  // namespace plumbline::proofs_checks::cable
