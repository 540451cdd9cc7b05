// SPDX-License-Identifier: Apache-2.0
// The derivatives of a row's biases by the parameters of their method, and how far a correct
// kernel's may be off.
#pragma once

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <map>
#include <optional>
#include <vector>

#include "reference/scalars/running_error.hpp"
#include "verdict/bias/pair.hpp"

namespace plumbline::verdict {

/// d b_ij / d theta of one query row for one number theta.
struct RowDerivative {
  plumbline_parameter parameter;
  int element = 0;        ///< theta's place among those that the head (and sequence) has
  std::vector<int> keys;  ///< places among the visible keys; empty: all of them
  std::vector<reference::RunningError> value;
  std::vector<double> error;
  /// How often a kernel that multiplies c dS_ij by one factor after the other may lose an
  /// underflow, times the factors that follow; empty: it does not.
  std::vector<double> lost{};
};

/// RowDerivative::lost where c dS_ij is multiplied by these factors in any order.
inline double lost_among(std::initializer_list<double> factors) {
  double lost = static_cast<double>(factors.size());
  for (const double factor : factors) lost *= std::max(1.0, std::abs(factor));
  return lost;
}

/// The same for increments or log_forget: theta_k changes b_ij by x_ij where k lies in (j, i] or
/// (i, j], and not elsewhere.
struct PrefixDerivative {
  bool used = false;
  plumbline_parameter parameter{};
  std::vector<reference::RunningError> value;  ///< x_ij for each visible key
  std::vector<double> rounding;                ///< bound of its error
  std::vector<double> lost;                    ///< as of RowDerivative
  std::vector<double> kink;  ///< how much more where the kernel may be on either side of d = 0
  /// Largest |x| that a kernel may take for the query's own key, with both signs: b_ii is 0 and has
  /// no gradient, but a kernel that adds and takes away computes dZ_ii twice.
  double own = 0.0;
};

struct RowDerivatives {
  std::vector<RowDerivative> parameters;
  PrefixDerivative prefix;
  /// Of a bias tensor: number *pairs + j of the head changes b_ij by 1, and no other.
  std::optional<std::size_t> pairs;
};

namespace bias {

using reference::RunningError;

/// One row: the exact derivatives are the reference's adjoints of a gradient of 1.
struct DerivativeRow {
  const cases::Case& the_case;
  const Contract& contract;
  const BiasError& bias_error;
  int batch, head, position;
  const std::vector<int>& visible;
  const std::vector<double>& bias;
  RowDerivatives& result;

  double parameter(plumbline_parameter p) const { return the_case.of_head(p, batch, head); }
  RowDerivative& add(plumbline_parameter p, int element = 0) const {
    result.parameters.push_back({p, element, {}, {}, {}});
    return result.parameters.back();
  }
  RunningError one() const { return RunningError(1.0); }
  /// Of a logarithm, beside 1 ulp.
  double log_error(double log) const { return contract.log_error * std::max(1.0, std::abs(log)); }

  template <class Bias>
  void prefix(const Bias& of_bias) const {
    result.prefix.used = true;
    result.prefix.parameter =
        static_cast<plumbline_parameter>(methods::row(the_case.spec.bias).summed());
    auto grad = of_bias.zero_grad();
    for (const int j : visible) {
      of_bias.accumulate_grad(grad, position, j, one());
      result.prefix.value.push_back(position == j ? RunningError(0.0)
                                                  : grad.prefix_sum[std::max(position, j)]);
      grad.prefix_sum[position] = grad.prefix_sum[j] = RunningError(0.0);
      result.prefix.rounding.push_back(0.0);
      result.prefix.kink.push_back(0.0);
    }
  }

  template <class Bias, class Error>
  void gain_and_prefix(const Bias& of_bias, const Error& gain_error) const {
    prefix(of_bias);
    const int query = position - the_case.first_position(batch);
    RowDerivative& gain = add(PLUMBLINE_GAIN, query);
    auto grad = of_bias.zero_grad();
    for (std::size_t n = 0; n < visible.size(); ++n) {
      grad.gain[query] = RunningError(0.0);
      of_bias.accumulate_grad(grad, position, visible[n], one());
      gain.value.push_back(grad.gain[query]);
      const auto [d, e] = distance(visible[n]);
      gain.error.push_back(visible[n] == position ? 0.0 : gain_error(d, e, n));
    }
  }

  void kink_of_distance(std::size_t n) const {
    if (visible[n] == position) return;
    const auto [d, e] = distance(visible[n]);
    const double gain = bias_error.gain(batch, head, position);
    result.prefix.kink[n] = d == 0 ? gain : d <= e ? 2 * gain : 0.0;
  }

  BiasError::Distance distance(int j) const {
    return bias_error.distance(batch, head, position, j);
  }

  /// How far k(t) = 2t / (1 + t^2) moves with an error e of t, whatever its sign.
  static double slope_error(double t, double e) {
    if (!(square_error(t, e).error < INFINITY)) return INFINITY;
    const double least = std::max(t - e, 0.0);
    return 2 * e * (1 + t * (t + e)) / ((1 + t * t) * (1 + least * least)) * (1 + 8 * u);
  }

  /// Prefix sums: g k(t), t and its error being `argument` of the key.
  template <class Argument>
  void smooth_slopes(const Argument& argument) const {
    for (std::size_t n = 0; n < visible.size(); ++n) {
      if (visible[n] == position) continue;
      const auto [t, e] = argument(visible[n]);
      const double moved = slope_error(t, e);
      const double error = bias_error.gain(batch, head, position) * moved +
                           6 * u * std::abs(result.prefix.value[n].value());
      result.prefix.rounding[n] = moved < INFINITY ? error : INFINITY;
    }
  }

  /// T5: 1 for the entry of the table that the pair takes, exactly.
  template <class Table>
  void table(const Table& table_row) const {
    std::map<int, std::vector<int>> keys;
    for (std::size_t n = 0; n < visible.size(); ++n) {
      keys[table_row(position, visible[n])].push_back(static_cast<int>(n));
    }
    for (auto& [row, of_row] : keys) {
      const std::size_t size = of_row.size();
      result.parameters.push_back({PLUMBLINE_TABLE, row, std::move(of_row),
                                   std::vector<RunningError>(size, one()),
                                   std::vector<double>(size, 0.0)});
    }
  }
};

}  // namespace bias
}  // namespace plumbline::verdict
