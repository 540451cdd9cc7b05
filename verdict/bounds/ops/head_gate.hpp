// SPDX-License-Identifier: Apache-2.0
// How far CABLE's increments and gains and FoX's log forget gates in fp32 may be from the exact
// result, and their gradients. docs/bounds-ops.md derives it.
#pragma once

#include <vector>

#include "verdict/bounds/ops/computed.hpp"

namespace plumbline::op_bounds {

enum class HeadGate { increment, gain, log_forget };

/// The numbers that the kernel was given, as stored; row-major.
struct HeadGateProblem {
  HeadGate gate;
  int batch, length, width, heads;
  std::vector<double> x, W, b;                 ///< [batch T, C], [heads, C], [heads] or empty
  std::vector<double> grad_values;             ///< [batch, heads, T]
  std::vector<double> previous_x;              ///< what grad_x is added to, or empty
  std::vector<double> previous_W, previous_b;  ///< likewise
};

struct HeadGateContract {
  Storage storage;                             ///< of grad_x
  int z_chain, x_chain, W_chain, b_chain;      ///< longest chains of additions
  double exp_error, log1p_error, expm1_error;  ///< relative
};

/// gate(z), where z is known to its error.
Computed head_gate_value(HeadGate gate, const Computed& z, const HeadGateContract& contract);

/// Shaped as the results are.
struct HeadGateBounds {
  std::vector<double> values, grad_x, grad_W, grad_b;
};

HeadGateBounds head_gate_bounds(const HeadGateProblem& problem, const HeadGateContract& contract);

}  // namespace plumbline::op_bounds
