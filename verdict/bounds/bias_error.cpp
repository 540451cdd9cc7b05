// SPDX-License-Identifier: Apache-2.0
#include "verdict/bounds/bias_error.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "verdict/bias/methods.hpp"
#include "verdict/bounds/roundoff.hpp"

namespace plumbline::verdict {
namespace {

/// The square of a smaller number does not overflow in fp32.
constexpr double fp32_safe_root = 0x1p63;

}  // namespace

BiasError::BiasError(const cases::Case& the_case, const Contract& contract)
    : case_(the_case), contract_(contract) {
  const auto& increments = case_.summed();
  prefix_sum_.resize(increments.size());
  const int keys = case_.spec.keys;
  for (std::size_t start = 0; start < prefix_sum_.size(); start += keys) {
    double sum = 0.0;
    for (int j = 0; j < keys; ++j) {
      prefix_sum_[start + j] = sum += std::abs(increments[start + j]);
    }
  }
}

/// Bound of the error of S_i - S_j as the kernel holds it in fp32; 0 for i = j.
///  - float prefix sums, any order: gamma_{i+1} S_i + gamma_{j+1} S_j + u |S_i - S_j|;
///  - double, differenced in double: the double sums' own error (the same gammas with u = 2^-53),
///    and the difference rounded once to fp32, 2u |S_i - S_j|;
///  - double, recentred at a base S_c within a tile of j, which may be the sum before the tile:
///  each
///    of S_i - S_c, S_j - S_c and their difference is rounded. With R = max |S_c - S_j| over the
///    tile's possible bases, |S_i - S_c| <= |S_i - S_j| + R, hence 2u (|S_i - S_j| + R).
BiasError::Distance BiasError::distance(int batch, int head, int i, int j) const {
  if (i == j) return {};
  const int keys = case_.spec.keys;
  const std::size_t first = static_cast<std::size_t>(batch * case_.spec.heads + head) * keys;
  const auto sum = std::span(prefix_sum_).subspan(first, keys);
  const double difference = std::abs(sum[i] - sum[j]);
  const bool in_float = contract_.prefix_sum == PLUMBLINE_PREFIX_SUM_FP32;
  const double sum_roundoff = in_float ? contract_.unit_roundoff : 0x1p-53;
  const double sums = gamma(i + 1, sum_roundoff) * sum[i] + gamma(j + 1, sum_roundoff) * sum[j];
  if (in_float) return {difference, sums + u * difference};
  if (contract_.prefix_tile == 0) return {difference, sums + 2 * u * difference};
  const int reach = std::min(contract_.prefix_tile, keys);
  const double lowest = j < reach ? 0.0 : sum[j - reach];
  const double highest = sum[std::min(j + reach, keys - 1)];
  return {difference, sums + 2 * u * (difference + std::max(sum[j] - lowest, highest - sum[j]))};
}

BiasError::Distance BiasError::weighted_distance(int batch, int head, int i, int j) const {
  const double g = gain(batch, head, i);
  const auto [d, e] = distance(batch, head, i, j);
  return {g * d, g * (e + u * (d + e))};
}

double BiasError::gain(int batch, int head, int position) const {
  const auto& gains = case_[PLUMBLINE_GAIN];
  if (gains.empty()) return 1.0;
  const auto& spec = case_.spec;
  return gains[static_cast<std::size_t>(batch * spec.heads + head) * spec.queries +
               (position - case_.first_position(batch))];
}

SquareError square_error(double d, double e) {
  if (!(d < fp32_safe_root)) return {infinity, 1.0};  // the square overflows
  const double error = (2 * d + e) * e + u * (d + e) * (d + e);
  return {error, std::max(1.0 + d * d - error, 1.0)};
}

double BiasError::error_of(int batch, int head, int i, int j, double bias) const {
  const bias::Pair pair{case_, contract_, *this, batch, head, i, j};
  return bias::visit(case_.spec.bias.method, [&](auto method) { return method.error(pair, bias); });
}

std::vector<double> BiasError::row(int batch, int head, int position, std::span<const int> visible,
                                   std::span<const double> bias) const {
  std::vector<double> error(visible.size());
  for (std::size_t n = 0; n < visible.size(); ++n) {
    error[n] = error_of(batch, head, position, visible[n], bias[n]);
    if (!(error[n] >= 0.0)) error[n] = infinity;
  }
  return error;
}

}  // namespace plumbline::verdict
