// SPDX-License-Identifier: Apache-2.0
#include "verdict/bounds/ops/cross_entropy.hpp"

#include <cstddef>

namespace plumbline::op_bounds {

namespace {

/// z - m, where m is any number that the whole row shares: how far it is from the largest logit
/// changes neither the loss nor the gradient, but for the size of what is rounded. Exact where z is
/// and the difference is a number of fp32.
Computed difference(const Computed& z, const Computed& m) {
  const double value = z.value - m.value;
  if (z.error == 0.0 && m.error == 0.0 && static_cast<double>(static_cast<float>(value)) == value)
    return {value, 0.0};
  return {value, z.error + unit_roundoff * (std::fabs(value) + z.error + m.error)};
}

/// e^a, a <= 0: what a's error does, the function's own, and results too small for u to hold.
/// e^0 = 1 is exact in every library.
Computed exponential(const Computed& a, double exp_error) {
  const double value = std::exp(a.value);
  if (a.value == 0.0 && a.error == 0.0) return {value, 0.0};
  return {value, value * (std::expm1(a.error) + exp_error * std::exp(a.error)) + 2 * underflow};
}

/// ln s, s >= 1.
Computed logarithm(const Computed& s, double log_error) {
  const double value = std::log(s.value);
  const double carried = -std::log1p(-s.error / s.value);
  return {value, carried + log_error * (std::fabs(value) + carried)};
}

}  // namespace

CrossEntropyBounds cross_entropy_bounds(const std::vector<Computed>& logits, int target,
                                        double share, const CrossEntropyContract& contract) {
  Computed largest = logits.at(0);
  for (const Computed& z : logits)
    largest = {std::max(largest.value, z.value), std::max(largest.error, z.error)};
  std::vector<Computed> exponentials;
  for (const Computed& z : logits)
    exponentials.push_back(exponential(difference(z, largest), contract.exp_error));
  const Computed total = sum(exponentials, contract.chain);
  const Computed loss =
      logarithm(total, contract.log_error) - difference(logits.at(target), largest);
  CrossEntropyBounds bounds{stored_error(loss, stored_fp32), {}};
  for (std::size_t v = 0; v < logits.size(); ++v) {
    Computed by_logit = exponentials[v] / total;
    if (static_cast<int>(v) == target) by_logit = by_logit - Computed{1.0, 0.0};
    bounds.grad_logits.push_back(stored_error(rounded(share, 0.0) * by_logit, contract.storage));
  }
  return bounds;
}

double mean_loss_limit(const std::vector<Computed>& losses, double denominator) {
  double error = 0.0, magnitude = 0.0;
  for (const Computed& loss : losses) {
    error += loss.error;
    magnitude += loss.magnitude();
  }
  const double additions = static_cast<double>(losses.size()) + 1.0;  // and the division
  return (1.0 + 0x1p-20) * (error + additions * 0x1p-53 * magnitude) / denominator;
}

}  // namespace plumbline::op_bounds
