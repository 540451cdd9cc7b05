// SPDX-License-Identifier: Apache-2.0
#include "verdict/bias_error.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

namespace plumbline::verdict {
namespace {

using cases::BiasMethod;

constexpr double u = fp32_roundoff;
constexpr double infinity = std::numeric_limits<double>::infinity();
/// The square of a smaller number does not overflow in fp32.
constexpr double fp32_safe_root = 0x1p63;

bool uses_prefix_sum(BiasMethod method) {
  return method == BiasMethod::cable || method == BiasMethod::cable_nw ||
         method == BiasMethod::k_cable || method == BiasMethod::k_cable_nw;
}

}  // namespace

BiasError::BiasError(const cases::Case& the_case, const Contract& contract)
    : case_(the_case), contract_(contract) {
  if (!uses_prefix_sum(case_.spec.bias)) return;
  const auto& increments = case_[PLUMBLINE_INCREMENTS];
  prefix_sum_.resize(increments.size());
  const int keys = case_.spec.keys;
  for (std::size_t start = 0; start < prefix_sum_.size(); start += keys) {
    double sum = 0.0;
    for (int j = 0; j < keys; ++j) prefix_sum_[start + j] = sum += increments[start + j];
  }
}

/// Bound of the error of S_i - S_j as the kernel holds it in fp32; 0 for i = j.
///  - float prefix sums, any order: gamma_{i+1} S_i + gamma_{j+1} S_j + u |S_i - S_j|;
///  - double, differenced in double: the double sums' own error (the same gammas with u = 2^-53),
///  and
///    the difference rounded once to fp32, 2u |S_i - S_j|;
///  - double, recentred at a base S_c within a tile of j, which may be the sum before the tile:
///  each of
///    S_i - S_c, S_j - S_c and their difference is rounded. With R = max |S_c - S_j| over the
///    tile's possible bases, |S_i - S_c| <= |S_i - S_j| + R, hence 2u (|S_i - S_j| + R).
double BiasError::prefix_difference_error(std::span<const double> prefix_sum, int i, int j) const {
  if (i == j) return 0.0;
  const double difference = std::abs(prefix_sum[i] - prefix_sum[j]);
  const bool in_float = contract_.prefix_sum == PLUMBLINE_PREFIX_SUM_FP32;
  const double sum_roundoff = in_float ? contract_.unit_roundoff : 0x1p-53;
  const double sums =
      gamma(i + 1, sum_roundoff) * prefix_sum[i] + gamma(j + 1, sum_roundoff) * prefix_sum[j];
  if (in_float) return sums + u * difference;
  if (contract_.prefix_tile == 0) return sums + 2 * u * difference;
  const int keys = static_cast<int>(prefix_sum.size());
  const int reach = std::min(contract_.prefix_tile, keys);
  const double first = j < reach ? 0.0 : prefix_sum[j - reach];
  const double last = prefix_sum[std::min(j + reach, keys - 1)];
  return sums + 2 * u * (difference + std::max(prefix_sum[j] - first, last - prefix_sum[j]));
}

/// b = -A x^beta with A = e^theta_alpha, x = |j - i - mu| + epsilon, mu = e^theta_mu - e^-theta_mu.
///  - A: an exponential within 2 ulp (4u), its argument scaled by log2 e (2u |theta_alpha|);
///  - mu: 4u relative for each exponential, u for their difference; exactly 0 when theta_mu is 0;
///  - x: the error of mu and one rounding each for j - i - mu, epsilon and the sum, together 2u x;
///  - x^beta: the change of x carried through the power exactly, ((x -+ e)/x)^beta - 1, which is
///    large where x is small, plus the power's own error: 8 ulp (16u) and the rounding of
///    beta log2 x (4u |beta ln x|);
///  - the product and a factor log2 e: 2u.
double BiasError::ggd_error(int head, int i, int j, double bias) const {
  const double theta_alpha = case_[PLUMBLINE_THETA_ALPHA][head];
  const double beta = case_[PLUMBLINE_THETA_BETA][head];
  const double epsilon = case_.options[PLUMBLINE_EPSILON];
  const double theta_mu = case_[PLUMBLINE_THETA_MU][head];
  const double up = std::exp(theta_mu), down = std::exp(-theta_mu);
  const double mu = up - down;
  const double mu_error =
      theta_mu == 0.0 ? 0.0 : (4 + 2 * std::abs(theta_mu)) * u * (up + down) + u * std::abs(mu);
  const double x = std::abs(j - i - mu) + epsilon;
  const double x_error = mu_error + 2 * u * x;
  const double amplitude = (4 + 2 * std::abs(theta_alpha)) * u;
  // epsilon > 0 keeps the computed x at least at half of it, whatever mu's error.
  const double lowest = std::max(x - x_error, 0.5 * std::min(epsilon, x));
  if (!(lowest > 0.0)) return infinity;
  const double change = std::max(std::abs(std::pow(lowest / x, beta) - 1.0),
                                 std::abs(std::pow((x + x_error) / x, beta) - 1.0));
  const double power = 16 * u + 4 * u * std::abs(beta * std::log(x));
  return std::abs(bias) * ((1 + change) * (1 + power) * (1 + amplitude) * (1 + 2 * u) - 1.0);
}

std::vector<double> BiasError::row(int batch, int head, int position, std::span<const int> visible,
                                   std::span<const double> bias) const {
  std::vector<double> error(visible.size(), 0.0);
  const auto& spec = case_.spec;
  const std::size_t row_of_keys = static_cast<std::size_t>(batch * spec.heads + head) * spec.keys;
  std::span<const double> prefix_sum;
  if (!prefix_sum_.empty()) prefix_sum = std::span(prefix_sum_).subspan(row_of_keys, spec.keys);
  double gain = 1.0;
  if (!case_[PLUMBLINE_GAIN].empty()) {
    gain =
        case_[PLUMBLINE_GAIN][static_cast<std::size_t>(batch * spec.heads + head) * spec.queries +
                              (position - spec.query_offset)];
  }
  for (std::size_t n = 0; n < visible.size(); ++n) {
    const int j = visible[n];
    switch (spec.bias) {
      case BiasMethod::nope:
        break;
      case BiasMethod::alibi:
        // The product m |i - j|, the distance exact; up to three more roundings where the kernel
        // folds log2 e into the slope.
        error[n] = 4 * u * std::abs(bias[n]);
        break;
      case BiasMethod::cable:
      case BiasMethod::cable_nw:
        // b = -g (S_i - S_j): the difference's error times g, and up to four roundings of products.
        error[n] =
            gain * prefix_difference_error(prefix_sum, position, j) + 4 * u * std::abs(bias[n]);
        break;
      case BiasMethod::k_cable:
      case BiasMethod::k_cable_nw: {
        // b = -g ln(1 + d^2): d^2 moves by (2 |d| + e) e + u d^2, ln(1 + x) by that over 1 + x; the
        // sum 1 + x rounds once (u); the logarithm is within 1 ulp (2u) and its products within 2u.
        const double d = std::abs(prefix_sum[position] - prefix_sum[j]);
        const double e = prefix_difference_error(prefix_sum, position, j);
        const double square_error = (2 * d + e) * e + u * (d + e) * (d + e);
        if (!(d < fp32_safe_root)) {  // the square overflows
          error[n] = infinity;
          break;
        }
        const double lowest = std::max(1.0 + d * d - square_error, 1.0);
        error[n] = gain * (square_error / lowest + u) + 4 * u * std::abs(bias[n]);
        break;
      }
      case BiasMethod::ggd:
        error[n] = ggd_error(head, position, j, bias[n]);
        break;
      default:
        throw std::logic_error("a bias method without an error bound");
    }
  }
  return error;
}

}  // namespace plumbline::verdict
