// SPDX-License-Identifier: Apache-2.0
// How far LayerNorm and RMSNorm in fp32 may be from the exact result, forward and backward.
// docs/bounds-ops.md derives it.
#pragma once

#include <vector>

#include "verdict/bounds/ops/computed.hpp"

namespace plumbline::op_bounds {

/// The numbers that the kernel was given, as stored; row-major.
struct NormProblem {
  int rows, width;
  double epsilon;
  std::vector<double> x, gamma, beta, grad_y;  ///< [rows, C], [C], [C], [rows, C]
  /// What the parameters' gradients are added to: [C] or, where they are overwritten, empty.
  std::vector<double> previous_gamma, previous_beta;
};

/// What the kernel declares of itself.
struct NormContract {
  Storage storage;         ///< of y and grad_x
  int row_chain;           ///< the longest chain of additions in a row's sums
  int column_chain;        ///< in the parameters' gradients, with the previous one
  bool relative_to_first;  ///< LayerNorm: computes from x_c - x_0, not from x_c
};

/// Limits of |computed - exact|, shaped as the results are. mean is that of x_c - x_0, or of x_c.
struct NormBounds {
  std::vector<double> y, mean, rstd, grad_x, grad_gamma, grad_beta;
};

/// beta and previous_beta are not read by RMSNorm, grad_y may be empty: then there are no limits of
/// gradients.
NormBounds layernorm_bounds(const NormProblem& problem, const NormContract& contract);
NormBounds rmsnorm_bounds(const NormProblem& problem, const NormContract& contract);

}  // namespace plumbline::op_bounds
