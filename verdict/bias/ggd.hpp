// SPDX-License-Identifier: Apache-2.0
// BAM's prior.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "reference/bias/ggd.hpp"
#include "verdict/bias/derivatives.hpp"

namespace plumbline::verdict::bias {

/// One head of b = -A x^beta, x = |j - i - mu| + epsilon, and how far a kernel's x may be off.
struct GgdBase {
  double mu = 0, mu_error = 0, x = 0, lowest = 0, highest = 0;
};
/// mu: an exponential within 2 ulp and its scaled argument, (4 + 2 |theta_mu|) u relative for each,
/// u for their difference; exactly 0 when theta_mu is 0. x: the error of mu and one rounding each
/// for j - i - mu, epsilon and the sum, together 2u x.
inline GgdBase ggd_base(double theta_mu, double epsilon, int offset) {
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

/// Bound of the relative error of A x^exponent:
///  - A: an exponential within 2 ulp (4u), its argument scaled by log2 e (2u |theta_alpha|);
///  - x^exponent: the change of x carried through the power exactly, ((x -+ e)/x)^exponent - 1,
///    which is large where x is small, plus the power's own error: 8 ulp (16u) and the rounding of
///    exponent log2 x (4u |exponent ln x|);
///  - the product and a factor log2 e: 2u.
inline double ggd_power_error(const GgdBase& base, double theta_alpha, double exponent) {
  if (!(base.lowest > 0.0)) return std::numeric_limits<double>::infinity();
  const double change = std::max(std::abs(std::pow(base.lowest / base.x, exponent) - 1.0),
                                 std::abs(std::pow(base.highest / base.x, exponent) - 1.0));
  const double power = 16 * u + 4 * u * std::abs(exponent * std::log(base.x));
  const double amplitude = (4 + 2 * std::abs(theta_alpha)) * u;
  return (1 + change) * (1 + power) * (1 + amplitude) * (1 + 2 * u) - 1.0;
}

struct Ggd : Unanswered {
  template <class R>
  static auto reading(const HeadOf<R>& of) {
    return reference::Ggd<R>(of.parameter(PLUMBLINE_THETA_ALPHA),
                             of.parameter(PLUMBLINE_THETA_BETA), of.parameter(PLUMBLINE_THETA_MU),
                             R(of.option(PLUMBLINE_EPSILON)));
  }
  static double error(const Pair& of, double bias) {
    const GgdBase base =
        ggd_base(of.parameter(PLUMBLINE_THETA_MU), of.option(PLUMBLINE_EPSILON), of.j - of.i);
    return std::abs(bias) * ggd_power_error(base, of.parameter(PLUMBLINE_THETA_ALPHA),
                                            of.parameter(PLUMBLINE_THETA_BETA));
  }
};

struct GgdRow : DerivativeRow {
  /// b = -A x^beta: theta_alpha has b itself, theta_beta b ln x, with ln x off by ln(x / lowest),
  /// 1 ulp and a change of base (4u |ln x|); theta_mu A beta x^(beta - 1) sign(j - i - mu)
  /// (e^theta_mu
  /// + e^-theta_mu), the last within (4 + 2 |theta_mu|) u and two roundings. The sign is 0 for
  /// j - i = mu, and certain otherwise unless |j - i - mu| is below the error of mu.
  void operator()(const reference::Ggd<RunningError>& ggd) const {
    const double theta_alpha = parameter(PLUMBLINE_THETA_ALPHA);
    const double beta = parameter(PLUMBLINE_THETA_BETA), theta_mu = parameter(PLUMBLINE_THETA_MU);
    RowDerivative alpha{PLUMBLINE_THETA_ALPHA, 0, {}, {}, {}};
    RowDerivative by_beta{PLUMBLINE_THETA_BETA, 0, {}, {}, {}},
        mu{PLUMBLINE_THETA_MU, 0, {}, {}, {}};
    for (std::size_t n = 0; n < visible.size(); ++n) {
      auto grad = ggd.zero_grad();
      ggd.accumulate_grad(grad, position, visible[n], one());
      const GgdBase base =
          ggd_base(theta_mu, the_case.options[PLUMBLINE_EPSILON], visible[n] - position);
      const double b = std::abs(bias[n]);
      const double b_error = b * ggd_power_error(base, theta_alpha, beta);
      const double log_x = std::abs(std::log(base.x));
      const double log_error = std::log(base.x / base.lowest) * (1 + 8 * u) + 4 * u * log_x;
      const double A = std::exp(theta_alpha), power = b / A, by_mu = std::cosh(theta_mu) * 2;
      alpha.lost.push_back(lost_among({A, power}));
      by_beta.lost.push_back(lost_among({A, power, log_x}));
      mu.lost.push_back(lost_among({A, power, beta, 1 / base.lowest, by_mu}));
      alpha.value.push_back(grad.theta_alpha);
      alpha.error.push_back(b_error);
      by_beta.value.push_back(grad.theta_beta);
      by_beta.error.push_back((b_error * (log_x + log_error) + b * log_error) * (1 + 4 * u));
      mu.value.push_back(grad.theta_mu);
      const double distance = std::abs(visible[n] - position - base.mu);
      const bool either_side = base.mu_error > 0 && distance <= base.mu_error + u * distance;
      const double size = std::exp(theta_alpha) * std::abs(beta) * std::pow(base.x, beta - 1) *
                          (std::exp(theta_mu) + std::exp(-theta_mu));
      const double relative = (1 + ggd_power_error(base, theta_alpha, beta - 1)) *
                                  (1 + (9 + 2 * std::abs(theta_mu)) * u) -
                              1.0;
      // By way of b beta / x where a kernel divides.
      const double divided = (1 + ggd_power_error(base, theta_alpha, beta)) *
                                 (base.x / base.lowest) * (1 + (11 + 2 * std::abs(theta_mu)) * u) -
                             1.0;
      const double off = std::max(relative, divided);
      const bool kink = visible[n] - position == base.mu;
      mu.error.push_back(either_side ? size * (2 + off) : kink ? 0.0 : size * off);
    }
    result.parameters = {std::move(alpha), std::move(by_beta), std::move(mu)};
  }
};
inline void derivatives(const DerivativeRow& row, const reference::Ggd<RunningError>& bias) {
  GgdRow{row}(bias);
}

}  // namespace plumbline::verdict::bias
