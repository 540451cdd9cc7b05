// SPDX-License-Identifier: Apache-2.0
// K-CABLE without weights. Source: CABLE, second version, section 5.6, on equation 5.
#pragma once

#include "reference/bias/k_cable.hpp"

namespace plumbline::reference {

/// b_ij = -ln(1 + (S_i - S_j)^2): KCable with gain 1. Shape: S [keys]. Throws std::invalid_argument
/// for a position that has no S.
template <Real R>
struct KCableNw {
  Vector<R> prefix_sum;

  using Grad = CableNwGrad<R>;

  R operator()(int i, int j) const { return -log_kernel(prefix_difference(prefix_sum, i, j)); }

  Grad zero_grad() const { return {zeros<R>(static_cast<int>(prefix_sum.size()))}; }

  /// With d = S_i - S_j: dS_i = -2d / (1 + d^2), dS_j = -dS_i.
  void accumulate_grad(Grad& grad, int i, int j, const R& grad_bias) const {
    const R by_difference = grad_bias * log_kernel_derivative(prefix_difference(prefix_sum, i, j));
    grad.prefix_sum[i] -= by_difference;
    grad.prefix_sum[j] += by_difference;
  }
};

}  // namespace plumbline::reference
