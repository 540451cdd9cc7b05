// SPDX-License-Identifier: Apache-2.0
#include "verdict/bounds/ops/optimizer.hpp"

#include <cmath>

namespace plumbline::op_bounds {
namespace {

/// What the host computes in double and rounds to fp32 once.
Computed constant(double x) { return rounded(x, 0.0); }

struct Scales {
  double second, factor;  ///< 1/(1 - beta2^t) inside of the root, or a factor of the quotient
  bool adaptive;
};

SteppedElement step_element(const StepInput& in, const reference::AdamSettings<double>& s, int step,
                            const Scales& scales) {
  Computed g{in.grad};
  if (in.grad_factor != 1) g = Computed{in.grad_factor} * g;
  SteppedElement out;
  out.mean = constant(s.beta1) * Computed{in.mean} + constant(1 - s.beta1) * g;
  out.mean_square = constant(s.beta2) * Computed{in.mean_square} + constant(1 - s.beta2) * (g * g);
  Computed move = out.mean * constant(1 / reference::bias_correction(s.beta1, step));
  if (scales.adaptive) {
    Computed square = out.mean_square;
    if (scales.second != 1) square = square * constant(scales.second);
    if (scales.factor != 1) move = move * constant(scales.factor);
    move = move / (square_root(square) + constant(s.epsilon));
  }
  const Computed kept = constant(1 - s.learning_rate * s.weight_decay);
  out.parameter = Computed{in.parameter} * kept - constant(s.learning_rate) * move;
  return out;
}

constexpr double double_roundoff = 0x1p-53;

}  // namespace

SteppedElement adamw(const StepInput& in, const reference::AdamSettings<double>& s, int step) {
  return step_element(in, s, step, {1 / reference::bias_correction(s.beta2, step), 1, true});
}

SteppedElement radam(const StepInput& in, const reference::AdamSettings<double>& s,
                     reference::RadamThreshold threshold, int step) {
  if (!reference::radam_is_rectified(s.beta2, step, threshold))
    return step_element(in, s, step, {1, 1, false});
  const double factor = reference::radam_rectification(s.beta2, step) *
                        std::sqrt(reference::bias_correction(s.beta2, step));
  return step_element(in, s, step, {1, factor, true});
}

double global_norm_error(double chain) {
  const double sum = chain * double_roundoff / (1 - chain * double_roundoff);
  return sum / 2 + 2 * double_roundoff;
}

double clip_factor_error(double chain) {
  return global_norm_error(chain) + 2 * double_roundoff + unit_roundoff;
}

}  // namespace plumbline::op_bounds
