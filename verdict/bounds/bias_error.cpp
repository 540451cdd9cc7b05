// SPDX-License-Identifier: Apache-2.0
#include "verdict/bounds/bias_error.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "verdict/bounds/fire_error.hpp"

namespace plumbline::verdict {
namespace {

constexpr double u = fp32_roundoff;
constexpr double infinity = std::numeric_limits<double>::infinity();
/// The square of a smaller number does not overflow in fp32.
constexpr double fp32_safe_root = 0x1p63;

/// b = -p ln(1 + a x): a x rounds (u a x, which moves the logarithm by at most u) and so does
/// 1 + a x (u); the logarithm is within 1 ulp (2u), and there are up to three products and a change
/// of base (u each, 2u).
double kerple_log_error(double p, double bias) { return 2.001 * u * p + 7 * u * std::abs(bias); }

/// b = -a x^p with an exact integer x: the power is within 8 ulp (16u) and the rounding of p log2 x
/// (4u |p ln x|); two products (2u). 0 for x = 0.
double kerple_power_error(double p, int x, double bias) {
  if (x == 0) return 0.0;
  const double power = 16 * u + 4 * u * std::abs(p * std::log(x));
  return std::abs(bias) * ((1 + power) * (1 + 2 * u) - 1.0);
}

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
               (position - spec.query_offset)];
}

SquareError square_error(double d, double e) {
  if (!(d < fp32_safe_root)) return {infinity, 1.0};  // the square overflows
  const double error = (2 * d + e) * e + u * (d + e) * (d + e);
  return {error, std::max(1.0 + d * d - error, 1.0)};
}

/// mu: an exponential within 2 ulp and its scaled argument, (4 + 2 |theta_mu|) u relative for each,
/// u for their difference; exactly 0 when theta_mu is 0. x: the error of mu and one rounding each
/// for j - i - mu, epsilon and the sum, together 2u x.
GgdBase ggd_base(double theta_mu, double epsilon, int offset) {
  GgdBase base;
  const double up = std::exp(theta_mu), down = std::exp(-theta_mu);
  base.mu = up - down;
  base.mu_error = theta_mu == 0.0
                      ? 0.0
                      : (4 + 2 * std::abs(theta_mu)) * u * (up + down) + u * std::abs(base.mu);
  base.x = std::abs(offset - base.mu) + epsilon;
  const double x_error = base.mu_error + 2 * u * base.x;
  // epsilon > 0 keeps the computed x at least at half of it, whatever mu's error.
  base.lowest = std::max(base.x - x_error, 0.5 * std::min(epsilon, base.x));
  base.highest = base.x + x_error;
  return base;
}

///  - A: an exponential within 2 ulp (4u), its argument scaled by log2 e (2u |theta_alpha|);
///  - x^exponent: the change of x carried through the power exactly, ((x -+ e)/x)^exponent - 1,
///    which is large where x is small, plus the power's own error: 8 ulp (16u) and the rounding of
///    exponent log2 x (4u |exponent ln x|);
///  - the product and a factor log2 e: 2u.
double ggd_power_error(const GgdBase& base, double theta_alpha, double exponent) {
  if (!(base.lowest > 0.0)) return infinity;
  const double change = std::max(std::abs(std::pow(base.lowest / base.x, exponent) - 1.0),
                                 std::abs(std::pow(base.highest / base.x, exponent) - 1.0));
  const double power = 16 * u + 4 * u * std::abs(exponent * std::log(base.x));
  const double amplitude = (4 + 2 * std::abs(theta_alpha)) * u;
  return (1 + change) * (1 + power) * (1 + amplitude) * (1 + 2 * u) - 1.0;
}

double BiasError::error_of(int batch, int head, int i, int j, double bias) const {
  const auto parameter = [&](plumbline_parameter p) { return double{case_[p][head]}; };
  switch (case_.spec.bias.method) {
    case PLUMBLINE_NOPE:
      return 0.0;
    case PLUMBLINE_ALIBI:
      // The product m |i - j|, the distance exact; up to three more roundings where the kernel
      // folds log2 e into the slope.
      return 4 * u * std::abs(bias);
    case PLUMBLINE_CABLE:
    case PLUMBLINE_CABLE_NW:
    case PLUMBLINE_FOX:
    case PLUMBLINE_CABLE_PAPER:
    case PLUMBLINE_CABLE_NW_PAPER:
      // b = -+g (S_i - S_j): the difference's error times g, and up to four roundings of products.
      return gain(batch, head, i) * distance(batch, head, i, j).error + 4 * u * std::abs(bias);
    case PLUMBLINE_K_CABLE:
    case PLUMBLINE_K_CABLE_NW: {
      // b = -g ln(1 + d^2): ln(1 + x) moves by the error of x = d^2 over 1 + x; the sum 1 + x
      // rounds once (u); the logarithm is within 1 ulp (2u) and its products within 2u.
      const auto [d, e] = distance(batch, head, i, j);
      const SquareError square = square_error(d, e);
      return gain(batch, head, i) * (square.error / square.lowest + u) + 4 * u * std::abs(bias);
    }
    case PLUMBLINE_K_CABLE_PAPER: {
      // b = -ln(1 + t^2), t = g d: as above with t for d.
      const auto [t, e] = weighted_distance(batch, head, i, j);
      const SquareError square = square_error(t, e);
      return square.error / square.lowest + u + 4 * u * std::abs(bias);
    }
    case PLUMBLINE_GGD: {
      const GgdBase base =
          ggd_base(parameter(PLUMBLINE_THETA_MU), case_.options[PLUMBLINE_EPSILON], j - i);
      return std::abs(bias) * ggd_power_error(base, parameter(PLUMBLINE_THETA_ALPHA),
                                              parameter(PLUMBLINE_THETA_BETA));
    }
    case PLUMBLINE_KERPLE_LOG:
      return i == j ? 0.0 : kerple_log_error(parameter(PLUMBLINE_P), bias);
    case PLUMBLINE_KERPLE_POWER:
      return kerple_power_error(parameter(PLUMBLINE_P), std::abs(i - j), bias);
    case PLUMBLINE_T5:
    case PLUMBLINE_T5_BIDIRECTIONAL:
    case PLUMBLINE_T5_CLIPPED:
    case PLUMBLINE_T5_CLIPPED_OFFSET:
      // The number itself, perhaps with log2 e folded in.
      return 2 * u * std::abs(bias);
    case PLUMBLINE_FIRE:
      return FireErrors(case_, contract_, head, i, j).bias_error;
    case PLUMBLINE_COPE:
      break;
  }
  throw std::logic_error("a bias method without an error bound");
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
