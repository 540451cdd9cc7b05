// SPDX-License-Identifier: Apache-2.0
// CABLE: a bias from context, weighted by the query. Source: CABLE, equations 5 and 7.
#pragma once

#include "reference/bias/prefix_sum.hpp"
#include "reference/core/preconditions.hpp"
#include "reference/core/primitives.hpp"

namespace plumbline::reference {

/// The gain of the query at position i; gain[0] belongs to position `query_offset`.
/// @throws std::invalid_argument if the query has none.
template <Real R>
const R& gain_at(const Vector<R>& gain, int query_offset, int i) {
  require(query_offset <= i && i - query_offset < gain.size(), "i", i, "a position with a gain");
  return gain[i - query_offset];
}

/// Gradients of the parameters that CABLE's forms share.
template <Real R>
struct CableGrad {
  Vector<R> prefix_sum;  ///< [keys]
  Vector<R> gain;        ///< [queries]
};

/// b_ij = -g_i |S_i - S_j|.
/// Source: CABLE, equations 5 and 7 with the sign of the published code (axiomlab/Cable), which
/// negates the increments; as printed the bias would reward distance (CablePaper below), while the
/// text calls it a penalty. |.| makes it symmetric for encoders; for j <= i it changes nothing, as
/// S does not decrease. Inclusive prefix sum: the query's own increment counts, the key's does not.
/// Shapes: S [keys], g [queries]. Domain: S from increments >= 0, g >= 0; the formula needs
/// neither. Throws std::invalid_argument for a position that has no S or no g.
template <Real R>
struct Cable {
  Vector<R> prefix_sum;
  Vector<R> gain;
  int query_offset = 0;  ///< position of gain[0]

  using Grad = CableGrad<R>;

  R operator()(int i, int j) const {
    const R& g = gain_at(gain, query_offset, i);
    return -(g * absolute(prefix_difference(prefix_sum, i, j)));
  }

  Grad zero_grad() const {
    return {zeros<R>(static_cast<int>(prefix_sum.size())), zeros<R>(static_cast<int>(gain.size()))};
  }

  /// d b_ij: dS_i = -g_i sign(S_i - S_j), dS_j = -dS_i, dg_i = -|S_i - S_j|.
  void accumulate_grad(Grad& grad, int i, int j, const R& grad_bias) const {
    const R difference = prefix_difference(prefix_sum, i, j);
    const R by_difference = grad_bias * gain_at(gain, query_offset, i) * sign(difference);
    grad.prefix_sum[i] -= by_difference;
    grad.prefix_sum[j] += by_difference;
    grad.gain[i - query_offset] -= grad_bias * absolute(difference);
  }
};

/// b_ij = +g_i (S_i - S_j): CABLE equation 7 as printed; >= 0 for j <= i.
/// Shapes, domain and throws as for Cable.
template <Real R>
struct CablePaper {
  Vector<R> prefix_sum;
  Vector<R> gain;
  int query_offset = 0;

  using Grad = CableGrad<R>;

  R operator()(int i, int j) const {
    const R& g = gain_at(gain, query_offset, i);
    return g * prefix_difference(prefix_sum, i, j);
  }

  Grad zero_grad() const {
    return {zeros<R>(static_cast<int>(prefix_sum.size())), zeros<R>(static_cast<int>(gain.size()))};
  }

  /// d b_ij: dS_i = g_i, dS_j = -g_i, dg_i = S_i - S_j.
  void accumulate_grad(Grad& grad, int i, int j, const R& grad_bias) const {
    const R by_difference = grad_bias * gain_at(gain, query_offset, i);
    const R difference = prefix_difference(prefix_sum, i, j);
    grad.prefix_sum[i] += by_difference;
    grad.prefix_sum[j] -= by_difference;
    grad.gain[i - query_offset] += grad_bias * difference;
  }
};

}  // namespace plumbline::reference
