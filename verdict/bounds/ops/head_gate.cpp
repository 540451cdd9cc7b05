// SPDX-License-Identifier: Apache-2.0
#include "verdict/bounds/ops/head_gate.hpp"

#include <cstddef>

namespace plumbline::op_bounds {

namespace {

using Terms = std::vector<Computed>;

Computed exact(double value) { return {value, 0.0}; }

/// softplus and -softplus(-z): the slope in z is logistic(+-z), at most that of z + e_z. Of its
/// own: the exponential, ln(1 + t), whose condition in t is below 1, their sum, all terms of one
/// sign.
Computed softplus(const Computed& z, const HeadGateContract& contract) {
  const auto rest = [](double distance) { return std::log1p(std::exp(-distance)); };
  const double value = std::max(z.value, 0.0) + rest(std::fabs(z.value));
  const double carried = z.error / (1.0 + std::exp(-z.value - z.error));
  const double own = rest(std::max(std::fabs(z.value) - z.error, 0.0)) *
                         ((1.0 + contract.exp_error) * (1.0 + contract.log1p_error) - 1.0) +
                     4 * underflow;
  return {value, carried + own + unit_roundoff * (value + carried + own)};
}

/// gate'(z) as the kernel takes it from the value v: [v > 0], unless z may have either sign; or 1 -
/// e^-|v|, whose slope in v is e^-|v|.
Computed derivative(HeadGate gate, const Computed& z, const Computed& v,
                    const HeadGateContract& contract) {
  if (gate == HeadGate::increment) {
    const bool certain = std::fabs(z.value) > z.error || z.error == 0.0;
    return {z.value > 0.0 ? 1.0 : 0.0, certain ? 0.0 : 1.0};
  }
  const double size = std::fabs(v.value);
  const double value = -std::expm1(-size);
  const double carried = v.error * std::exp(-std::max(size - v.error, 0.0));
  return {value, carried + contract.expm1_error * (value + carried) + 2 * underflow};
}

void add_previous(Terms& terms, const std::vector<double>& previous, std::size_t place) {
  if (!previous.empty()) terms.push_back(exact(previous[place]));
}

}  // namespace

Computed head_gate_value(HeadGate gate, const Computed& z, const HeadGateContract& contract) {
  if (gate == HeadGate::gain) return softplus(z, contract);
  if (gate == HeadGate::log_forget) return -softplus(-z, contract);
  if (z.value + z.error < 0.0) return {};
  return {std::max(z.value, 0.0), z.error};
}

HeadGateBounds head_gate_bounds(const HeadGateProblem& p, const HeadGateContract& contract) {
  const int rows = p.batch * p.length;
  HeadGateBounds bounds;
  bounds.values.resize(static_cast<std::size_t>(rows) * p.heads);
  std::vector<Terms> grad_z(p.heads);
  for (int h = 0; h < p.heads; ++h) {
    for (int row = 0; row < rows; ++row) {
      Terms products;
      for (int c = 0; c < p.width; ++c)
        products.push_back(exact(p.x[static_cast<std::size_t>(row) * p.width + c]) *
                           exact(p.W[static_cast<std::size_t>(h) * p.width + c]));
      Computed z = sum(products, contract.z_chain);
      if (!p.b.empty()) z = z + exact(p.b[h]);
      const Computed v = head_gate_value(p.gate, z, contract);
      const std::size_t place =
          (static_cast<std::size_t>(row / p.length) * p.heads + h) * p.length + row % p.length;
      bounds.values[place] = stored_error(v, stored_fp32);
      grad_z[h].push_back(exact(p.grad_values[place]) * derivative(p.gate, z, v, contract));
    }
  }

  for (int row = 0; row < rows; ++row) {
    for (int c = 0; c < p.width; ++c) {
      Terms terms;
      for (int h = 0; h < p.heads; ++h)
        terms.push_back(grad_z[h][row] * exact(p.W[static_cast<std::size_t>(h) * p.width + c]));
      const std::size_t place = static_cast<std::size_t>(row) * p.width + c;
      add_previous(terms, p.previous_x, place);
      bounds.grad_x.push_back(stored_error(sum(terms, contract.x_chain), contract.storage));
    }
  }
  for (int h = 0; h < p.heads; ++h) {
    for (int c = 0; c < p.width; ++c) {
      Terms terms;
      for (int row = 0; row < rows; ++row)
        terms.push_back(grad_z[h][row] * exact(p.x[static_cast<std::size_t>(row) * p.width + c]));
      add_previous(terms, p.previous_W, static_cast<std::size_t>(h) * p.width + c);
      bounds.grad_W.push_back(stored_error(sum(terms, contract.W_chain), stored_fp32));
    }
    Terms terms = grad_z[h];
    add_previous(terms, p.previous_b, h);
    bounds.grad_b.push_back(stored_error(sum(terms, contract.b_chain), stored_fp32));
  }
  return bounds;
}

}  // namespace plumbline::op_bounds
