// SPDX-License-Identifier: Apache-2.0
// Where a parameter lies after the first update, from the gradients' bounds: docs/bounds-model.md.
#pragma once

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cmath>

#include "reference/optimizer/adamw.hpp"
#include "reference/optimizer/clip.hpp"
#include "reference/optimizer/weight_decay.hpp"
#include "tests/gpu_vs_reference/model/oracle_step.hpp"
#include "tests/gpu_vs_reference/model/training_step.hpp"
#include "verdict/bounds/ops/optimizer.hpp"

namespace plumbline::gpu_tests {

/// From low to high.
struct Range {
  double low, high;
  bool contains(double x) const { return low <= x && x <= high; }
  double width() const { return high - low; }
};

/// The factors that clipping may have for gradients within their bounds.
inline Range clip_factors(const OracleStep& oracle) {
  double squares = 0, bounds = 0;
  for (const StepTensor& tensor : oracle.tensors) {
    for (const StepElement& e : tensor.elements) {
      squares += e.gradient * e.gradient;
      bounds += e.bound * e.bound;
    }
  }
  const double norm = std::sqrt(squares), off = std::sqrt(bounds);
  const auto factor = [](double n) { return reference::clip_factor(n, kOptimizer.max_norm, 0.0); };
  constexpr double most_additions = 200;  // that a square goes through
  const double own = op_bounds::clip_factor_error(most_additions);
  BOOST_TEST(factor(norm) < 0.9);  // the step clips
  return {factor(norm + off) * (1 - own), factor(norm - off) * (1 + own)};
}

inline reference::AdamSettings<double> adam_settings(int rank) {
  return {
      kRate, kOptimizer.beta1, kOptimizer.beta2, kOptimizer.epsilon,
      reference::weight_decay_of(rank, reference::PositionalPrior::no, kOptimizer.weight_decay)};
}

/// The oracle's first step of AdamW. It never rises with the gradient.
inline double first_step(double value, double gradient,
                         const reference::AdamSettings<double>& settings) {
  reference::Vector<double> parameter(1), grad(1);
  parameter[0] = value;
  grad[0] = gradient;
  auto moments = reference::no_moments(parameter);
  reference::adamw_step(parameter, grad, moments, settings);
  return parameter[0];
}

/// The oracle's steps of all gradients that there may be, and the optimizer's own roundings with
/// the gradient that the device had.
inline Range updated_range(const StepElement& e, const Range& factors, double device_gradient,
                           const reference::AdamSettings<double>& settings) {
  const double low = e.gradient - e.bound, high = e.gradient + e.bound;
  const double least = std::min(low * factors.low, low * factors.high);
  const double most = std::max(high * factors.low, high * factors.high);
  double own = 0;
  for (const double factor : {factors.low, factors.high}) {
    const op_bounds::StepInput in{e.value, 0, 0, device_gradient, factor};
    own = std::max(own, op_bounds::adamw(in, settings, 1).parameter.error);
  }
  return {first_step(e.value, most, settings) - own, first_step(e.value, least, settings) + own};
}

}  // namespace plumbline::gpu_tests
