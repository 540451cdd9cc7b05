// SPDX-License-Identifier: Apache-2.0
// BAM's generalized Gaussian prior over positions. Source: BAM, appendix C.
#pragma once

#include <array>
#include <tuple>

#include "reference/core/preconditions.hpp"
#include "reference/core/primitives.hpp"

namespace plumbline::reference {

template <Real R>
struct GgdGrad {
  R theta_alpha, theta_beta, theta_mu;

  auto numbers() const { return std::tie(theta_alpha, theta_beta, theta_mu); }
};

/// b_ij = -e^(theta_alpha) (|(j - i) - mu| + epsilon)^(theta_beta), mu = e^(theta_mu) -
/// e^(-theta_mu). Source: BAM, appendix C, "b_ij = ..."; alpha itself is never formed:
/// e^(-theta_alpha/theta_beta) is singular at theta_beta = 0. Parameters are per head. Domain: any
/// theta, epsilon > 0 (the paper uses 1e-5). @throws std::invalid_argument if epsilon is not above
/// 0.
template <Real R>
class Ggd {
 public:
  static constexpr const char* name = "ggd";
  static constexpr std::array parameters{"theta_alpha", "theta_beta", "theta_mu"};
  static constexpr std::array options{"epsilon"};

  Ggd(const R& theta_alpha, const R& theta_beta, const R& theta_mu, const R& epsilon)
      : strength_(exp(theta_alpha)),
        theta_beta_(theta_beta),
        mu_(exp(theta_mu) - exp(-theta_mu)),
        grad_mu_(exp(theta_mu) + exp(-theta_mu)),
        epsilon_(epsilon) {
    require(representative(epsilon) > 0, "epsilon", representative(epsilon), "above 0");
  }

  using Grad = GgdGrad<R>;

  R operator()(int i, int j) const { return -(strength_ * power(base(offset(i, j)), theta_beta_)); }

  Grad zero_grad() const { return {R(0.0), R(0.0), R(0.0)}; }

  /// With x = (j - i) - mu and y = |x| + epsilon: d theta_alpha = b, d theta_beta = b ln y,
  /// d mu = e^(theta_alpha) theta_beta y^(theta_beta - 1) sign(x), d mu / d theta_mu =
  /// e^(theta_mu) + e^(-theta_mu). 0 is taken for the derivative in mu at the kink x = 0.
  void accumulate_grad(Grad& grad, int i, int j, const R& grad_bias) const {
    const R x = offset(i, j);
    const R y = base(x);
    const R by_bias = grad_bias * strength_ * power(y, theta_beta_);
    grad.theta_alpha -= by_bias;
    grad.theta_beta -= by_bias * log(y);
    grad.theta_mu += by_bias * theta_beta_ / y * sign(x) * grad_mu_;
  }

 private:
  R offset(int i, int j) const { return R(j - i) - mu_; }
  R base(const R& x) const { return absolute(x) + epsilon_; }

  R strength_, theta_beta_, mu_, grad_mu_, epsilon_;
};

/// b_ij = -(|(j - i) - mu| e^(theta_alpha) + epsilon)^(theta_beta): what the published inference
/// code computes (ArthurSBianchessi/BAM). It differs from Ggd unless theta_beta = 1, and by epsilon
/// then.
/// @throws std::invalid_argument if epsilon is not above 0.
template <Real R>
class GgdInferenceCode {
 public:
  GgdInferenceCode(const R& theta_alpha, const R& theta_beta, const R& theta_mu, const R& epsilon)
      : strength_(exp(theta_alpha)),
        theta_beta_(theta_beta),
        mu_(exp(theta_mu) - exp(-theta_mu)),
        epsilon_(epsilon) {
    require(representative(epsilon) > 0, "epsilon", representative(epsilon), "above 0");
  }

  R operator()(int i, int j) const {
    return -power(absolute((R(j - i) - mu_) * strength_) + epsilon_, theta_beta_);
  }

 private:
  R strength_, theta_beta_, mu_, epsilon_;
};

}  // namespace plumbline::reference
