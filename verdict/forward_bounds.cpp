// SPDX-License-Identifier: Apache-2.0
#include "verdict/forward_bounds.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace plumbline::verdict {
namespace {

constexpr double u = fp32_roundoff;
/// fp32's smallest normal number: what a probability or a product may lose by underflow, also in a
/// kernel that flushes subnormals to zero.
constexpr double underflow = 0x1p-126;
/// Covers products of two bounded relative errors (each below 2^-17) and this file's own rounding.
constexpr double second_order = 1.0 + 0x1p-16;

/// How often the running maximum grows while the keys are read in the order first, first + step,
/// ...
int rescales_in_order(std::span<const double> score, std::size_t first, std::size_t last,
                      int step) {
  int rescales = 0;
  double maximum = score[first];
  for (std::size_t j = first; j != last; j += step) {
    if (score[j] > maximum) {
      maximum = score[j];
      ++rescales;
    }
  }
  return rescales;
}

/// Upper bound of how often an online softmax rescales what it has summed: the records of the
/// running maximum over the keys in ascending or descending order. With several splits each is a
/// range or a stride of the keys with a maximum of its own, then merged pairwise.
int rescales(std::span<const double> score, int splits) {
  const std::size_t n = score.size();
  std::vector<double> reversed(score.rbegin(), score.rend());
  int most = std::max(rescales_in_order(score, 0, n, 1), rescales_in_order(reversed, 0, n, 1));
  if (splits <= 1) return most;
  // A split that starts at any key and takes every splits-th, or every key: at most this many
  // records.
  std::vector<double> strided;
  for (int start = 0; start < splits && start < static_cast<int>(n); ++start) {
    for (const auto& keys : {std::span<const double>(score), std::span<const double>(reversed)}) {
      strided.clear();
      for (std::size_t j = start; j < n; j += splits) strided.push_back(keys[j]);
      most = std::max(most, rescales_in_order(strided, 0, strided.size(), 1));
      const std::size_t length = (n + splits - 1) / splits;
      const std::size_t begin = std::min(n - 1, start * length);
      const auto range = keys.subspan(begin, std::min(length, n - begin));
      most = std::max(most, rescales_in_order(range, 0, range.size(), 1));
    }
  }
  return most + static_cast<int>(std::ceil(std::log2(splits)));
}

/// p (e^h - 1) from ln p, without underflow of p or overflow of e^h on the way.
double weight_error(double log_probability, double h) {
  if (h < 1.0) return std::exp(log_probability) * std::expm1(h);
  return std::exp(log_probability + h);
}

}  // namespace

std::vector<double> score_errors(const Contract& contract, int head_dim, bool ssmax, double factor,
                                 std::span<const double> score, std::span<const double> products,
                                 std::span<const double> bias_error) {
  const double dot = gamma(head_dim + 2, contract.unit_roundoff);
  const double lost = (head_dim + 2) * underflow;
  const double c = std::abs(factor);
  std::vector<double> error(score.size());
  for (std::size_t j = 0; j < score.size(); ++j) {
    const double unfactored = c > 0.0 ? std::abs(score[j]) / c : 0.0;
    error[j] = c * (dot * products[j] + bias_error[j] + u * unfactored + lost);
    // c = s ln n: a logarithm within 1 ulp (2u), its product with s (u), the product c t (u); one
    // more for a factor log2 e.
    if (ssmax) error[j] += 5 * u * std::abs(score[j]);
    error[j] *= second_order;
  }
  return error;
}

ForwardRowBounds forward_row_bounds(const Contract& contract, cases::Format format,
                                    const ForwardRow& row) {
  const std::size_t n = row.score.size();
  const std::size_t head_dim = row.output.size();
  const std::size_t best = std::max_element(row.score.begin(), row.score.end()) - row.score.begin();
  const double maximum = row.score[best];
  const double log_sum = std::max(row.lse - maximum, 0.0);
  const int rescale_count = rescales(row.score, contract.splits);
  const double sum_error = gamma(static_cast<double>(n), contract.unit_roundoff);
  const auto p_format = static_cast<cases::Format>(contract.probability_format);
  const double p_rounding =
      p_format == cases::Format::fp32 ? 0.0 : unit_roundoff(p_format);  // fp32: inside exp_error

  // h_j: relative error of the weight exp(s_j - m) once every rescale has reached it.
  std::vector<double> h(n);
  for (std::size_t j = 0; j < n; ++j) {
    h[j] = row.score_error[j] + 4 * u * (std::abs(row.score[j]) + std::abs(maximum)) +
           (1 + rescale_count) * contract.exp_error;
  }
  const double largest_h = *std::max_element(h.begin(), h.end());

  // A common factor of all weights cancels in o. Measured against the largest weight, the other
  // weights are off by h_j + h_best and that one by nothing: better where one key takes it all.
  double plain = 0.0, relative = 0.0;
  for (std::size_t j = 0; j < n; ++j) {
    plain += weight_error(row.score[j] - row.lse, h[j]);
    if (j != best) relative += weight_error(row.score[j] - row.lse, h[j] + h[best]);
  }
  const bool against_best = relative < plain;
  const double total_weight_error = against_best ? relative : plain;

  ForwardRowBounds bounds;
  bounds.ill_conditioned = !(total_weight_error <= 0.1);
  bounds.output.resize(head_dim);

  // LSE is 1-Lipschitz in the scores (maximum norm), whatever the condition of the weights.
  double lse_error = largest_h;
  if (!bounds.ill_conditioned) {
    const double shift = against_best ? h[best] : 0.0;
    lse_error = std::min(lse_error, (total_weight_error + shift) / (1.0 - total_weight_error));
  }
  lse_error += sum_error + rescale_count * u + (contract.sums_rounded_p ? p_rounding : 0.0);
  bounds.lse = second_order *
               (lse_error + u * std::abs(row.lse) + 4 * u * (std::abs(maximum) + log_sum + 1.0));

  std::vector<double> deviation(head_dim, 0.0), magnitude(head_dim, 0.0), largest(head_dim, 0.0);
  std::vector<double> spread(head_dim, 0.0);
  for (std::size_t j = 0; j < n; ++j) {
    const double hj = against_best ? (j == best ? 0.0 : h[j] + h[best]) : h[j];
    const double p = row.probability[j];
    const double moved = bounds.ill_conditioned ? 0.0 : weight_error(row.score[j] - row.lse, hj);
    const float* v = row.value[j];
    for (std::size_t d = 0; d < head_dim; ++d) {
      const double distance = std::abs(v[d] - row.output[d]);
      deviation[d] += moved * distance;
      spread[d] += p * distance;
      magnitude[d] += p * std::abs(static_cast<double>(v[d]));
      largest[d] = std::max(largest[d], std::abs(static_cast<double>(v[d])));
    }
  }
  // Underflow: each of n weights, relative to a denominator of at least 1, and each of n products.
  const double lost = 2.0 * static_cast<double>(n) * underflow;
  const double o_rounding = unit_roundoff(format) + (format == cases::Format::fp32 ? 0.0 : u);
  for (std::size_t d = 0; d < head_dim; ++d) {
    const double o = std::abs(row.output[d]);
    double error;
    if (bounds.ill_conditioned) {
      double low = std::numeric_limits<double>::infinity(), high = -low;
      for (std::size_t j = 0; j < n; ++j) {
        low = std::min(low, static_cast<double>(row.value[j][d]));
        high = std::max(high, static_cast<double>(row.value[j][d]));
      }
      error = std::max(high - row.output[d], row.output[d] - low);
      magnitude[d] = largest[d];
      spread[d] = high - low;
    } else {
      error = deviation[d] / (1.0 - total_weight_error);
    }
    const double rounding = p_rounding * (contract.sums_rounded_p ? spread[d] : magnitude[d]) +
                            (sum_error + 2 * rescale_count * u) * magnitude[d] +
                            (sum_error + 2 * rescale_count * u + 4 * u) * o +
                            lost * (1.0 + largest[d]);
    // The roundings act on weights that are already off by up to a factor (1 + E) / (1 - E).
    const double perturbed =
        bounds.ill_conditioned ? 1.0 : (1.0 + total_weight_error) / (1.0 - total_weight_error);
    error += rounding * perturbed;
    bounds.output[d] =
        second_order * (error + o_rounding * (o + error)) + half_smallest_subnormal(format);
  }
  return bounds;
}

}  // namespace plumbline::verdict
