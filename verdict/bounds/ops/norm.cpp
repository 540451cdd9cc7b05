// SPDX-License-Identifier: Apache-2.0
#include "verdict/bounds/ops/norm.hpp"

#include <cstddef>

namespace plumbline::op_bounds {

namespace {

using Row = std::vector<Computed>;

struct Deviations {
  Computed mean;
  Row d;             ///< x_c - x_0 - mean
  Computed squares;  ///< sum of their squares
};

/// RMSNorm's: d_c = x_c, given exactly.
Deviations uncentred(const double* x, int width, const NormContract& contract) {
  Deviations row;
  Row squares;
  for (int c = 0; c < width; ++c) {
    row.d.push_back({x[c], 0.0});
    squares.push_back(row.d[c] * row.d[c]);
  }
  row.squares = sum(squares, contract.row_chain);
  return row;
}

/// x - y of numbers that fp32 has: exact where the difference is one too (Sterbenz).
Computed difference(double x, double y) {
  const double value = x - y;
  if (static_cast<double>(static_cast<float>(value)) == value) return {value, 0.0};
  return rounded(value, 0.0);
}

/// LayerNorm's. The error delta of the mean is shared by all d_c, whose sum is 0, so that it enters
/// the sum of squares in second order only.
Deviations centred(const double* x, int width, const NormContract& contract) {
  const double origin = contract.relative_to_first ? x[0] : 0.0;
  Deviations row;
  Row shifted;
  for (int c = 0; c < width; ++c) shifted.push_back(difference(x[c], origin));
  row.mean = sum(shifted, contract.row_chain) / Computed{static_cast<double>(width), 0.0};
  double squares = 0.0, first_order = 0.0, second_order = 0.0;
  for (const Computed& a : shifted) {
    const Computed d = a - row.mean;
    const double off = a.error + row.mean.error;
    row.d.push_back(d);
    squares += d.value * d.value;
    first_order += 2.0 * std::fabs(d.value) * a.error;
    second_order += off * off;
  }
  // (1 + u)^2 of rounding d, 1 + u of its square, gamma of the sum.
  const double carried = first_order + second_order;
  const double relative = (1.0 + gamma(3)) * (1.0 + gamma(contract.row_chain)) - 1.0;
  row.squares = {squares, carried + relative * (squares + carried) + width * underflow};
  if (!(row.squares.magnitude() < overflow))
    row.squares.error = std::numeric_limits<double>::infinity();
  return row;
}

NormBounds norm_bounds(const NormProblem& problem, const NormContract& contract, bool layernorm) {
  const int width = problem.width;
  const Computed count{static_cast<double>(width), 0.0}, one{1.0, 0.0};
  NormBounds bounds;
  std::vector<Row> of_gamma(width), of_beta(width);
  for (int t = 0; t < problem.rows; ++t) {
    const std::size_t begin = static_cast<std::size_t>(t) * width;
    const Deviations row = layernorm ? centred(&problem.x[begin], width, contract)
                                     : uncentred(&problem.x[begin], width, contract);
    const Computed variance = row.squares / count + Computed{problem.epsilon, 0.0};
    const Computed rstd = one / square_root(variance);
    bounds.mean.push_back(stored_error(row.mean, stored_fp32));
    bounds.rstd.push_back(stored_error(rstd, stored_fp32));
    Row n;
    for (int c = 0; c < width; ++c) {
      n.push_back(row.d[c] * rstd);
      Computed y = Computed{problem.gamma[c], 0.0} * n[c];
      if (layernorm) y = y + Computed{problem.beta[c], 0.0};
      bounds.y.push_back(stored_error(y, contract.storage));
    }
    if (problem.grad_y.empty()) continue;

    Row g, along;
    for (int c = 0; c < width; ++c) {
      const Computed dy{problem.grad_y[begin + c], 0.0};
      g.push_back(dy * Computed{problem.gamma[c], 0.0});
      along.push_back(g[c] * n[c]);
      of_gamma[c].push_back(dy * n[c]);
      of_beta[c].push_back(dy);
    }
    const Computed mean_g = sum(g, contract.row_chain) / count;
    const Computed mean_along = sum(along, contract.row_chain) / count;
    for (int c = 0; c < width; ++c) {
      const Computed flat = layernorm ? g[c] - mean_g : g[c];
      bounds.grad_x.push_back(stored_error((flat - n[c] * mean_along) * rstd, contract.storage));
    }
  }
  if (problem.grad_y.empty()) return bounds;
  for (int c = 0; c < width; ++c) {
    if (!problem.previous_gamma.empty()) of_gamma[c].push_back({problem.previous_gamma[c], 0.0});
    if (!problem.previous_beta.empty()) of_beta[c].push_back({problem.previous_beta[c], 0.0});
    bounds.grad_gamma.push_back(stored_error(sum(of_gamma[c], contract.column_chain), stored_fp32));
    if (layernorm)
      bounds.grad_beta.push_back(stored_error(sum(of_beta[c], contract.column_chain), stored_fp32));
  }
  return bounds;
}

}  // namespace

NormBounds layernorm_bounds(const NormProblem& problem, const NormContract& contract) {
  return norm_bounds(problem, contract, true);
}

NormBounds rmsnorm_bounds(const NormProblem& problem, const NormContract& contract) {
  return norm_bounds(problem, contract, false);
}

}  // namespace plumbline::op_bounds
