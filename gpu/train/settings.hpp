// SPDX-License-Identifier: Apache-2.0
// What a training run fixes beside the model. Host code.
#pragma once

namespace plumbline::gpu {

enum class OptimizerKind {
  adamw,          ///< CABLE
  radam,          ///< BAM; rectifies above rho = 4, as the article prints
  radam_pytorch,  ///< above rho = 5, as PyTorch and the article's authors do
};

/// The defaults are CABLE's, section 4.2.
struct OptimizerSettings {
  OptimizerKind kind = OptimizerKind::adamw;
  double beta1 = 0.9, beta2 = 0.95;  ///< in (0, 1)
  double epsilon = 1e-8;             ///< in [2^-126, infinity)
  double weight_decay = 0.1;         ///< at least 0; of what ParameterLayout::decaying says
  double max_norm = 1.0;             ///< of all gradients together; 0: no clipping
};

/// @throws BadInput naming the field, its value and what was expected.
void validate(const OptimizerSettings&);

}  // namespace plumbline::gpu
