// SPDX-License-Identifier: Apache-2.0
// A step of AdamW and of RAdam, and clipping by the global norm, as a kernel with fp32 parameters
// and moments computes them. Derived in docs/bounds-ops.md, section "Optimizers".
#pragma once

#include "reference/optimizer/radam.hpp"
#include "verdict/bounds/ops/computed.hpp"

namespace plumbline::op_bounds {

/// One element after the step.
struct SteppedElement {
  Computed mean, mean_square, parameter;
};

/// One element before it, as stored; grad_factor 1 where nothing is clipped.
struct StepInput {
  double parameter, mean, mean_square, grad, grad_factor;
};

/// The `step`-th step, from 1.
SteppedElement adamw(const StepInput& in, const reference::AdamSettings<double>& settings,
                     int step);
SteppedElement radam(const StepInput& in, const reference::AdamSettings<double>& settings,
                     reference::RadamThreshold threshold, int step);

/// Relative error of a norm whose squares are exact and summed in double, no square through more
/// than `chain` additions.
double global_norm_error(double chain);

/// max_norm / max(norm + epsilon, max_norm), computed in double from such a norm and stored in
/// fp32: its relative error.
double clip_factor_error(double chain);

}  // namespace plumbline::op_bounds
