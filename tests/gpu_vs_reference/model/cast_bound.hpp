// SPDX-License-Identifier: Apache-2.0
// How far a training step in bf16 or tf32 may be from the oracle's: docs/bounds-model.md.
#pragma once

#include <string>
#include <vector>

#include "tests/gpu_vs_reference/model/cast_step.hpp"
#include "tests/gpu_vs_reference/model/oracle_step.hpp"

namespace plumbline::gpu_tests {

/// Steps whose roundings are drawn.
constexpr int kDraws = 64;
/// A number is known to so many times the root of the mean square that the draws have there.
constexpr double kCastDeviations = 8;

/// Of all gradients of a parameter, or of the model, together.
struct TensorBound {
  std::string name;
  double size;    ///< |g|, the root of the sum of squares
  double norm;    ///< may not be exceeded by |g' - g|
  double factor;  ///< nor this one by |(g' - g) . g| / |g|^2, the error of a common factor
};

struct CastOracle {
  OracleStep step;
  std::vector<TensorBound> tensors;  ///< in the order of step.tensors; the last one is the model
  double shift;     ///< of the draws' mean, in its standard deviations; root of the mean square
  double kurtosis;  ///< of the draws, pooled; 3 for a normal distribution
};

/// The exact step, at the weights as products in `format` read them, and its bounds.
CastOracle cast_oracle(const CastStep& step, gpu::Format format);

}  // namespace plumbline::gpu_tests
