// SPDX-License-Identifier: Apache-2.0
// How far the cross-entropy of a token and its gradient in fp32 may be from the exact result.
// docs/bounds-ops.md derives it.
#pragma once

#include <vector>

#include "verdict/bounds/ops/computed.hpp"

namespace plumbline::op_bounds {

struct CrossEntropyContract {
  Storage storage;   ///< of the logits' gradients
  int chain;         ///< the longest chain of additions in the sum of exponentials
  double exp_error;  ///< relative
  double log_error;  ///< relative
};

struct CrossEntropyBounds {
  double loss;
  std::vector<double> grad_logits;
};

/// Of one token: its logits, as stored (exact) or with what their own computation may be off by,
/// and the share of the loss's gradient that it gets, exactly; the kernel is given it rounded to
/// fp32.
CrossEntropyBounds cross_entropy_bounds(const std::vector<Computed>& logits, int target,
                                        double share, const CrossEntropyContract& contract);

/// Of a mean over tokens: `losses` exact, each with its limit, summed in double.
double mean_loss_limit(const std::vector<Computed>& losses, double denominator);

}  // namespace plumbline::op_bounds
