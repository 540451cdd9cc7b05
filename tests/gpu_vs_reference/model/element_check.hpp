// SPDX-License-Identifier: Apache-2.0
// A training step of the CUDA path against the oracle's, within docs/bounds-model.md.
#pragma once

#include <cstdio>

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <string>
#include <vector>

#include "tests/gpu_vs_reference/model/oracle_step.hpp"
#include "tests/gpu_vs_reference/model/training_step.hpp"
#include "tests/gpu_vs_reference/model/updated_value.hpp"

namespace plumbline::gpu_tests {

/// How many gradients are beyond their bounds; NaN is.
inline int wrong_gradients(const StepResult& device, const StepTensor& tensor) {
  const std::vector<double>& got = device.gradients.at(tensor.name);
  BOOST_REQUIRE_EQUAL(got.size(), tensor.elements.size());
  int wrong = 0;
  for (std::size_t n = 0; n < got.size(); ++n)
    wrong += !(std::fabs(got[n] - tensor.elements[n].gradient) <= tensor.elements[n].bound);
  return wrong;
}

inline int wrong_gradients(const StepResult& device, const OracleStep& oracle) {
  int wrong = 0;
  for (const StepTensor& tensor : oracle.tensors) wrong += wrong_gradients(device, tensor);
  return wrong;
}

/// How many parameters are beyond their bounds after the update. `widths`: those of the ranges.
inline int wrong_updates(const StepResult& device, const StepTensor& tensor, const Range& factors,
                         std::vector<double>& widths) {
  const std::vector<double>& got = device.updated.at(tensor.name);
  const auto settings = adam_settings(tensor.rank);
  int wrong = 0;
  for (std::size_t n = 0; n < got.size(); ++n) {
    const Range range =
        updated_range(tensor.elements[n], factors, device.gradients.at(tensor.name)[n], settings);
    wrong += !range.contains(got[n]);
    if (tensor.elements[n].gradient != 0) widths.push_back(range.width());
  }
  return wrong;
}

/// The number below which that share of them is.
inline double quantile(std::vector<double> numbers, double share) {
  const auto at = numbers.begin() + static_cast<long>(share * static_cast<double>(numbers.size()));
  std::nth_element(numbers.begin(), at, numbers.end());
  return *at;
}

/// What the checks of all elements have seen.
struct ElementErrors {
  double worst = 0;            ///< the largest error/bound of a gradient
  std::vector<double> sizes;   ///< bound/size of every gradient that has a bound
  std::vector<double> widths;  ///< how far the moves are known to
};

/// Every gradient and every parameter after the update within their bounds.
inline ElementErrors check_elements(const std::string& what, const StepResult& device,
                                    const OracleStep& oracle) {
  const Range factors = clip_factors(oracle);
  ElementErrors errors;
  for (const StepTensor& tensor : oracle.tensors) {
    BOOST_TEST(wrong_gradients(device, tensor) == 0, what << ": gradients of " << tensor.name);
    BOOST_TEST(wrong_updates(device, tensor, factors, errors.widths) == 0,
               what << ": " << tensor.name << " after the update");
    for (std::size_t n = 0; n < tensor.elements.size(); ++n) {
      const StepElement& e = tensor.elements[n];
      if (e.bound == 0) continue;
      const double error = std::fabs(device.gradients.at(tensor.name)[n] - e.gradient);
      errors.worst = std::max(errors.worst, error / e.bound);
      errors.sizes.push_back(e.bound / std::fabs(e.gradient));
    }
  }
  return errors;
}

/// The loss, every gradient and every parameter after the update within their bounds. The bounds
/// are tight enough to see errors of a thousandth: half of the gradients' are below 1/1000 of the
/// gradient, and nine of ten moves are known to 1/100 of the rate.
inline void check_step(const char* what, const StepResult& device, const OracleStep& oracle) {
  BOOST_TEST(std::fabs(device.loss - oracle.loss) <= oracle.loss_bound, what << ": the loss");
  const auto [worst, sizes, widths] = check_elements(what, device, oracle);
  std::printf(
      "%s: %zu gradients, error/bound at most %.3g, bound/size in the middle %.2g; "
      "updates known to %.2g of the rate in the middle, %.2g for nine of ten\n",
      what, sizes.size(), worst, quantile(sizes, 0.5), quantile(widths, 0.5) / kRate,
      quantile(widths, 0.9) / kRate);
  BOOST_TEST(quantile(sizes, 0.5) <= 1e-3);
  BOOST_TEST(quantile(widths, 0.9) <= 1e-2 * kRate);
}

}  // namespace plumbline::gpu_tests
