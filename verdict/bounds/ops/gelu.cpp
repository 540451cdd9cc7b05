// SPDX-License-Identifier: Apache-2.0
#include "verdict/bounds/ops/gelu.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "verdict/bounds/ops/logistic.hpp"

namespace plumbline::op_bounds {
namespace {

constexpr double u = unit_roundoff;
constexpr double cubic = 0.044715;
const double gate_factor = 2 * std::sqrt(2 / std::numbers::pi);

/// Beyond it the gate is open or closed to the last bit, and its argument may be anything.
double inner(double x) { return std::clamp(x, -16.0, 16.0); }

/// z = 2 sqrt(2/pi) (x + a x^3), with the roundings of both constants.
Computed gate_argument(double x) {
  const double first = inner(x), third = cubic * first * first * first;
  const double error = gate_factor * (3 * u * std::abs(first) + 7 * u * std::abs(third));
  return {gate_factor * (first + third), error + 0x1p-147};
}

/// erfc(t) / 2 at t = -x / sqrt(2), which is rounded twice. erfcf itself is within 4 ulp, as CUDA
/// documents it.
Computed normal_distribution(double x) {
  const double t = -x * std::numbers::sqrt2 / 2, value = std::erfc(t) / 2;
  const double t_error = 2 * u * std::abs(t) + underflow;
  const double slope = std::exp(-t * t + 2 * std::abs(t) * t_error) / std::sqrt(std::numbers::pi);
  return {value, slope * t_error + 8 * u * value + 0x1p-147};
}

}  // namespace

Computed gelu_tanh(double x) { return Computed{x} * LogisticGate(gate_argument(x)).open; }

Computed gelu_tanh_derivative(double x) {
  const Computed z = gate_argument(x);
  const LogisticGate gate(z);
  // Their errors are not independent: d ln(open closed)/dz = closed - open, below 1.
  const double both = gate.open.value * gate.closed.value;
  const Computed product{both, both * (std::expm1(z.error) + exp_error + 5 * u) + 0x1p-146};
  const double slope = gate_factor * (1 + 3 * cubic * inner(x) * inner(x));
  return gate.open + Computed{x} * product * Computed{slope, 7 * u * slope};
}

Computed gelu_erf(double x) { return Computed{x} * normal_distribution(x); }

Computed gelu_erf_derivative(double x) {
  const double density = std::exp(-x * x / 2) / std::sqrt(2 * std::numbers::pi);
  const double argument_error = u * x * x / 2 + underflow;
  const Computed computed{
      density, density > 0 ? density * (std::expm1(argument_error) + exp_error + 2 * u) + 0x1p-148
                           : 0x1p-148};
  // Far out the density underflows in every arithmetic, and x times it is no more than that.
  const Computed second = std::abs(x) < 64 ? Computed{x} * computed : Computed{0.0, 0.0};
  return normal_distribution(x) + second;
}

}  // namespace plumbline::op_bounds
