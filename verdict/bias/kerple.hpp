// SPDX-License-Identifier: Apache-2.0
// KERPLE, its logarithmic form and its power form.
#pragma once

#include <cmath>
#include <cstdlib>
#include <utility>

#include "reference/bias/kerple.hpp"
#include "verdict/bias/derivatives.hpp"

namespace plumbline::verdict::bias {

struct KerpleLog : Unanswered {
  template <class R>
  static auto reading(const HeadOf<R>& of) {
    return reference::KerpleLog<R>(of.parameter(PLUMBLINE_P), of.parameter(PLUMBLINE_A));
  }
  /// b = -p ln(1 + a x): a x rounds (u a x, which moves the logarithm by at most u) and so does
  /// 1 + a x (u); the logarithm is within 1 ulp (2u), and there are up to three products and a
  /// change of base (u each, 2u).
  static double error(const Pair& of, double bias) {
    if (of.i == of.j) return 0.0;
    const double p = of.parameter(PLUMBLINE_P), size = std::abs(bias);
    return 2.001 * u * p + 7 * u * size + of.contract.log_error * std::max(p, size);
  }
  static constexpr bool has_sizes = true;
  static BiasSizes sizes(const Query& q, const Contract& contract) {
    const double of_log = contract.log_error;
    return {.constant = (2 * u + of_log) * q.parameter(PLUMBLINE_P), .relative = 7 * u + of_log};
  }
  static std::function<double(int)> plain(const Query& q) {
    return [i = q.position(), p = q.parameter(PLUMBLINE_P), a = q.parameter(PLUMBLINE_A)](int j) {
      return -p * std::log1p(a * std::abs(i - j));
    };
  }
};

struct KerplePower : Unanswered {
  template <class R>
  static auto reading(const HeadOf<R>& of) {
    return reference::KerplePower<R>(of.parameter(PLUMBLINE_P), of.parameter(PLUMBLINE_A));
  }
  /// b = -a x^p with an exact integer x: the power is within 8 ulp (16u) and the rounding of
  /// p log2 x (4u |p ln x|); two products (2u). 0 for x = 0.
  static double error(const Pair& of, double bias) {
    const int x = std::abs(of.i - of.j);
    if (x == 0) return 0.0;
    const double power = 16 * u + 4 * u * std::abs(of.parameter(PLUMBLINE_P) * std::log(x));
    return std::abs(bias) * ((1 + power) * (1 + 2 * u) - 1.0);
  }
};

struct KerpleRow : DerivativeRow {
  /// -p ln(1 + a x): dp = -ln(1 + a x), off as the bias is; da = -p x / (1 + a x), six roundings.
  void operator()(const reference::KerpleLog<RunningError>& kerple) const {
    kerple_derivatives(kerple, [&](std::size_t n, double by_p, double by_a) {
      const bool same = visible[n] == position;
      return Errors{same ? 0.0 : 2.001 * u + 7 * u * by_p + log_error(by_p), 6 * u * by_a, 0.0,
                    lost_among({parameter(PLUMBLINE_P), distance(n)})};
    });
  }
  /// -a x^p: dp = -a x^p ln x, da = -x^p; the power as in bias_error, the logarithm 4u.
  void operator()(const reference::KerplePower<RunningError>& kerple) const {
    const double p_value = parameter(PLUMBLINE_P);
    kerple_derivatives(kerple, [&](std::size_t n, double by_p, double by_a) {
      const double x = distance(n);
      if (x == 0) return Errors{};
      const double log_x = std::log(x), power = 16 * u + 4 * u * std::abs(p_value * log_x);
      return Errors{by_p * ((1 + power) * (1 + 8 * u) - 1.0),
                    by_a * ((1 + power) * (1 + 2 * u) - 1.0),
                    lost_among({parameter(PLUMBLINE_A), by_a, log_x}), by_a};
    });
  }

 private:
  struct Errors {
    double p = 0, a = 0, lost_p = 0, lost_a = 0;
  };
  double distance(std::size_t n) const { return std::abs(visible[n] - position); }
  template <class Kerple, class ErrorsOf>
  void kerple_derivatives(const Kerple& kerple, const ErrorsOf& errors_of) const {
    RowDerivative by_p{PLUMBLINE_P, 0, {}, {}, {}}, by_a{PLUMBLINE_A, 0, {}, {}, {}};
    for (std::size_t n = 0; n < visible.size(); ++n) {
      auto grad = kerple.zero_grad();
      kerple.accumulate_grad(grad, position, visible[n], one());
      const Errors errors = errors_of(n, std::abs(grad.p.value()), std::abs(grad.a.value()));
      by_p.lost.push_back(errors.lost_p);
      by_a.lost.push_back(errors.lost_a);
      by_p.value.push_back(grad.p);
      by_p.error.push_back(errors.p);
      by_a.value.push_back(grad.a);
      by_a.error.push_back(errors.a);
    }
    result.parameters = {std::move(by_p), std::move(by_a)};
  }
};
inline void derivatives(const DerivativeRow& row, const reference::KerpleLog<RunningError>& bias) {
  KerpleRow{row}(bias);
}
inline void derivatives(const DerivativeRow& row,
                        const reference::KerplePower<RunningError>& bias) {
  KerpleRow{row}(bias);
}

}  // namespace plumbline::verdict::bias
