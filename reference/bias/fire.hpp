// SPDX-License-Identifier: Apache-2.0
// FIRE: a small network over the distance, relative to the query's position. Source: CABLE, section
// 2, "Fire", after Li et al., "Functional Interpolation for Relative Positions Improves Long
// Context Transformers", arXiv:2310.04418; code chuanyang-Zheng/DAPE.
#pragma once

#include <cstdlib>
#include <utility>

#include "reference/core/linear_algebra.hpp"
#include "reference/core/preconditions.hpp"
#include "reference/core/primitives.hpp"
#include "reference/core/sum.hpp"

namespace plumbline::reference {

/// What one head reads of Linear(1 -> W), ReLU, Linear(W -> H). The hidden layer, c and L are those
/// of all heads of the layer: their gradient is the sum over the heads. W is 32 in the code.
template <Real R>
struct FireParameters {
  Vector<R> hidden_weight, hidden_bias;  ///< [W]
  Vector<R> output_weight;               ///< [W], the head's row of [H, W]
  R output_bias;
  R c, L;
};

/// b_ij = sum_w v_w ReLU(w_w x_ij + b_w) + v_0 with hidden weights w, biases b and the output's v,
///   x_ij = ln(1 + |c (i - j)|) / (ln(1 + |c| max(i, |L L0|)) + epsilon).
/// Source: chuanyang-Zheng/DAPE (c = 0.1 and L = 1 at first, both trained; L0 = 512 fixed; epsilon
/// = 1e-6). CABLE, section 2, has no epsilon and one L in place of L L0: epsilon = 0, L0 = 1.
/// @throws std::invalid_argument if the sizes of the hidden layer differ, epsilon < 0, or the
/// divisor of row 0, the smallest, is not above 0 (epsilon = 0 needs c, L and L0 that are not 0).
template <Real R>
class Fire {
 public:
  Fire(FireParameters<R> parameters, const R& L0, const R& epsilon = R(1e-6))
      : of_(std::move(parameters)), L0_(L0), epsilon_(epsilon) {
    require(of_.hidden_bias.size() == of_.hidden_weight.size(), "hidden_bias.size()",
            of_.hidden_bias.size(), "the size of hidden_weight");
    require(of_.output_weight.size() == of_.hidden_weight.size(), "output_weight.size()",
            of_.output_weight.size(), "the size of hidden_weight");
    require(representative(epsilon) >= 0, "epsilon", representative(epsilon), "at least 0");
    const double least = representative(divisor(0));
    require(least > 0, "ln(1 + |c L L0|) + epsilon", least, "above 0");
  }

  using Grad = FireParameters<R>;

  const FireParameters<R>& parameters() const { return of_; }
  /// |L L0|: queries before this position are taken to reach so far.
  R threshold() const { return absolute(of_.L * L0_); }
  /// d|L L0| / dL.
  R threshold_rate() const { return sign(of_.L * L0_) * L0_; }
  /// max(i, |L L0|).
  R reach(int i) const { return maximum(R(i), threshold()); }
  /// ln(1 + |c| max(i, |L L0|)) + epsilon.
  R divisor(int i) const { return log1p(absolute(of_.c) * reach(i)) + epsilon_; }

  R operator()(int i, int j) const {
    const R x = interpolation(i, j);
    Vector<R> hidden(of_.hidden_weight.size());
    for (Eigen::Index w = 0; w < hidden.size(); ++w) hidden[w] = relu(before_relu(w, x));
    return dot(of_.output_weight, hidden) + of_.output_bias;
  }

  Grad zero_grad() const {
    const Vector<R> none = zeros<R>(static_cast<int>(of_.hidden_weight.size()));
    return {none, none, none, R(0.0), R(0.0), R(0.0)};
  }

  /// With y_w = w_w x + b_w, d = |i - j|, m = max(i, |L L0|), x = N / M:
  ///   dv_0 = 1, dv_w = ReLU(y_w), dy_w = v_w [y_w > 0], dw_w = dy_w x, db_w = dy_w,
  ///   dx = sum_w dy_w w_w,
  ///   dc = dx sign(c) (d / (1 + |c| d) - x m / (1 + |c| m)) / M,
  ///   dm = -dx x |c| / (1 + |c| m) / M,  dL = dm [i <= |L L0|] sign(L L0) L0.
  /// At the kinks: 0 for ReLU and |.|; where i = |L L0|, the larger one is taken to be |L L0|, so
  /// that L has its whole derivative there (PyTorch's max has half of it).
  void accumulate_grad(Grad& grad, int i, int j, const R& grad_bias) const {
    const R x = interpolation(i, j);
    grad.output_bias += grad_bias;
    R grad_x(0.0);
    for (Eigen::Index w = 0; w < of_.hidden_weight.size(); ++w) {
      const R y = before_relu(w, x);
      const R grad_y = grad_bias * of_.output_weight[w] * step(y);
      grad.output_weight[w] += grad_bias * relu(y);
      grad.hidden_weight[w] += grad_y * x;
      grad.hidden_bias[w] += grad_y;
      grad_x += grad_y * of_.hidden_weight[w];
    }
    const R c = absolute(of_.c), d(std::abs(i - j)), m = reach(i), one(1.0);
    const R by_quotient = grad_x / divisor(i);
    grad.c += by_quotient * (d / (one + c * d) - x * m / (one + c * m)) * sign(of_.c);
    const R threshold_is_larger = one - step(R(i) - threshold());
    grad.L -= by_quotient * x * c / (one + c * m) * threshold_is_larger * sign(of_.L * L0_) * L0_;
  }

 private:
  R interpolation(int i, int j) const {
    return log1p(absolute(of_.c) * R(std::abs(i - j))) / divisor(i);
  }
  R before_relu(Eigen::Index w, const R& x) const {
    return of_.hidden_weight[w] * x + of_.hidden_bias[w];
  }

  FireParameters<R> of_;
  R L0_, epsilon_;
};

}  // namespace plumbline::reference
