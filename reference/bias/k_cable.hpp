// SPDX-License-Identifier: Apache-2.0
// K-CABLE: CABLE's difference through a logarithmic kernel. Source: CABLE, second version, section
// 5.6: "-log(b^2 + 1) as a kernel, applied to the relative biases".
#pragma once

#include "reference/bias/cable.hpp"
#include "reference/bias/cable_nw.hpp"
#include "reference/core/primitives.hpp"
#include "reference/core/square.hpp"

namespace plumbline::reference {

/// ln(1 + d^2). Its derivative in d is 2d / (1 + d^2).
template <Real R>
R log_kernel(const R& d) {
  return log1p(square(d));
}

template <Real R>
R log_kernel_derivative(const R& d) {
  return (d + d) / (R(1.0) + square(d));
}

/// b_ij = -g_i ln(1 + (S_i - S_j)^2), the weight outside of the kernel as in the published code
/// (KCablePaper has it inside). Shapes, domain and throws as for Cable.
template <Real R>
struct KCable {
  Vector<R> prefix_sum;
  Vector<R> gain;
  int query_offset = 0;  ///< position of gain[0]

  using Grad = CableGrad<R>;

  R operator()(int i, int j) const {
    const R& g = gain_at(gain, query_offset, i);
    return -(g * log_kernel(prefix_difference(prefix_sum, i, j)));
  }

  Grad zero_grad() const {
    return {zeros<R>(static_cast<int>(prefix_sum.size())), zeros<R>(static_cast<int>(gain.size()))};
  }

  /// With d = S_i - S_j: dS_i = -g_i 2d / (1 + d^2), dS_j = -dS_i, dg_i = -ln(1 + d^2).
  void accumulate_grad(Grad& grad, int i, int j, const R& grad_bias) const {
    const R d = prefix_difference(prefix_sum, i, j);
    const R by_difference = grad_bias * gain_at(gain, query_offset, i) * log_kernel_derivative(d);
    grad.prefix_sum[i] -= by_difference;
    grad.prefix_sum[j] += by_difference;
    grad.gain[i - query_offset] -= grad_bias * log_kernel(d);
  }
};

/// b_ij = -ln(1 + (g_i (S_i - S_j))^2): the paper's words taken literally, the kernel -ln(1 + b^2)
/// "applied to the relative biases" b of equation 7, which the weight belongs to. Without weights
/// it is KCableNw. Shapes, domain and throws as for Cable.
template <Real R>
struct KCablePaper {
  Vector<R> prefix_sum;
  Vector<R> gain;
  int query_offset = 0;  ///< position of gain[0]

  using Grad = CableGrad<R>;

  R operator()(int i, int j) const {
    const R& g = gain_at(gain, query_offset, i);
    return -log_kernel(g * prefix_difference(prefix_sum, i, j));
  }

  Grad zero_grad() const {
    return {zeros<R>(static_cast<int>(prefix_sum.size())), zeros<R>(static_cast<int>(gain.size()))};
  }

  /// With d = S_i - S_j, e = g_i d and k = 2e / (1 + e^2): dS_i = -g_i k, dS_j = -dS_i, dg_i = -d
  /// k.
  void accumulate_grad(Grad& grad, int i, int j, const R& grad_bias) const {
    const R& g = gain_at(gain, query_offset, i);
    const R d = prefix_difference(prefix_sum, i, j);
    const R by_argument = grad_bias * log_kernel_derivative(g * d);
    grad.prefix_sum[i] -= by_argument * g;
    grad.prefix_sum[j] += by_argument * g;
    grad.gain[i - query_offset] -= by_argument * d;
  }
};

}  // namespace plumbline::reference
