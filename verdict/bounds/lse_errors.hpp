// SPDX-License-Identifier: Apache-2.0
// How far a correct kernel's LSE is off on data with random signs, part by part. Derived in
// docs/bounds.md, "Generic data".
#pragma once

#include <span>

#include "verdict/bounds/forward.hpp"
#include "verdict/bounds/random_rounding.hpp"

namespace plumbline::verdict {

/// What the scores of a row are made of.
struct ScoreParts {
  std::span<const double> bias, products, bias_error;  ///< as in BoundedRow
  double factor = 1;                                   ///< c
  bool ssmax = false;
  int head_dim = 1;
};

/// Of LSE in one row, and how LSE depends on what may be a little off in all of them.
struct LseErrors {
  double systematic = 0;   ///< may lean to the same side in all rows
  double rounding = 0;     ///< hard bound of a few roundings, to either side in different rows
  double random = 0;       ///< of many roundings: within largest_deviation of it
  double along_scale = 0;  ///< d lse / d ln tau
  double along_bias = 0;   ///< d lse / d ln(a factor of all biases)
  double bound() const { return systematic + rounding + largest_deviation * random; }
  /// Of `rounding` and `random` in a sum over rows: within largest_deviation of the root of the sum
  /// of squares.
  double scale() const;
};

/// Infinite in an ill-conditioned row. @param bounds of the same row, with random signs.
LseErrors lse_errors(const Contract& contract, const ForwardRow& row,
                     const ForwardRowBounds& bounds, const ScoreParts& parts);

}  // namespace plumbline::verdict
