// SPDX-License-Identifier: Apache-2.0
// Kerple: a penalty by a kernel of the distance. Source: CABLE, section 2, "Kerple", after Chi,
// Fan, Ramadge, Rudnicky, "KERPLE", arXiv:2205.09921; code chijames/KERPLE.
#pragma once

#include <array>
#include <cstdlib>
#include <tuple>

#include "reference/core/preconditions.hpp"
#include "reference/core/primitives.hpp"

namespace plumbline::reference {

/// The least p and a: the code clamps its parameters to 0.01 in place, before every use. 0.01 is
/// meant as a float has it, which is a little less than 0.01 itself.
inline constexpr double kerple_least = 0.01f;

/// Gradients of Kerple's parameters, those after the clamp.
template <Real R>
struct KerpleGrad {
  R p, a;

  auto numbers() const { return std::tie(p, a); }
};

/// b_ij = -p ln(1 + a |i - j|). Source: CABLE, section 2 (r_1 = p, r_2 = a); chijames/KERPLE.
/// Parameters are per head. Domain: p, a >= 0.01; the code bounds p from above in the power form
/// only. @throws std::invalid_argument naming the parameter outside of it.
template <Real R>
class KerpleLog {
 public:
  static constexpr const char* name = "kerple_log";
  static constexpr std::array parameters{"p", "a"};
  static constexpr std::array<const char*, 0> options{};

  KerpleLog(const R& p, const R& a) : p_(p), a_(a) {
    require(representative(p) >= kerple_least, "p", representative(p), "at least 0.01");
    require(representative(a) >= kerple_least, "a", representative(a), "at least 0.01");
  }

  using Grad = KerpleGrad<R>;

  R operator()(int i, int j) const { return -(p_ * log1p(a_ * R(std::abs(i - j)))); }

  Grad zero_grad() const { return {R(0.0), R(0.0)}; }

  /// With x = |i - j|: dp = -ln(1 + a x), da = -p x / (1 + a x).
  void accumulate_grad(Grad& grad, int i, int j, const R& grad_bias) const {
    const R x(std::abs(i - j));
    grad.p -= grad_bias * log1p(a_ * x);
    grad.a -= grad_bias * p_ * x / (R(1.0) + a_ * x);
  }

 private:
  R p_, a_;
};

/// b_ij = -a |i - j|^p; 0 for i = j. Source: CABLE, section 2 (r_1 = a, r_2 = p); chijames/KERPLE.
/// Parameters are per head. Domain: p in [0.01, 2], a >= 0.01.
/// @throws std::invalid_argument naming the parameter outside of it.
template <Real R>
class KerplePower {
 public:
  static constexpr const char* name = "kerple_power";
  static constexpr std::array parameters{"p", "a"};
  static constexpr std::array<const char*, 0> options{};

  KerplePower(const R& p, const R& a) : p_(p), a_(a) {
    require(representative(p) >= kerple_least && representative(p) <= 2, "p", representative(p),
            "in [0.01, 2]");
    require(representative(a) >= kerple_least, "a", representative(a), "at least 0.01");
  }

  using Grad = KerpleGrad<R>;

  R operator()(int i, int j) const {
    return i == j ? R(0.0) : -(a_ * power(R(std::abs(i - j)), p_));
  }

  Grad zero_grad() const { return {R(0.0), R(0.0)}; }

  /// With x = |i - j|: dp = -a x^p ln x, da = -x^p. Both are 0 for i = j: 0^p = 0 as p > 0, and
  /// 0^p ln 0 is taken as its limit.
  void accumulate_grad(Grad& grad, int i, int j, const R& grad_bias) const {
    if (i == j) return;
    const R x(std::abs(i - j));
    const R by_power = grad_bias * power(x, p_);
    grad.p -= by_power * a_ * log(x);
    grad.a -= by_power;
  }

 private:
  R p_, a_;
};

}  // namespace plumbline::reference
