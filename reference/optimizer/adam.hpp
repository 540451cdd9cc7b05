// SPDX-License-Identifier: Apache-2.0
// Adam. Source: Kingma, Ba, "Adam: A Method for Stochastic Optimization", arXiv:1412.6980,
// algorithm 1.
#pragma once

#include "reference/optimizer/moments.hpp"

namespace plumbline::reference {

/// theta <- theta - rate (m / (1 - beta1^t)) / (sqrt(v / (1 - beta2^t)) + epsilon), with the means
/// and their step t after add_gradient.
template <Tensor T, Real R>
void move_by_moments(T& parameter, const Moments<std::type_identity_t<T>>& moments,
                     const AdamSettings<R>& settings) {
  const R first_correction = bias_correction(settings.beta1, moments.step);
  const R second_correction = bias_correction(settings.beta2, moments.step);
  for (Eigen::Index n = 0; n < parameter.size(); ++n) {
    const R mean = moments.first.data()[n] / first_correction;
    const R root = sqrt(moments.second.data()[n] / second_correction);
    parameter.data()[n] -= settings.learning_rate * (mean / (root + settings.epsilon));
  }
}

/// One step of Adam on one tensor. With lambda = weight_decay, g = grad + lambda theta (an L2
/// penalty, PyTorch's torch.optim.Adam; none for lambda = 0), t <- t + 1,
///   m <- beta1 m + (1 - beta1) g,   v <- beta2 v + (1 - beta2) g^2,
///   theta <- theta - rate (m / (1 - beta1^t)) / (sqrt(v / (1 - beta2^t)) + epsilon).
/// The first step (t = 1) is therefore about rate in every element, whatever the gradient's size.
/// Shapes: one for parameter, grad and both moments. Domain: any gradient; the derivative of the
/// result exists where v > 0.
/// @throws std::invalid_argument as check_step does; then nothing has changed.
template <Tensor T, Real R>
void adam_step(T& parameter, const std::type_identity_t<T>& grad,
               Moments<std::type_identity_t<T>>& moments, const AdamSettings<R>& settings) {
  check_step(parameter, grad, moments, settings);
  add_gradient(moments, with_l2_penalty(grad, parameter, settings.weight_decay), settings);
  move_by_moments(parameter, moments, settings);
}

}  // namespace plumbline::reference
