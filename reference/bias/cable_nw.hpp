// SPDX-License-Identifier: Apache-2.0
// CABLE without weights. Source: CABLE, equation 5 ("CABLE_NW").
#pragma once

#include "reference/bias/prefix_sum.hpp"
#include "reference/core/primitives.hpp"

namespace plumbline::reference {

/// Gradient of the one parameter of the forms without weights.
template <Real R>
struct CableNwGrad {
  Vector<R> prefix_sum;  ///< [keys]
};

/// b_ij = -|S_i - S_j|: Cable with gain 1. Source: CABLE, equation 5, with the sign of the
/// published code. Shape: S [keys]. Throws std::invalid_argument for a position that has no S.
template <Real R>
struct CableNw {
  Vector<R> prefix_sum;

  using Grad = CableNwGrad<R>;

  R operator()(int i, int j) const { return -absolute(prefix_difference(prefix_sum, i, j)); }

  Grad zero_grad() const { return {zeros<R>(static_cast<int>(prefix_sum.size()))}; }

  /// d b_ij: dS_i = -sign(S_i - S_j), dS_j = -dS_i.
  void accumulate_grad(Grad& grad, int i, int j, const R& grad_bias) const {
    const R by_difference = grad_bias * sign(prefix_difference(prefix_sum, i, j));
    grad.prefix_sum[i] -= by_difference;
    grad.prefix_sum[j] += by_difference;
  }
};

/// b_ij = S_i - S_j: CABLE equation 5 as printed. Shape and throws as for CableNw.
template <Real R>
struct CableNwPaper {
  Vector<R> prefix_sum;

  using Grad = CableNwGrad<R>;

  R operator()(int i, int j) const { return prefix_difference(prefix_sum, i, j); }

  Grad zero_grad() const { return {zeros<R>(static_cast<int>(prefix_sum.size()))}; }

  /// d b_ij: dS_i = 1, dS_j = -1.
  void accumulate_grad(Grad& grad, int i, int j, const R& grad_bias) const {
    check_positions(prefix_sum, i, j);
    grad.prefix_sum[i] += grad_bias;
    grad.prefix_sum[j] -= grad_bias;
  }
};

}  // namespace plumbline::reference
