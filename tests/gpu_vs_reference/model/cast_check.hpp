// SPDX-License-Identifier: Apache-2.0
// A training step of the CUDA path in bf16 or tf32 against the oracle's, within
// docs/bounds-model.md.
#pragma once

#include <cstdio>

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <string>
#include <vector>

#include "tests/gpu_vs_reference/model/cast_bound.hpp"
#include "tests/gpu_vs_reference/model/element_check.hpp"

namespace plumbline::gpu_tests {

/// The error of all gradients of a parameter, or of the model, in units of its bounds.
struct TensorError {
  std::string name;
  double norm, factor;
  bool beyond() const { return !(norm <= 1) || !(factor <= 1); }
};

/// In the order of oracle.tensors.
inline std::vector<TensorError> tensor_errors(const StepResult& device, const CastOracle& oracle) {
  std::vector<TensorError> errors;
  double squares_of_model = 0, product_of_model = 0;
  const auto add = [&](double squares, double product) {
    const TensorBound& bound = oracle.tensors[errors.size()];
    // A gradient that is 0 has no factor.
    const double factor =
        bound.size > 0 ? std::fabs(product) / (bound.size * bound.size) / bound.factor : 0.0;
    errors.push_back({bound.name, std::sqrt(squares) / bound.norm, factor});
    squares_of_model += squares;
    product_of_model += product;
  };
  for (const StepTensor& tensor : oracle.step.tensors) {
    const std::vector<double>& got = device.gradients.at(tensor.name);
    double squares = 0, product = 0;
    for (std::size_t n = 0; n < got.size(); ++n) {
      const double off = got[n] - tensor.elements[n].gradient;
      squares += off * off;
      product += off * tensor.elements[n].gradient;
    }
    add(squares, product);
  }
  add(squares_of_model, product_of_model);
  return errors;
}

/// How many gradients, norms and factors are beyond their bounds.
struct CastFaults {
  int elements, norms, factors;
};

inline CastFaults cast_faults(const StepResult& device, const CastOracle& oracle) {
  CastFaults faults{wrong_gradients(device, oracle.step), 0, 0};
  for (const TensorError& error : tensor_errors(device, oracle)) {
    faults.norms += !(error.norm <= 1);
    faults.factors += !(error.factor <= 1);
  }
  return faults;
}

/// The loss, every gradient, every parameter's gradient as a whole and every parameter after the
/// update within their bounds.
inline void check_cast_step(const gpu::ModelConfiguration& c, const StepResult& device,
                            const CastOracle& oracle) {
  const std::string what = c.position + (c.format == gpu::Format::bf16 ? " in bf16" : " in tf32");
  const double loss_error = std::fabs(device.loss - oracle.step.loss) / oracle.step.loss_bound;
  BOOST_TEST(loss_error <= 1, what << ": the loss");
  const auto [worst, sizes, widths] = check_elements(what, device, oracle.step);
  std::vector<double> norm_bounds, factor_bounds;
  double worst_norm = 0, worst_factor = 0;
  for (const TensorError& error : tensor_errors(device, oracle)) {
    BOOST_TEST(!error.beyond(), what << ": the gradient of " << error.name << " as a whole");
    worst_norm = std::max(worst_norm, error.norm);
    worst_factor = std::max(worst_factor, error.factor);
  }
  for (const TensorBound& bound : oracle.tensors) {
    if (bound.size == 0) continue;
    norm_bounds.push_back(bound.norm / bound.size);
    factor_bounds.push_back(bound.factor);
  }
  const double known = static_cast<double>(std::ranges::count_if(
                           widths, [](double width) { return width <= 1e-2 * kRate; })) /
                       static_cast<double>(widths.size());
  std::printf(
      "%s: %zu gradients, error/bound at most %.2g, bound/size in the middle %.2g; norms %.2g, "
      "%.2g, of the model %.2g; factors %.2g, %.2g, of the model %.2g; loss %.2g; "
      "%.2g of the updates known to 1/100 of the rate; draws' mean off by %.3g, kurtosis %.3g\n",
      what.c_str(), sizes.size(), worst, quantile(sizes, 0.5), worst_norm,
      quantile(norm_bounds, 0.5), norm_bounds.back(), worst_factor, quantile(factor_bounds, 0.5),
      factor_bounds.back(), loss_error, known, oracle.shift, oracle.kurtosis);
  const double unit = c.format == gpu::Format::bf16 ? 1 : 0x1p-3;
  BOOST_TEST(quantile(sizes, 0.5) <= 0.3 * unit);
  BOOST_TEST(norm_bounds.back() <= 0.1 * unit);
  BOOST_TEST(factor_bounds.back() <= 0.05 * unit);
  BOOST_TEST(known >= 0.8);
}

}  // namespace plumbline::gpu_tests
