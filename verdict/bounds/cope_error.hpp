// SPDX-License-Identifier: Apache-2.0
// How far a correct kernel's CoPE may be from the exact one. Derived in docs/bounds.md, section
// "CoPE", and docs/bounds-backward.md.
#pragma once

#include <vector>

#include "reference/attention/cope.hpp"
#include "reference/scalars/running_error.hpp"
#include "verdict/judge/contract.hpp"

namespace plumbline::verdict {

/// One query row of CoPE in double.
struct CopeNumbers {
  using R = reference::RunningError;
  const reference::CopeRow<R>& exact;
  const std::vector<double>& score_error;  ///< [visible], of s_j = scale q.k_j
  const std::vector<double>& table_size;   ///< [rows], sum_d |q_d E_nd|
  int head_dim;
};

/// Bounds of a kernel's errors on the way to the logits.
struct CopeErrors {
  std::vector<double> gate;   ///< [visible]
  std::vector<double> count;  ///< [visible], of the sum of gates before it is clamped
  std::vector<double> table;  ///< [rows], of z_n = q.E_n
  std::vector<double> added;  ///< [visible], of the interpolated z that is added to s_j
};
CopeErrors cope_errors(const Contract& contract, const CopeNumbers& row);

/// A gradient of the logits and the bound of a kernel's.
struct CopeLogitsGradient {
  const reference::Vector<reference::RunningError>& value;  ///< [visible]
  const std::vector<double>& error;                         ///< [visible]
};

/// Bounds of a kernel's ds and dz, given those of its dl (reference::cope_logits_grad).
struct CopeGradientErrors {
  std::vector<double> scores;  ///< [visible]
  std::vector<double> by_row;  ///< [rows]
};
CopeGradientErrors cope_gradient_errors(const Contract& contract, const CopeNumbers& row,
                                        const CopeErrors& errors, const CopeLogitsGradient& grad);

}  // namespace plumbline::verdict
