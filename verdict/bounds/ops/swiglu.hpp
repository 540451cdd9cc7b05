// SPDX-License-Identifier: Apache-2.0
// SwiGLU and its gradient as fp32 computes them, for exact a and b. Derived in docs/bounds-ops.md,
// section "SwiGLU".
#pragma once

#include "verdict/bounds/ops/logistic.hpp"

namespace plumbline::op_bounds {

/// a s(a) b.
inline Computed swiglu(double a, double b) {
  return Computed{a} * LogisticGate(Computed{a}).open * Computed{b};
}

/// grad b s(a) (1 + a s(-a)).
inline Computed swiglu_grad_a(double a, double b, double grad) {
  const LogisticGate gate(Computed{a});
  const Computed slope = gate.open * (Computed{1.0} + Computed{a} * gate.closed);
  return Computed{grad} * (Computed{b} * slope);
}

/// grad a s(a).
inline Computed swiglu_grad_b(double a, double grad) {
  return Computed{grad} * (Computed{a} * LogisticGate(Computed{a}).open);
}

}  // namespace plumbline::op_bounds
