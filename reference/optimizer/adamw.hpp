// SPDX-License-Identifier: Apache-2.0
// AdamW, which CABLE's models are trained with. Source: Loshchilov, Hutter, "Decoupled Weight Decay
// Regularization", arXiv:1711.05101, algorithm 2.
#pragma once

#include "reference/optimizer/adam.hpp"

namespace plumbline::reference {

/// One step of AdamW on one tensor:
///   theta <- (1 - rate lambda) theta, then Adam's step with the plain gradient.
/// Lambda = weight_decay is multiplied by the learning rate, as in PyTorch's torch.optim.AdamW; in
/// algorithm 2 it is multiplied by the schedule's factor eta_t alone, so the paper's lambda is ours
/// times the rate that the schedule scales. Both are the same function under a schedule.
/// Which tensors decay: optimizer/weight_decay.hpp.
/// Shapes: one for parameter, grad and both moments. Domain: as adam_step.
/// @throws std::invalid_argument as check_step does; then nothing has changed.
template <Tensor T, Real R>
void adamw_step(T& parameter, const std::type_identity_t<T>& grad,
                Moments<std::type_identity_t<T>>& moments, const AdamSettings<R>& settings) {
  check_step(parameter, grad, moments, settings);
  decay_decoupled(parameter, settings);
  add_gradient(moments, grad, settings);
  move_by_moments(parameter, moments, settings);
}

}  // namespace plumbline::reference
