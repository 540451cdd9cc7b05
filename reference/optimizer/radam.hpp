// SPDX-License-Identifier: Apache-2.0
// RAdam, which BAM's models are trained with (appendix C: "RAdam with decoupled weight decay"; the
// versions of its train.py that we have seen take AdamW with betas 0.9 and 0.95).
// Source: Liu et al., "On the Variance of the Adaptive Learning Rate and Beyond", arXiv:1908.03265,
// algorithm 2 and section 4.
#pragma once

#include "reference/optimizer/moments.hpp"
#include "reference/scalars/double.hpp"

namespace plumbline::reference {

/// How weight decay enters: into the gradient, or past the running means.
enum class WeightDecay { l2, decoupled };

/// The length rho_t above which the step is rectified. Algorithm 2 has 4, where the variance that
/// it estimates becomes finite; PyTorch has 5, and so has the authors' published code (rho_t >= 5).
/// With beta2 = 0.999 the fifth step is the first rectified one for the paper, the sixth for
/// PyTorch; at the fifth the paper moves by 0.017 of Adam's step, PyTorch by the mean gradient
/// itself. So there is no default: a caller names the one that is meant.
enum class RadamThreshold { paper = 4, pytorch = 5 };

/// rho_inf = 2 / (1 - beta2) - 1: the length of the simple moving average whose centre of mass is
/// that of the exponential one, after many steps.
template <Real R>
R radam_final_length(const R& beta2) {
  return R(2.0) / (R(1.0) - beta2) - R(1.0);
}

/// rho_t = rho_inf - 2 t beta2^t / (1 - beta2^t), the same after t steps; 1 for t = 1, growing.
/// @throws std::invalid_argument unless step >= 1 and 0 < beta2 < 1.
template <Real R>
R radam_length(const R& beta2, int step) {
  require(step >= 1, "step", step, "at least 1");
  const double beta = representative(beta2);
  require(0 < beta && beta < 1, "beta2", beta, "between 0 and 1");
  const R decayed = power(beta2, R(step));
  return radam_final_length(beta2) - R(2.0) * R(step) * decayed / (R(1.0) - decayed);
}

/// Whether step t is rectified: rho_t > threshold, decided on the double nearest to beta2, so that
/// all readings decide alike.
inline bool radam_is_rectified(double beta2, int step, RadamThreshold threshold) {
  return radam_length(beta2, step) > static_cast<int>(threshold);
}

/// r_t = sqrt((rho_t - 4)(rho_t - 2) rho_inf / ((rho_inf - 4)(rho_inf - 2) rho_t)), in (0, 1).
/// Domain: rho_t > 4. @throws std::invalid_argument unless that holds, or as radam_length does.
template <Real R>
R radam_rectification(const R& beta2, int step) {
  const R last = radam_final_length(beta2), length = radam_length(beta2, step);
  require(representative(length) > 4, "rho_t", representative(length), "above 4");
  const R four(4.0), two(2.0);
  return sqrt((length - four) * (length - two) * last / ((last - four) * (last - two) * length));
}

/// One step of RAdam on one tensor. With lambda = weight_decay: decoupled,
/// theta <- (1 - rate lambda) theta and g = grad; l2, g = grad + lambda theta. Then t <- t + 1,
///   m <- beta1 m + (1 - beta1) g,   v <- beta2 v + (1 - beta2) g^2,   n = m / (1 - beta1^t),
///   rho_t > threshold:  theta <- theta - rate r_t n sqrt(1 - beta2^t) / (sqrt(v) + epsilon),
///   else                theta <- theta - rate n.
/// Epsilon stands where PyTorch's torch.optim.RAdam has it: beside sqrt(v), not, as in Adam, beside
/// sqrt(v / (1 - beta2^t)). Algorithm 2 has none. Weights decay at every step, as in PyTorch; the
/// authors' published code by default skips the steps that it does not rectify, decay and all.
/// Shapes: one for parameter, grad and both moments. Domain: any gradient; the derivative of the
/// result exists where v > 0.
/// @throws std::invalid_argument as check_step does; then nothing has changed.
template <Tensor T, Real R>
void radam_step(T& parameter, const std::type_identity_t<T>& grad,
                Moments<std::type_identity_t<T>>& moments, const AdamSettings<R>& settings,
                WeightDecay decay, RadamThreshold threshold) {
  check_step(parameter, grad, moments, settings);
  if (decay == WeightDecay::decoupled) {
    decay_decoupled(parameter, settings);
    add_gradient(moments, grad, settings);
  } else {
    add_gradient(moments, with_l2_penalty(grad, parameter, settings.weight_decay), settings);
  }
  const int step = moments.step;
  const R first_correction = bias_correction(settings.beta1, step);
  if (!radam_is_rectified(representative(settings.beta2), step, threshold)) {
    for (Eigen::Index n = 0; n < parameter.size(); ++n) {
      parameter.data()[n] -= settings.learning_rate * (moments.first.data()[n] / first_correction);
    }
    return;
  }
  const R scale =
      radam_rectification(settings.beta2, step) * sqrt(bias_correction(settings.beta2, step));
  for (Eigen::Index n = 0; n < parameter.size(); ++n) {
    const R mean = moments.first.data()[n] / first_correction;
    const R root = sqrt(moments.second.data()[n]);
    parameter.data()[n] -= settings.learning_rate * (mean * (scale / (root + settings.epsilon)));
  }
}

}  // namespace plumbline::reference
