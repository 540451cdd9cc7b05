// SPDX-License-Identifier: Apache-2.0
// Gradients of biases as lists of numbers, and how large the terms are that they are sums of.
#pragma once

#include <cmath>
#include <tuple>
#include <vector>

#include "tests/reference/bias/bias_readings.hpp"

namespace plumbline::reference {

template <class R>
void append(std::vector<R>& list, const Vector<R>& x) {
  list.insert(list.end(), x.begin(), x.end());
}

/// Of a form of bias/of_heads.hpp.
template <class R, class Grad>
requires requires(const Grad& x) { x.numbers(); }
std::vector<R> numbers_of(const Grad& x) {
  return std::apply([](const auto&... number) { return std::vector<R>{number...}; }, x.numbers());
}
template <class R>
std::vector<R> numbers_of(const RelativeTableGrad<R>& x) {
  return {x.table.begin(), x.table.end()};
}
template <class R>
std::vector<R> numbers_of(const CableNwGrad<R>& x) {
  return {x.prefix_sum.begin(), x.prefix_sum.end()};
}
template <class R>
std::vector<R> numbers_of(const CableGrad<R>& x) {
  std::vector<R> list(x.prefix_sum.begin(), x.prefix_sum.end());
  append(list, x.gain);
  return list;
}
template <class R>
std::vector<R> numbers_of(const FireParameters<R>& x) {
  std::vector<R> list{x.output_bias, x.c, x.L};
  append(list, x.hidden_weight);
  append(list, x.hidden_bias);
  append(list, x.output_weight);
  return list;
}
/// NoPE and ALiBi.
template <class R, class None>
requires std::is_empty_v<None> std::vector<R> numbers_of(const None&) { return {}; }

/// Adds weight |db_ij / dparameter| to every number of `sums`, laid out as numbers_of.
template <class B>
void add_magnitudes(const B& bias, int i, int j, double weight, std::vector<double>& sums) {
  auto grad = bias.zero_grad();
  bias.accumulate_grad(grad, i, j, 1.0);
  const auto numbers = numbers_of<double>(grad);
  for (std::size_t n = 0; n < sums.size(); ++n) sums[n] += weight * std::fabs(numbers[n]);
}

/// For the forms of CABLE, of d = S_i - S_j: the derivatives in S_i and S_j are opposite, and come
/// as two terms also where i = j and they cancel.
inline void add_prefix_magnitudes(double by_d, double by_gain, int i, int j, int keys, int gain,
                                  double weight, std::vector<double>& sums) {
  sums[i] += weight * std::fabs(by_d);
  sums[j] += weight * std::fabs(by_d);
  if (gain >= 0) sums[keys + gain] += weight * std::fabs(by_gain);
}

inline double difference(const Vector<double>& S, int i, int j) { return S[i] - S[j]; }

template <class B>
requires requires(const B& b) { b.prefix_sum; }
void add_magnitudes(const B& bias, int i, int j, double weight, std::vector<double>& sums) {
  const double d = difference(bias.prefix_sum, i, j);
  const int keys = static_cast<int>(bias.prefix_sum.size());
  double g = 1.0;
  int gain = -1;
  if constexpr (requires { bias.gain; }) gain = i - bias.query_offset, g = bias.gain[gain];
  if constexpr (std::is_same_v<B, KCable<double>> || std::is_same_v<B, KCableNw<double>>) {
    add_prefix_magnitudes(2 * g * d / (1 + d * d), std::log1p(d * d), i, j, keys, gain, weight,
                          sums);
  } else if constexpr (std::is_same_v<B, KCablePaper<double>>) {
    const double e = g * d, rate = 2 * e / (1 + e * e);
    add_prefix_magnitudes(g * rate, d * rate, i, j, keys, gain, weight, sums);
  } else {
    add_prefix_magnitudes(g, d, i, j, keys, gain, weight, sums);
  }
}

/// FIRE's c and L, where terms of both signs are summed apart: of the magnitudes of all of them.
inline void add_magnitudes(const Fire<double>& bias, int i, int j, double weight,
                           std::vector<double>& sums) {
  const FireParameters<double>& of = bias.parameters();
  auto grad = bias.zero_grad();
  bias.accumulate_grad(grad, i, j, 1.0);
  const double c = std::fabs(of.c), d = std::abs(i - j), m = bias.reach(i);
  const double x = std::log1p(c * d) / bias.divisor(i);
  double by_x = 0.0;
  for (Eigen::Index w = 0; w < of.hidden_weight.size(); ++w) {
    by_x += std::fabs(of.output_weight[w] * of.hidden_weight[w]);
  }
  by_x /= bias.divisor(i);
  grad.c = by_x * (d / (1 + c * d) + x * m / (1 + c * m));
  grad.L = by_x * x * c / (1 + c * m) * bias.threshold_rate();
  const auto numbers = numbers_of(grad);
  for (std::size_t n = 0; n < sums.size(); ++n) sums[n] += weight * std::fabs(numbers[n]);
}

}  // namespace plumbline::reference
